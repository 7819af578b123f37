"""Which submissions stand on a leaderboard, and which of them are ranked."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from models.results.entries import are_ranked, are_repeated, entry_of, replaced_entries, standing_entries
from models.schema.roles import DeclaredKind

PRIMARY, CONTRASTIVE, UNDECLARED = DeclaredKind.PRIMARY, DeclaredKind.CONTRASTIVE, DeclaredKind.UNDECLARED


@dataclass(frozen=True)
class Row:
    """What the rule reads of a submission; the kind is None where there is no declaration."""

    submission_id: int
    team: str
    name: str
    kind: DeclaredKind | None = UNDECLARED
    run: str = ""
    campaign_id: int = 1


def ranked(*rows: Row) -> list[tuple[int, ...]]:
    entries = standing_entries(rows)
    return [
        tuple(row.submission_id for row in entry.runs)
        for entry, is_ranked in zip(entries, are_ranked(entries), strict=True)
        if is_ranked
    ]


def test_the_primary_submission_is_ranked_whatever_came_after_it() -> None:
    assert ranked(Row(1, "harbour", "a"), Row(2, "harbour", "b", PRIMARY), Row(3, "harbour", "c")) == [(2,)]
    assert ranked(Row(1, "harbour", "a", PRIMARY), Row(2, "harbour", "a")) == [(1,)]


def test_without_a_primary_the_last_that_is_not_contrastive() -> None:
    rows = (Row(1, "harbour", "a"), Row(2, "harbour", "b"), Row(3, "harbour", "c", CONTRASTIVE))
    assert ranked(*rows) == [(2,)]
    assert ranked(*rows[2:]) == []


def test_all_systems_of_the_organisers_are_ranked() -> None:
    rows = (Row(1, "", "a", None), Row(2, "", "b", None), Row(3, "harbour", "c", None), Row(4, "harbour", "d", None))
    assert ranked(*rows) == [(1,), (2,), (3,), (4,)]
    assert ranked(*rows, Row(5, "harbour", "e")) == [(1,), (2,), (3,), (4,), (5,)]


def test_runs_of_a_system_stand_together() -> None:
    rows = [Row(1, "harbour", "a", run="2"), Row(2, "harbour", "a", run="1"), Row(3, "harbour", "a", run="2")]
    (entry,) = standing_entries(rows)
    assert [row.submission_id for row in entry.runs] == [2, 3]
    assert [[row.submission_id for row in each.runs] for each in replaced_entries(rows, [entry])] == [[1]]
    first, second = standing_entries([*rows, Row(4, "harbour", "a")])[-1], ranked(*rows, Row(4, "harbour", "a"))
    assert ([row.submission_id for row in first.runs], second) == ([4], [(4,)])


submissions = st.lists(
    st.tuples(
        st.sampled_from(["", "harbour", "guests"]),
        st.sampled_from(["a", "b"]),
        st.sampled_from([PRIMARY, CONTRASTIVE, UNDECLARED, None]),
        st.sampled_from(["", "1", "2"]),
    ),
    max_size=12,
)


@given(submissions)
def test_the_rule_in_other_words(given_ones: list[tuple[str, str, DeclaredKind | None, str]]) -> None:
    rows = [Row(number, *each) for number, each in enumerate(given_ones, 1)]
    entries = standing_entries(rows)
    marks = are_ranked(entries)
    last = [max(row.submission_id for row in entry.runs) for entry in entries]
    assert all(a < b for a, b in pairwise(last)), "in the order of their last submissions"
    there = [row.submission_id for entry in entries for row in entry.runs]
    assert len(there) == len(set(there))
    assert {row.submission_id for row in rows if row.kind == PRIMARY} <= set(there)
    assert sorted(there + [each.runs[0].submission_id for each in replaced_entries(rows, entries)]) == [
        row.submission_id for row in rows
    ]
    for entry, twice in zip(entries, are_repeated(entries), strict=True):
        assert twice == (sum(other.system == entry.system for other in entries) > 1)
    for team in ("harbour", "guests"):
        of_team = [(entry, mark) for entry, mark in zip(entries, marks, strict=True) if entry.team == team]
        chosen = [entry for entry, mark in of_team if mark]
        primary = [entry for entry, _ in of_team if entry.kind == PRIMARY]
        declared = [entry for entry in chosen if entry.declared]
        assert chosen == primary if primary else len(declared) <= 1
        assert not any(entry.kind == CONTRASTIVE for entry in chosen)
    assert all(mark for entry, mark in zip(entries, marks, strict=True) if not entry.team)


def test_the_kind_of_a_system_is_the_most_telling_of_its_runs() -> None:
    """For every four declarations in every order: a primary run makes it primary, a contrastive one contrastive."""
    for kinds in product((PRIMARY, CONTRASTIVE, UNDECLARED, None), repeat=4):
        entry = entry_of([Row(number, "harbour", "a", kind, str(number)) for number, kind in enumerate(kinds)])
        expected = PRIMARY if PRIMARY in kinds else CONTRASTIVE if CONTRASTIVE in kinds else UNDECLARED
        assert (entry.kind, entry.declared) == (expected, any(kind is not None for kind in kinds))
