"""Paired randomization tests of a leaderboard's systems, as they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.results.randomizations import read_randomizations
from steelyard.resampling.paired import PairedResult, pairs_to_test, with_correction
from steelyard.resampling.randomization import TRIALS, randomization_p

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from analysis.leaderboard.board import Board
    from models.results.randomizations import Runs


def stored_randomizations(
    connection: Connection, systems: Iterable[Runs], metric: int, *, trials: int = TRIALS, seed: int
) -> dict[tuple[Runs, Runs], tuple[float, float]]:
    """The stored tests among systems of one protocol by one metric: (a, b) -> (difference, p), for either order.

    A system is the evaluations of all its runs (LeaderboardRow.evaluations); the difference is the score of b minus
    that of a.
    """
    given = {tuple(sorted(runs)): runs for runs in systems}
    stored = read_randomizations(connection, list(given), metric, trials=trials, seed=seed)
    found = {}
    for (a, b), test in stored.items():
        p = randomization_p(test.as_large, trials)
        found[given[a], given[b]] = test.difference, p
        found[given[b], given[a]] = -test.difference, p
    return found


def randomization_pairs(
    connection: Connection,
    board: Board,
    metric: int,
    *,
    baseline: int | None = None,
    correction: str = "holm",
    intervals: bool = True,
    trials: int = TRIALS,
    seed: int,
) -> list[PairedResult]:
    """As `analysis.leaderboard.significance.bootstrap_pairs`, with the p-values of stored randomization tests.

    Pairs without a stored test are left out, and not counted by the correction: `scheduler.embedded.randomize` computes
    them. Intervals are those of the bootstrap; None where there are no replicates, and without `intervals`.
    """
    stored = stored_randomizations(
        connection, [row.evaluations for row in board.rows if row.scores], metric, trials=trials, seed=seed
    )
    found = []
    for a, b in pairs_to_test(len(board.rows), baseline):
        sides = board.rows[a].evaluations, board.rows[b].evaluations
        if sides not in stored:
            continue
        difference, p = stored[sides]
        interval = board.interval_of_difference(metric, a, b) if intervals else None
        found.append(PairedResult(a, b, metric, difference, p, interval=interval))
    return with_correction(found, correction)
