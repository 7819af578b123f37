"""Rows of a leaderboard as a table for programs, with the same columns from the command line and from pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.tables.delimited import Cell
    from steelyard_client.documents.leaderboards.human_rankings import HumanRule
    from steelyard_client.documents.leaderboards.leaderboards import BoardSystem, LeaderboardResponse

_BOARD = ("campaign", "test_set", "version", "references", "system", "team", "runs", "state")
_SCORE = (
    *("metric", "rank", "rank_low", "rank_high", "cluster", "wins"),
    *("score", "low", "high", "level", "signature"),
)
_SAID = ("submission", "kind", "ranked", "constrained", "late_seconds", "origin")
"""What teams declare about their submissions, and what follows from it."""

COLUMNS = (*_BOARD, *_SCORE, *_SAID)


def rows_of(board: LeaderboardResponse) -> list[list[Cell]]:
    """Return a row for each system and metric, or one without scores if there are none; empty if undefined.

    Where people rank officially, a row for each judged system has their rule as its metric.
    """
    begin: list[Cell] = [board.campaign, board.test_set, board.version, "+".join(board.references)]
    return [[*begin, *cells] for system in board.items for cells in _cells_of(system, board.human)]


def _cells_of(system: BoardSystem, human: HumanRule | None) -> Iterator[list[Cell]]:
    begin: list[Cell] = [system.system or system.name, system.team, len(system.submissions), system.state]
    constrained = {True: "yes", False: "no", None: ""}[system.constrained]
    end: list[Cell] = [system.submission, system.kind, "yes" if system.ranked else "no", constrained]
    end += [f"{system.late_seconds:.0f}", system.origin.value]
    for score in system.scores:
        interval = score.interval
        ends = (interval.low, interval.high, interval.level) if interval else (None, None, None)
        places = (score.rank, score.rank_low, score.rank_high, score.cluster, score.wins)
        yield [*begin, score.metric, *places, score.score, *ends, score.signature, *end]
    if human and (place := system.human):
        at = place.interval
        ends = (at.low, at.high, at.level) if at else (None, None, None)
        places = (place.rank, place.rank_low, place.rank_high, place.cluster, place.wins)
        yield [*begin, human.rule, *places, place.score, *ends, f"{human.rule} of {human.judgments}", *end]
    elif not system.scores:
        yield [*begin, *([None] * len(_SCORE)), *end]
