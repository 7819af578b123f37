"""Which pairs of systems differ, as it is kept: for the systems that are there, and tested again where it broke."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from analysis.leaderboard.board import read_board
from analysis.leaderboard.significance import ranked_by_bootstrap
from campaigns.leaderboards import significance_cache
from campaigns.leaderboards.view import BoardQuery, Boards, BoardView
from models.database.session import reading
from models.results.boards import list_boards
from tests.service.scored_campaigns import Scored
from tests.service.service import Service


@pytest.fixture
def scored(service: Service) -> Scored:
    return Scored(service)


def view(scored: Scored, boards: Boards) -> BoardView:
    with reading(scored.service.engine) as connection:
        (listed,) = list_boards(connection)
        return boards.view(connection, listed, BoardQuery())


def of_the_command_line(scored: Scored) -> list[Any]:
    with reading(scored.service.engine) as connection:
        (listed,) = list_boards(connection)
        board = read_board(connection, listed, 0.95)
    assert board is not None
    ranking = ranked_by_bootstrap(board).ranking
    assert ranking is not None
    return list(ranking.ranks[0])


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
