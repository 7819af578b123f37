"""Paired tests of the systems in the database, for the verbs that rank and compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.stored import note_without_workers
from steelyard.commands.notices import note
from steelyard.commands.values import TRIALS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from analysis.leaderboard.board import Board
    from cli.commands import Options
    from models.queue_status.progress import ComparisonProgress
    from runtime.settings import Settings
    from steelyard.resampling.paired import PairedResult


def compute_missing_tests(
    settings: Settings, boards: Sequence[tuple[Board, Sequence[int], int | None]], options: Options
) -> None:
    """Compute the requested randomization tests that are not stored yet, with a progress display.

    `boards` are boards with the positions of the metrics to test by, and the row of the baseline or None. No connection
    may be open, because workers are forked.
    """
    if options.test != "randomization":
        return
    from cli.terminal.progress import shown_trials
    from models.results.randomizations import PairTests
    from scheduler.embedded.randomize import randomize
    from steelyard.resampling.paired import pairs_to_test

    required = []
    for board, metrics, baseline in boards:
        systems = [row.evaluations if row.scores else None for row in board.rows]
        pairs = [(systems[a], systems[b]) for a, b in pairs_to_test(len(systems), baseline)]
        if scored := [(a, b) for a, b in pairs if a and b]:
            trials = trials_of(board, options, baseline)
            required.append(PairTests(board.listed.protocol_id, scored, metrics, board.listed.seed, trials))
    with shown_trials() as on_progress:
        warned = settings.embedded

        def on_trials(progress: ComparisonProgress) -> None:
            nonlocal warned
            if not warned:
                note_without_workers(settings)
                warned = True
            on_progress(progress)

        randomize(settings, required, on_progress=on_trials, say=lambda message: note([message]))


def trials_of(board: Board, options: Options, baseline: int | None) -> int:
    """The number of trials of each randomization test: as requested, or as many as the correction needs."""
    if options.trials:
        return int(options.trials)
    from analysis.leaderboard.more_replicates import draws_of_tests

    return draws_of_tests(board, options.correction, alpha=options.alpha, baseline=baseline, draws=TRIALS)


def with_draws(
    connection: Connection,
    board: Board,
    metrics: Sequence[int],
    options: Options,
    *,
    baseline: int | None = None,
) -> Board:
    """The board with as many replicates as the requested bootstrap tests need; unchanged for other tests."""
    if options.test != "bootstrap":
        return board
    from analysis.leaderboard.more_replicates import with_enough_draws

    return with_enough_draws(connection, board, metrics, options.correction, alpha=options.alpha, baseline=baseline)


def pairs_of(
    connection: Connection,
    board: Board,
    metric: int,
    options: Options,
    *,
    baseline: int | None = None,
    intervals: bool = True,
) -> list[PairedResult]:
    """The requested tests by one metric, of all pairs or of all systems against a baseline."""
    if options.test == "bootstrap":
        from analysis.leaderboard.significance import bootstrap_pairs

        return bootstrap_pairs(board, metric, baseline=baseline, correction=options.correction, intervals=intervals)
    from analysis.leaderboard.randomization import randomization_pairs

    return randomization_pairs(
        connection, board, metric, baseline=baseline, correction=options.correction, intervals=intervals,
        trials=trials_of(board, options, baseline), seed=board.listed.seed,
    )  # fmt: skip


def ranked(connection: Connection, board: Board, options: Options) -> Board:
    """The board with rank ranges and clusters by the requested tests."""
    from dataclasses import replace

    from analysis.leaderboard.significance import ranked_by_bootstrap, ranking_of
    from steelyard.ranking.tested_ranking import Ranking

    metrics, contest = range(len(board.listed.metrics)), board.only(board.ranked_rows)
    if options.test == "bootstrap":
        more = with_draws(connection, contest, metrics, options).more_replicates
        return ranked_by_bootstrap(
            replace(board, more_replicates=more), alpha=options.alpha, correction=options.correction
        )
    pairs = [pairs_of(connection, contest, metric, options, intervals=False) for metric in metrics]
    ranking = Ranking("randomization", options.alpha, options.correction, trials_of(contest, options, None))
    return replace(board, ranking=ranking_of(board, pairs, ranking))
