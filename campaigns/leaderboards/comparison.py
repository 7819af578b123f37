"""Systems of a board compared in pairs: differences, intervals, p-values corrected for the number of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import select

from analysis.leaderboard.board import Board
from analysis.leaderboard.more_replicates import draws_of_tests, with_enough_draws
from analysis.leaderboard.randomization import randomization_pairs
from analysis.leaderboard.significance import bootstrap_pairs
from campaigns.errors import BadRequest, NotThere
from campaigns.leaderboards.feedback import LEVEL
from metrics.resampling.paired import pairs_to_test
from metrics.resampling.randomization import TRIALS
from models.database.session import reading
from models.queue_status.progress import read_comparison_progress
from models.results.leaderboard import read_contestants
from models.schema.queue import Comparison
from scheduler.enqueue.randomization import request_comparison

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from campaigns.leaderboards.snapshot import Contender
    from campaigns.leaderboards.view import Boards, BoardView
    from metrics.resampling.paired import PairedResult
    from runtime.settings import Settings

MOST_SYSTEMS = 60
"""Compared at once: 1,770 pairs."""
MOST_TRIED = 20
"""By randomization, whose tests have to be made: 190 pairs."""
PATIENCE = 1.5
"""Seconds that somebody waits for more replicates."""
FIRST_SYSTEMS = 8
"""The best ones, which are compared where nobody says which."""


class Test(StrEnum):
    """How differences are tested."""

    __test__ = False

    BOOTSTRAP = "bootstrap"
    """From the replicates that are stored."""
    RANDOMIZATION = "randomization"
    """From trials that workers make when somebody asks for them."""


class Correction(StrEnum):
    """For the number of pairs.

    The default is that of the leaderboard, `analysis.leaderboard.significance.CORRECTION`.
    """

    NONE = "none"
    HOLM = "holm"
    BH = "bh"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants to have compared."""

    systems: Sequence[Contender]
    metrics: Sequence[int]
    """Positions in the protocol's list."""
    test: Test = Test.BOOTSTRAP
    correction: Correction = Correction.NONE


@dataclass(frozen=True, slots=True)
class Compared:
    """The tests of some systems; pairs are positions among them."""

    wanted: Wanted
    results: Sequence[Sequence[PairedResult]]
    """By each metric that is wanted, in its order."""
    lacking: int
    """Pairs by a metric that nobody has tested by randomization yet."""
    drawing: bool
    """Whether more replicates are being drawn, since the correction needs them: until they are, there is no result."""
    draws: int
    """Replicates or trials."""
    same_output: frozenset[tuple[int, int]]
    """Pairs of the very same output, the first one first."""


@dataclass(frozen=True, slots=True)
class Trying:
    """How far workers have come with tests by randomization."""

    comparison: int
    trials: int
    trials_done: int
    running: bool
    failure: str
    """Why they came to nothing; "" where they did not."""


def choose_systems(view: BoardView, submissions: Sequence[int], most: int = MOST_SYSTEMS) -> list[Contender]:
    """The systems with scores that are known by these submissions, best first; the best ones where none are named.

    Raises NotThere, and BadRequest for too many.
    """
    scored = [line for line in view.lines if line.contender.figures]
    if not submissions:
        return [line.contender for line in scored if line.contender.ranked][:FIRST_SYSTEMS]
    wanted = set(submissions)
    if len(wanted) > most:
        raise BadRequest(f"{len(wanted)} systems are too many. Compare at most {most} at once.")
    there = {each for line in scored for each in line.contender.submissions}
    if missing := sorted(wanted - there):
        raise NotThere(
            f"No submission {', '.join(map(str, missing[:20]))} stands on this leaderboard with scores. Name systems "
            "by the numbers that the leaderboard gives."
        )
    return [line.contender for line in scored if wanted & set(line.contender.submissions)]


def compare(connection: Connection, boards: Boards, view: BoardView, wanted: Wanted) -> Compared:
    """All pairs of these systems, from what is stored.

    Where the correction needs more replicates than are stored, they are drawn in the background: who waits gets them
    where that is quick.
    """
    systems, listed = wanted.systems, view.listed
    evaluations = [each.evaluations for each in systems]
    rows = {row.evaluations: row for row in read_contestants(connection, listed.protocol_id, evaluations)}
    board = Board(
        listed=listed,
        level=LEVEL,
        sorted_by=view.wish.metric,
        rows=[rows[each] for each in evaluations],
        same_output={},
    )
    results: list[list[PairedResult]] | None
    lacking, draws = 0, TRIALS
    if wanted.test is Test.BOOTSTRAP:
        draws = draws_of_tests(board, wanted.correction)
        if draws <= listed.replicates:
            results = _bootstrap(board, wanted)
        else:
            measured = tuple(each.measured for each in systems)
            key = (listed.protocol_id, measured, tuple(wanted.metrics), wanted.correction)
            results = boards.slow.get(key, lambda: _bootstrap_with_draws(boards, board, wanted), PATIENCE)
    else:
        results = []
        for metric in wanted.metrics if len(systems) > 1 else ():
            found = randomization_pairs(connection, board, metric, correction=wanted.correction, seed=listed.seed)
            scored = sum(each.figures[metric].score is not None for each in systems)
            lacking += scored * (scored - 1) // 2 - len(found)
            results.append(found)
    same = frozenset((a, b) for a, b in pairs_to_test(len(systems), None) if systems[a].texts == systems[b].texts)
    return Compared(wanted, results or [], lacking, results is None, draws, same)


def _bootstrap_with_draws(boards: Boards, board: Board, wanted: Wanted) -> list[list[PairedResult]]:
    with reading(boards.engine) as connection:
        return _bootstrap(with_enough_draws(connection, board, wanted.metrics, wanted.correction), wanted)


def _bootstrap(board: Board, wanted: Wanted) -> list[list[PairedResult]]:
    metrics = wanted.metrics if len(board.rows) > 1 else ()
    return [bootstrap_pairs(board, metric, correction=wanted.correction) for metric in metrics]


def request_trials(engine: Engine, settings: Settings, view: BoardView, wanted: Wanted, team: str) -> int | None:
    """Have the randomization tests made that are lacking: the number of the comparison; None where all are there.

    No transaction may be open. Raises BadRequest for too many systems.
    """
    if len(wanted.systems) > MOST_TRIED:
        raise BadRequest(
            f"{len(wanted.systems)} systems are too many for randomization tests. Compare at most {MOST_TRIED} at once."
        )
    pairs = [
        (wanted.systems[a].evaluations, wanted.systems[b].evaluations)
        for a, b in pairs_to_test(len(wanted.systems), None)
    ]
    return request_comparison(
        engine, settings, view.listed.protocol_id, pairs, wanted.metrics, seed=view.listed.seed, team=team
    )


def read_trying(connection: Connection, view: BoardView, comparison: int) -> Trying:
    """How far a comparison of systems on this board has come. Raises NotThere."""
    protocol = connection.scalar(select(Comparison.protocol_id).where(Comparison.id == comparison))
    if protocol != view.listed.protocol_id:
        raise NotThere(f"There is no comparison {comparison} on this leaderboard.")
    progress = read_comparison_progress(connection, [comparison])
    return Trying(
        comparison, progress.trials, progress.trials_done, bool(progress.running), " ".join(progress.failures)
    )
