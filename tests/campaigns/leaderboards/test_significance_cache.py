"""Which pairs of systems differ, as it is kept: for the systems that are there, and tested again where it broke."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

from analysis.leaderboard.board import read_board
from analysis.leaderboard.significance import ranked_by_bootstrap
from campaigns.leaderboards import significance_cache
from campaigns.leaderboards.view import BoardQuery, Boards, BoardView
from models.database.session import reading, writing
from models.results.boards import list_boards
from models.schema.results import Score
from models.storage.arrays import pack
from tests.service.scored_campaigns import Scored
from tests.service.service import Service


@pytest.fixture
def scored(service: Service) -> Scored:
    return Scored(service)


def view(scored: Scored, boards: Boards, metric: int = 0) -> BoardView:
    with reading(scored.service.engine) as connection:
        (listed,) = list_boards(connection)
        return boards.view(connection, listed, BoardQuery(metric=metric))


def of_the_command_line(scored: Scored, metric: int = 0) -> list[Any]:
    with reading(scored.service.engine) as connection:
        (listed,) = list_boards(connection)
        board = read_board(connection, listed, 0.95, listed.metrics[metric])
    assert board is not None
    ranking = ranked_by_bootstrap(board).ranking
    assert ranking is not None
    return list(ranking.ranks[metric])


def test_tests_of_systems_that_are_gone_are_forgotten_and_the_others_stay(scored: Scored) -> None:
    there = [scored.add(f"t{number}", f"s{number}", 30.0 + 0.4 * number) for number in range(7)]
    boards = Boards(scored.service.engine, 2**26)
    view(scored, boards)
    for submission in (there[0], there[2], there[3], there[5], there[6]):
        scored.withdraw(submission)
    for number in (1, 2):
        scored.add("", f"new {number}", 31.0 + 0.3 * number)
        board = view(scored, boards)
        assert board.testing == 0
        assert [line.place for line in board.lines] == of_the_command_line(scored)
    assert len(boards.significance._table(board.listed, 0).place) == len(board.lines) == 4


def test_what_is_kept_are_the_tests_of_the_systems_that_stay(scored: Scored) -> None:
    """The first two systems of the table are alike, and the two that stay differ."""
    scores = (30.0, 30.01, 50.0, 30.02, 50.01, 30.03, 30.04)
    there = [scored.add(f"t{number}", f"s{number}", score) for number, score in enumerate(scores)]
    boards = Boards(scored.service.engine, 2**26)
    view(scored, boards)
    for number in (0, 3, 4, 5, 6):
        scored.withdraw(there[number])
    scored.add("", "new", 50.02)
    board = view(scored, boards)
    assert len(boards.significance._table(board.listed, 0).place) == 3
    assert [line.place for line in board.lines] == of_the_command_line(scored)
    assert len({str(line.place) for line in board.lines}) > 1


def test_the_tests_of_a_metric_are_by_its_own_replicates(scored: Scored) -> None:
    """All differ by BLEU, and none by TER, whose replicates are far apart."""
    there = [scored.add("", f"s{number}", 30.0 + 4 * number, ter=50.0 + 4 * number) for number in range(3)]
    with writing(scored.service.engine) as connection:
        for number, submission in enumerate(there):
            draws = np.random.default_rng(number).standard_normal(scored.replicates)
            those = (Score.evaluation_id == scored.evaluations[submission]) & (Score.metric == 1)
            connection.execute(update(Score).where(those).values(replicate_scores=pack(50.0 + 4 * number + 30 * draws)))
    boards = Boards(scored.service.engine, 2**26)
    found = {}
    for metric in (0, 1, 0):
        places = [line.place for line in view(scored, boards, metric).lines]
        assert places == of_the_command_line(scored, metric)
        found[metric] = len({place.cluster for place in places if place is not None})
    assert found == {0: 3, 1: 1}


def test_each_pair_that_cannot_be_tested_counts_once(scored: Scored) -> None:
    for number in range(4):
        scored.add("", f"s{number}", 30.0 + number, spread=0.0 if number else 0.5)
    assert (
        "because replicates have no score or are all alike: 3."
        in view(scored, Boards(scored.service.engine, 2**26)).fault
    )


def test_tests_that_break_in_the_background_are_made_again(
    scored: Scored, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(significance_cache, "FOREGROUND_REPLICATES", 0)
    for number in range(4):
        scored.add("", f"s{number}", 30.0 + number)
    boards, plain = Boards(scored.service.engine, 2**26), significance_cache.read_replicates
    broken = True

    def breaks(*given: Any) -> Any:
        if broken:
            raise OSError("The disk is gone.")
        return plain(*given)

    def settled() -> int:
        testing = view(scored, boards).testing
        for thread in threading.enumerate():
            if thread.name == "wins":
                thread.join(60)
        return testing

    monkeypatch.setattr(significance_cache, "read_replicates", breaks)
    assert (settled(), settled()) == (6, 6)
    messages = [each.getMessage() for each in caplog.records if each.name == significance_cache.log.name]
    assert messages == ["The pairs of a board could not be tested."] * 2
    broken = False
    assert (settled(), settled()) == (6, 0)
    board = view(scored, boards)
    assert [line.place for line in board.lines] == of_the_command_line(scored)
