"""Which judged name means which submission: small worlds gone through as a whole, against the rule in plain words."""

from __future__ import annotations

from itertools import combinations, product

from analysis.meta_evaluation.human import is_reference, match_system_names
from models.corpus.test_sets import SubmittedSystem
from steelyard.meta_evaluation.human.judgments import Judged, JudgedSpan, Judgment, SegmentScore, SystemScore

SUBMITTED = [
    SubmittedSystem("bay", "mast"),
    SubmittedSystem("bay", "keel"),
    SubmittedSystem("quay", "mast", "The Quay"),
    SubmittedSystem("", "lone"),
    SubmittedSystem("reef", "HUMAN-A"),
]
NAMES = ("mast", "bay/mast", "Bay-Mast", "keel", "KEEL", "quay", "The_Quay", "lone", "HUMAN-A", "HUMAN-B", "stranger")


def plain(name: str) -> str:
    return "".join(letter for letter in name if letter.isalnum()).casefold()


def expected(judged: tuple[str, ...], submitted: tuple[SubmittedSystem, ...]) -> dict[str, str]:
    """What each name is called then."""
    shown = {
        each: each.system if [other.system for other in submitted].count(each.system) == 1
        else f"{each.team}/{each.system}"
        for each in submitted
    }  # fmt: skip
    new = {}
    for name in judged:
        if name in shown.values() or is_reference(name):
            continue
        meant = set()
        for each, title in shown.items():
            ways = {each.system, *(f"{team}/{each.system}" for team in (each.team, each.publication_name) if team)}
            if sum(other.team == each.team for other in submitted) == 1:
                ways |= {each.team, each.publication_name} - {""}
            if plain(name) in map(plain, ways):
                meant.add(title)
        if len(meant) == 1 and not meant & set(judged):
            (new[name],) = meant
    return {name: new[name] if list(new.values()).count(new.get(name, "")) == 1 else name for name in judged}


def test_every_few_names_and_submissions() -> None:
    for submitted, names in product(
        [each for size in (1, 2, 3) for each in combinations(SUBMITTED, size)],
        [each for size in (1, 2) for each in combinations(NAMES, size)],
    ):
        given = Judged("ratings", {}, [SystemScore(name, 1.0) for name in names])
        found, matched = match_system_names(given, submitted)
        called = expected(names, submitted)
        assert [row.system for row in found.systems] == [called[name] for name in names], (names, submitted)
        systems = [each.system for each in submitted]
        ours = {each.system if systems.count(each.system) == 1 else f"{each.team}/{each.system}" for each in submitted}
        judged = set(called.values())
        references = {name for name in judged if is_reference(name)} - ours
        assert (set(matched.systems), set(matched.references)) == (judged & ours, references)
        assert (set(matched.unknown), set(matched.not_judged)) == (judged - ours - references, ours - judged)
        for part in (matched.systems, matched.references, matched.unknown, matched.not_judged):
            assert list(part) == sorted(part)


def test_everything_that_names_a_system_is_renamed() -> None:
    """Also where only one kind of row has the name."""
    span = JudgedSpan("ann", "KEEL", 0, 0, 1, "minor", "", missing=False, in_source=False)
    given = Judged(
        "ratings", {"a": 1}, [SystemScore("KEEL", 1.0, 2.0, 3, 4, 5)], [SegmentScore("KEEL", 1, 2.0)],
        [Judgment("ann", "KEEL", 0, 1.0)], spans=[span], texts={("KEEL", 0): "a", ("mast", 1): "b"},
    )  # fmt: skip
    found, _ = match_system_names(given, [SubmittedSystem("bay", "keel"), SubmittedSystem("bay", "mast")])
    assert found.systems == [SystemScore("keel", 1.0, 2.0, 3, 4, 5)]
    assert found.segments == [SegmentScore("keel", 1, 2.0)]
    assert found.judgments == [Judgment("ann", "keel", 0, 1.0)]
    assert found.spans == [span._replace(system="keel")]
    assert found.texts == {("keel", 0): "a", ("mast", 1): "b"}
    only_segments = Judged("ratings", {}, [], given.segments)
    only_judgments = Judged("ratings", {}, [], judgments=given.judgments)
    for alone in (only_segments, only_judgments):
        renamed, matched = match_system_names(alone, [SubmittedSystem("bay", "keel")])
        assert matched.systems == ("keel",)
        assert (renamed.segments or renamed.judgments) == (found.segments if alone.segments else found.judgments)
