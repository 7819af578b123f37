"""The document of a leaderboard by other rules: whose names, reasons and place by human judgments it tells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.leaderboard.board import Board
from analysis.leaderboard.significance import ranked_by_bootstrap
from campaigns.leaderboards.names import DisplayName
from campaigns.leaderboards.stored import stored_document
from models.results.leaderboard import LeaderboardRow
from models.schema.states import EvaluationState
from steelyard_client.documents.leaderboards.human_rankings import HumanPlace
from tests.analysis.boards import made_board, spread


@pytest.fixture
def board() -> Board:
    """The first one equals a reference and is said again by the second, which was submitted twice; the last failed."""
    found = ranked_by_bootstrap(made_board([*([spread(score, 50, 0.5, 1)] * 2 for score in (40.0, 30.0)), None]))
    first, second, failed = found.rows
    rows = [
        first,
        replace(second, submissions=(7, 9)),
        replace(failed, state=EvaluationState.FAILED, reason='The reference "kocka" is too long.'),
    ]
    return replace(found, rows=rows, same_output={(2,): "a"}, same_as_reference={(1,): "A"})


def anonymous(row: LeaderboardRow) -> DisplayName:
    return DisplayName(f"Team {row.evaluations[0]}", "", f"Team {row.evaluations[0]}", suffix="", own=False)


def test_secrets_are_told_to_organisers_alone(board: Board) -> None:
    for secrets in (True, False):
        items = stored_document(board, secrets=secrets).items
        told = [each.same_as_reference for each in items], [each.reason for each in items]
        if secrets:
            assert told == (["A", None, None], [None, None, 'The reference "kocka" is too long.'])
        else:
            assert told == ([None] * 3, [None] * 3)


def test_systems_have_the_names_that_may_be_told_everywhere(board: Board) -> None:
    power = [board.power(metric, 2000) for metric in range(2)]
    document = stored_document(board, power=power, named=anonymous, numbered=lambda _: None)
    assert [(each.name, each.team, each.system, each.system_id) for each in document.items] == [
        (f"Team {number}", f"Team {number}", None, None) for number in (1, 2, 3)
    ]
    assert [each.same_output_as for each in document.items] == [None, "Team 1", None]
    assert document.power is not None
    # By the second metric the first system is the worse one.
    assert [[(pair.a, pair.b) for pair in metric.neighbours] for metric in document.power.metrics] == [
        [("Team 1", "Team 2")],
        [("Team 2", "Team 1")],
    ]
    own = stored_document(board)
    assert [(each.name, each.same_output_as) for each in own.items] == [("a", None), ("b", "a"), ("c", None)]


def test_a_system_has_the_human_place_of_its_newest_submission(board: Board) -> None:
    place = {
        "score": 1.0,
        "interval": None,
        "rank_low": 1,
        "rank_high": 1,
        "wins": 0,
        "losses": 0,
        "cluster": 1,
        "n": 1,
    }
    places = {submission: HumanPlace(rank=submission, **place) for submission in (1, 7, 9)}
    items = stored_document(board, human_places=places).items
    assert [each.human and each.human.rank for each in items] == [1, 9, None]
    assert [(each.submission, each.submissions) for each in items] == [(1, [1]), (9, [7, 9]), (3, [3])]
