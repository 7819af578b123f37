"""Which board of a campaign is meant, and in which order they are offered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from sqlalchemy import Connection

from campaigns.errors import Forbidden, NotFound
from campaigns.leaderboards.choice import (
    BoardChoice,
    current_test_sets,
    find_choice,
    find_metric,
    read_choices,
    require_board,
)
from campaigns.permissions import CampaignAccess, CampaignTestSetView
from models.database.session import make_engine, reading
from models.results.boards import BoardSummary
from models.schema.roles import PhaseKind
from tests.campaigns.test_permissions import NOW, access, phase

NEWS, TALKS, OLD, COMING, UNLISTED = 5, 4, 6, 7, 9
NAMES = {NEWS: ("news", "2"), TALKS: ("talks", "1"), OLD: ("news", "1"), COMING: ("coming", "1"), UNLISTED: ("x", "1")}


def board(protocol: int, test_set: int, references: str = "A", metrics: tuple[str, ...] = ("bleu",)) -> BoardSummary:
    name, version = NAMES[test_set]
    return BoardSummary(protocol, 1, "wmt", name, version, tuple(references), metrics, 10, 1, 3, test_set)


LISTED = [
    *(
        board(1, NEWS),
        board(2, NEWS, "AB"),
        board(3, NEWS, "B"),
        board(4, NEWS, metrics=("ter",)),
        board(5, OLD, "ABC"),
    ),
    *(board(6, TALKS), board(7, COMING), board(8, UNLISTED), board(9, UNLISTED, "BA")),
]
OUTGROWN = {LISTED[0], LISTED[8]}


@pytest.fixture
def before() -> CampaignAccess:
    """Before a campaign whose news have replaced older ones, with one more phase to come."""
    test_sets = (
        *(CampaignTestSetView(COMING, 2, None, None), CampaignTestSetView(NEWS, None, None, None)),
        *(CampaignTestSetView(OLD, None, None, NEWS), CampaignTestSetView(TALKS, 1, None, None)),
    )
    phases = [phase(1, PhaseKind.OPEN, NOW - 1), phase(2, PhaseKind.OPEN, NOW + 1)]
    return replace(access("stranger", "none"), phases=phases, test_sets={each.id: each for each in test_sets})


@pytest.fixture
def connection(service_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterable[Connection]:
    def list_boards(_: Connection, *, campaign_id: int, planned: bool) -> list[BoardSummary]:
        assert (campaign_id, planned) == (1, True)
        return LISTED

    monkeypatch.setattr("campaigns.leaderboards.choice.list_boards", list_boards)
    monkeypatch.setattr("campaigns.leaderboards.choice.superseded_boards", lambda _, listed: OUTGROWN & set(listed))
    engine = make_engine(service_url)
    with reading(engine) as connection:
        yield connection
    engine.dispose()


def numbers(choices: Iterable[BoardChoice]) -> list[int]:
    return [each.listed.protocol_id for each in choices]


def test_they_are_offered_by_test_set_and_the_newest_of_most_references_first(
    connection: Connection, before: CampaignAccess
) -> None:
    found = read_choices(connection, before)
    # News; talks; one that the campaign does not list; what was replaced; what was superseded.
    assert numbers(found) == [2, 4, 3, 6, 8, 5, 1, 9]
    assert [each.listed.protocol_id for each in found if each.replaced] == [5]
    assert [each.listed.protocol_id for each in found if each.superseded] == [1, 9]
    # 4 has the same references, and 9 others than 8.
    assert [each.listed.protocol_id for each in found if each.behind] == [1]
    assert numbers(read_choices(connection, replace(before, organises=True))) == [2, 4, 3, 6, 7, 8, 5, 1, 9]
    assert [(each.test_set, each.test_set_key, each.references) for each in found[:3:2]] == [
        ("news (version 2)", "news@2", "A,B"),
        ("news (version 2)", "news@2", "B"),
    ]
    assert (found[3].test_set, found[3].test_set_key) == ("talks", "talks@1")


def test_the_test_set_of_the_latest_phase_comes_first(before: CampaignAccess) -> None:
    assert current_test_sets(before) == [NEWS, TALKS]
    phases = [*before.phases[:1], phase(2, PhaseKind.BLIND, NOW - 0.5), phase(3, PhaseKind.PUBLISHED, NOW - 0.25)]
    over = replace(before, phases=phases)
    # That of phase 2; then what is open in all phases, which counts as that phase; then that of the first one.
    assert current_test_sets(over) == [COMING, NEWS, TALKS]
    assert current_test_sets(replace(over, phases=[])) == [NEWS]
    # A phase to come counts for nothing: while the first phase collects, and after it has closed.
    for kind, first in ((PhaseKind.OPEN, NOW - 5), (PhaseKind.CLOSED, NOW - 1)):
        begun = [phase(1, PhaseKind.OPEN, NOW - 3), phase(3, kind, first), phase(2, PhaseKind.OPEN, NOW + 1)]
        late = {NEWS: None, TALKS: 3}
        sets = {key: CampaignTestSetView(key, late[key], None, None) for key in (NEWS, TALKS)}
        expected = [NEWS, TALKS] if first < NOW - 3 else [TALKS, NEWS]
        assert current_test_sets(replace(before, phases=begun, test_sets=sets)) == expected


@pytest.mark.parametrize(
    ("asked", "number"),
    [
        ({}, 2),
        ({"references": "A"}, 4),
        ({"references": "B,A"}, 2),
        ({"references": ",B,"}, 3),
        ({"references": "A,B,C"}, 5),
        ({"test_set": "news"}, 2),
        ({"test_set": "news@1"}, 5),
        ({"test_set": "talks"}, 6),
        ({"test_set": str(UNLISTED)}, 8),
        ({"test_set": "x", "references": "A,B"}, 9),
        ({"board": 1}, 1),
        ({"test_set": "news", "references": "A", "board": 1}, 1),
        ({"test_set": "talks", "references": "B"}, None),
        ({"test_set": "talks", "board": 1}, None),
        ({"references": "B", "board": 4}, None),
        ({"test_set": "coming"}, None),
        ({"board": 7}, None),
        ({"test_set": "nowhere"}, None),
        ({"references": "D"}, None),
        ({"references": "A,A"}, None),
    ],
)
def test_which_is_meant(
    connection: Connection, before: CampaignAccess, asked: dict[str, str], number: int | None
) -> None:
    choices = read_choices(connection, before)
    if number is not None:
        assert numbers([find_choice(choices, **asked)]) == [number]  # type: ignore[arg-type]
        return
    with pytest.raises(NotFound, match=r"There are: news \(version 2\) against A, B; news \(version 2\) against A; "):
        find_choice(choices, **asked)  # type: ignore[arg-type]


def test_a_campaign_that_measures_nothing_says_so() -> None:
    with pytest.raises(NotFound, match="has no leaderboard yet"):
        find_choice([])


@pytest.mark.parametrize(
    ("wanted", "ranked_by", "position"),
    [
        ("", "", 0),
        ("", "ter", 1),
        ("", "wer", 0),
        ("bleu", "ter", 0),
        ("ter", "bleu", 1),
        ("TER", "", 1),
        ("wer", "", None),
    ],
)
def test_which_metric_ranks(wanted: str, ranked_by: str, position: int | None) -> None:
    listed = board(1, NEWS, metrics=("bleu", "ter"))
    if position is not None:
        assert find_metric(listed, wanted, ranked_by) == position
        return
    with pytest.raises(NotFound, match=r"no metric 'wer'\. There are: bleu, ter"):
        find_metric(listed, wanted, ranked_by)


@pytest.mark.parametrize("viewer", ["nobody", "member", "viewer", "organiser"])
def test_who_is_shown_no_board_is_informed(viewer: str) -> None:
    require_board(access(viewer, "open"))
    if viewer == "organiser":
        require_board(access(viewer, "blind"))
    else:
        with pytest.raises(Forbidden, match="hidden in this phase"):
            require_board(access(viewer, "blind"))
