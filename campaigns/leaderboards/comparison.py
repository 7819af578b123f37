"""Pairwise comparisons of systems on a leaderboard: differences, intervals, p-values corrected for their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from analysis.leaderboard.board import Board
from analysis.leaderboard.more_replicates import draws_of_tests, with_enough_draws
from analysis.leaderboard.randomization import randomization_pairs
from analysis.leaderboard.significance import bootstrap_pairs
from campaigns.errors import BadRequest, NotFound
from campaigns.leaderboards.feedback import LEVEL
from models.database.session import reading
from models.queue_status.progress import read_comparison_progress
from models.results.leaderboard import read_selected_systems
from models.schema.queue import Comparison
from scheduler.enqueue.randomization import request_comparison
from steelyard.resampling.paired import pairs_to_test
from steelyard.resampling.randomization import TRIALS
from steelyard_client.vocabulary import PValueCorrection, SignificanceTest

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from campaigns.leaderboards.snapshot import BoardEntry
    from campaigns.leaderboards.view import Boards, BoardView
    from runtime.settings import Settings
    from steelyard.resampling.paired import PairedResult

MAX_SYSTEMS = 60
"""For one comparison: 1,770 pairs."""
MAX_RANDOMIZED_SYSTEMS = 20
"""For randomization tests, which must be computed on demand: 190 pairs."""
WAIT_SECONDS = 1.5
"""Seconds to wait for more replicates."""
DEFAULT_SYSTEMS = 8
"""How many of the best systems are compared by default."""


@dataclass(frozen=True, slots=True)
class ComparisonQuery:
    """What to compare."""

    systems: Sequence[BoardEntry]
    metrics: Sequence[int]
    """Positions in the protocol's list."""
    test: SignificanceTest = SignificanceTest.BOOTSTRAP
    correction: PValueCorrection = PValueCorrection.NONE


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """The tests of some systems; pairs are positions among them."""

    query: ComparisonQuery
    results: Sequence[Sequence[PairedResult]]
    """For each metric of the query, in its order."""
    missing: int
    """Pairs, counted for each metric, without a randomization test so far."""
    drawing: bool
    """Whether more replicates are being drawn, which the correction needs; there is no result until then."""
    draws: int
    """Replicates or trials."""
    same_output: frozenset[tuple[int, int]]
    """Pairs with identical outputs, the first one first."""


@dataclass(frozen=True, slots=True)
class TrialsProgress:
    """The progress of randomization tests."""

    comparison: int
    trials: int
    trials_done: int
    running: bool
    failure: str
    """Why they failed; "" if they did not."""


def choose_systems(view: BoardView, submissions: Sequence[int], most: int = MAX_SYSTEMS) -> list[BoardEntry]:
    """Return the systems with these submissions that have scores, best first; by default the best ones.

    Raises
    ------
    NotFound
        If it does not exist.
    BadRequest
        For too many.
    """
    scored = [line for line in view.lines if line.entry.scores]
    if not submissions:
        return [line.entry for line in scored if line.entry.ranked][:DEFAULT_SYSTEMS]
    wanted = set(submissions)
    if len(wanted) > most:
        raise BadRequest(f"{len(wanted)} systems are too many. Compare at most {most} at once.")
    there = {each for line in scored for each in line.entry.submissions}
    if missing := sorted(wanted - there):
        raise NotFound(
            f"No submission {', '.join(map(str, missing[:20]))} is on this leaderboard with scores. Name systems "
            "by the submission numbers of the leaderboard."
        )
    return [line.entry for line in scored if wanted & set(line.entry.submissions)]


def compare_systems(
    connection: Connection, boards: Boards, view: BoardView, query: ComparisonQuery
) -> ComparisonResult:
    """Compare all pairs of these systems from stored results.

    If the correction needs more replicates than are stored, they are drawn in the background, and returned if that is
    quick.
    """
    systems, listed = query.systems, view.listed
    evaluations = [each.evaluations for each in systems]
    rows = {row.evaluations: row for row in read_selected_systems(connection, listed.protocol_id, evaluations)}
    board = Board(
        listed=listed,
        level=LEVEL,
        sorted_by=view.query.metric,
        rows=[rows[each] for each in evaluations],
        same_output={},
    )
    results: list[list[PairedResult]] | None
    missing, draws = 0, TRIALS
    if query.test is SignificanceTest.BOOTSTRAP:
        draws = draws_of_tests(board, query.correction)
        if draws <= listed.replicates:
            results = _bootstrap(board, query)
        else:
            measured = tuple(each.measured for each in systems)
            key = (listed.protocol_id, measured, tuple(query.metrics), query.correction)
            results = boards.slow.get(key, lambda: _bootstrap_with_draws(boards, board, query), WAIT_SECONDS)
    else:
        results = []
        for metric in query.metrics if len(systems) > 1 else ():
            found = randomization_pairs(connection, board, metric, correction=query.correction, seed=listed.seed)
            scored = sum(each.scores[metric].score is not None for each in systems)
            missing += scored * (scored - 1) // 2 - len(found)
            results.append(found)
    same = frozenset((a, b) for a, b in pairs_to_test(len(systems), None) if systems[a].texts == systems[b].texts)
    return ComparisonResult(query, results or [], missing, results is None, draws, same)


def _bootstrap_with_draws(boards: Boards, board: Board, query: ComparisonQuery) -> list[list[PairedResult]]:
    with reading(boards.engine) as connection:
        return _bootstrap(with_enough_draws(connection, board, query.metrics, query.correction), query)


def _bootstrap(board: Board, query: ComparisonQuery) -> list[list[PairedResult]]:
    metrics = query.metrics if len(board.rows) > 1 else ()
    return [bootstrap_pairs(board, metric, correction=query.correction) for metric in metrics]


def request_trials(
    engine: Engine, settings: Settings, view: BoardView, query: ComparisonQuery, team: str
) -> int | None:
    """Queue the missing randomization tests; the id of the comparison, None if none is missing.

    No transaction may be open.

    Raises
    ------
    BadRequest
        For too many systems.
    """
    if len(query.systems) > MAX_RANDOMIZED_SYSTEMS:
        raise BadRequest(
            f"{len(query.systems)} systems are too many for randomization tests. "
            f"Compare at most {MAX_RANDOMIZED_SYSTEMS} at once."
        )
    pairs = [
        (query.systems[a].evaluations, query.systems[b].evaluations) for a, b in pairs_to_test(len(query.systems), None)
    ]
    return request_comparison(
        engine, settings, view.listed.protocol_id, pairs, query.metrics, seed=view.listed.seed, team=team
    )


def read_trials_progress(connection: Connection, view: BoardView, comparison: int) -> TrialsProgress:
    """Return the progress of a comparison of systems on this leaderboard.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    protocol = connection.scalar(select(Comparison.protocol_id).where(Comparison.id == comparison))
    if protocol != view.listed.protocol_id:
        raise NotFound(f"There is no comparison {comparison} on this leaderboard.")
    progress = read_comparison_progress(connection, [comparison])
    return TrialsProgress(
        comparison, progress.trials, progress.trials_done, bool(progress.running), " ".join(progress.failures)
    )
