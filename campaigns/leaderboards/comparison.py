"""Pairwise comparisons of systems on a leaderboard: differences, intervals, p-values corrected for their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlalchemy import select

from analysis.leaderboard.board import Board, left_out_of, spread_of_runs
from analysis.leaderboard.more_replicates import draws_of_tests, with_enough_draws
from analysis.leaderboard.randomization import randomization_pairs
from analysis.leaderboard.significance import ALPHA, bootstrap_pairs
from campaigns.accounts.principal import COMMAND_LINE
from campaigns.errors import BadRequest, NotFound
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.snapshot import read_single_entries
from models.database.session import reading
from models.queue_status.progress import read_comparison_progress
from models.results.leaderboard import read_selected_systems
from models.schema.queue import Comparison
from scheduler.enqueue.randomization import request_comparison
from steelyard.resampling.draws_needed import enough_draws
from steelyard.resampling.paired import pairs_to_test
from steelyard.resampling.randomization import TRIALS
from steelyard_client.vocabulary import IntervalKind, PValueCorrection, SignificanceTest

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from campaigns.accounts.principal import Principal
    from campaigns.leaderboards.snapshot import BoardEntry
    from campaigns.leaderboards.view import Boards, BoardView
    from campaigns.permissions import CampaignAccess
    from models.results.leaderboard import LeaderboardRow
    from runtime.settings import Settings
    from steelyard.resampling.paired import PairedResult
    from steelyard.resampling.runs import RunSpread

MAX_SYSTEMS = 60
"""For one comparison: 1,770 pairs."""
MAX_RANDOMIZED_SYSTEMS = 20
"""For randomization tests, which must be computed on demand: 190 pairs."""
MAX_TRIALS = 100_000
"""Trials of a randomization test, for all but the command line on the database."""
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
    trials: int = TRIALS
    """Of randomization tests."""
    alpha: float = ALPHA
    """A difference with a smaller (corrected) p is significant."""
    level: float = LEVEL
    """Of the intervals."""
    interval: IntervalKind = IntervalKind.PERCENTILE
    baseline: int | None = None
    """The position among the systems of the one that all others are tested against; None for all pairs."""


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
    spreads: Mapping[tuple[int, int], RunSpread | None] = field(default_factory=dict)
    """Position of the system and metric -> how its score spreads, where any of the systems has named runs."""
    board: Board | None = None
    """The systems with their scores, in their order; None while replicates are being drawn."""


@dataclass(frozen=True, slots=True)
class TrialsProgress:
    """The progress of randomization tests."""

    comparison: int
    trials: int
    trials_done: int
    running: bool
    failure: str
    """Why they failed; "" if they did not."""


def choose_systems(
    view: BoardView, submissions: Sequence[int], most: int = MAX_SYSTEMS, best: int = DEFAULT_SYSTEMS
) -> list[BoardEntry]:
    """Return the systems with these submissions that have scores, best first; by default the `best` ones.

    Raises
    ------
    NotFound
        If it does not exist.
    BadRequest
        For too many.
    """
    scored = [line for line in view.lines if line.entry.scores]
    if not submissions:
        return [line.entry for line in scored if line.entry.ranked][:best]
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


def single_systems(
    connection: Connection, boards: Boards, access: CampaignAccess, view: BoardView, submissions: Sequence[int]
) -> list[BoardEntry]:
    """Return submissions by themselves, also replaced ones, best first. Administrators compare those of any campaign.

    Raises
    ------
    NotSignedIn, Forbidden
        For others than organisers.
    NotFound
        If it does not exist, or has no scores.
    """
    access.require_organiser()
    found = read_single_entries(
        connection, boards.replicates, view.listed, submissions,
        campaign_id=None if access.principal.administrates else view.listed.campaign_id,
    )  # fmt: skip
    if missing := sorted(set(submissions) - {each.submission for each in found}):
        raise NotFound(f"There is no submission {', '.join(map(str, missing[:20]))} with scores.")

    def place(entry: BoardEntry) -> tuple[bool, float]:
        score = entry.scores[view.query.metric]
        return score.score is None, (-1 if score.higher_is_better else 1) * (score.score or 0.0)

    return sorted(found, key=place)


def compare_systems(
    connection: Connection, boards: Boards, view: BoardView, query: ComparisonQuery
) -> ComparisonResult:
    """Compare these systems from stored results, all pairs or all with a baseline.

    If the correction needs more replicates than are stored, they are drawn in the background, and returned if that is
    quick.
    """
    systems, listed = query.systems, view.listed
    same = frozenset((a, b) for a, b in pairs_of(query) if systems[a].texts == systems[b].texts)
    board = _board(connection, boards, view, query)
    if board is None:
        return ComparisonResult(query, [], 0, True, max(listed.replicates, 1), same)
    results: list[list[PairedResult]] | None
    missing, draws = 0, query.trials
    if query.test is SignificanceTest.BOOTSTRAP:
        draws = draws_of_tests(board, query.correction, alpha=query.alpha, baseline=query.baseline)
        if draws <= listed.replicates:
            results = _bootstrap(board, query)
        else:
            measured = tuple(each.measured for each in systems)
            key = (
                *(listed.protocol_id, measured, tuple(query.metrics), query.correction, query.alpha, query.level),
                *(query.interval, query.baseline),
            )
            results = boards.slow.get(key, lambda: _bootstrap_with_draws(boards, board, query), WAIT_SECONDS)
    else:
        results = []
        for metric in query.metrics if len(systems) > 1 else ():
            found = randomization_pairs(
                connection, board, metric, baseline=query.baseline, correction=query.correction, trials=query.trials,
                seed=listed.seed,
            )  # fmt: skip
            missing += len(_scored_pairs(query, metric)) - len(found)
            results.append(found)
    return ComparisonResult(query, results or [], missing, results is None, draws, same, _spreads(board, query), board)


def _spreads(board: Board, query: ComparisonQuery) -> dict[tuple[int, int], RunSpread | None]:
    if not any(any(each.runs) and not each.alone for each in query.systems):
        return {}
    return {
        (position, metric): spread_of_runs(row.scores[metric])
        for position, row in enumerate(board.rows)
        for metric in query.metrics
    }


def pairs_of(query: ComparisonQuery) -> list[tuple[int, int]]:
    """Return the pairs of systems to test, as positions."""
    return pairs_to_test(len(query.systems), query.baseline)


def trials_needed(query: ComparisonQuery) -> int:
    """Return how many trials randomization tests of these systems take to show anything, at least the usual number."""
    pairs = max((len(_scored_pairs(query, metric)) for metric in query.metrics), default=0)
    return enough_draws(TRIALS, pairs, query.correction, query.alpha)


def _scored_pairs(query: ComparisonQuery, metric: int) -> list[tuple[int, int]]:
    scored = [each.scores[metric].score is not None for each in query.systems]
    return [(a, b) for a, b in pairs_of(query) if scored[a] and scored[b]]


def _board(connection: Connection, boards: Boards, view: BoardView, query: ComparisonQuery) -> Board | None:
    """Return a board of the systems; None while scores without each segment are computed, for BCa intervals."""
    listed = view.listed
    evaluations = [each.evaluations for each in query.systems]

    def read(own: Connection) -> Board:
        rows = {row.evaluations: row for row in read_selected_systems(own, listed.protocol_id, evaluations)}
        return Board(
            listed=listed,
            level=query.level,
            sorted_by=view.query.metric,
            rows=[_with_autoranks(view, entry, rows[entry.evaluations]) for entry in query.systems],
            same_output={},
            interval_kind=query.interval,
        )

    def jackknifed() -> Board:
        with reading(boards.engine) as own:
            board = read(own)
            return replace(board, left_out=left_out_of(own, listed, board.rows))

    if query.interval is IntervalKind.PERCENTILE or not listed.replicates:
        return read(connection)
    key = ("left out", listed.protocol_id, view.query.metric, tuple(each.measured for each in query.systems))
    found: Board | None = boards.slow.get(key, jackknifed, WAIT_SECONDS)
    return None if found is None else replace(found, level=query.level)


def _with_autoranks(view: BoardView, entry: BoardEntry, row: LeaderboardRow) -> LeaderboardRow:
    """Return the row with the AutoRanks of the leaderboard, which depend on all of its systems."""
    scores = list(row.scores)
    for metric, drawn in view.snapshot.autoranks.items():
        if entry.measured in drawn:
            own = drawn[entry.measured]
            scores[metric] = replace(scores[metric], score=entry.scores[metric].score, replicate_scores=own)
    return replace(row, scores=tuple(scores))


def _bootstrap_with_draws(boards: Boards, board: Board, query: ComparisonQuery) -> list[list[PairedResult]]:
    with reading(boards.engine) as connection:
        drawn = with_enough_draws(
            connection, board, query.metrics, query.correction, alpha=query.alpha, baseline=query.baseline
        )
        return _bootstrap(drawn, query)


def _bootstrap(board: Board, query: ComparisonQuery) -> list[list[PairedResult]]:
    metrics = query.metrics if len(board.rows) > 1 else ()
    return [bootstrap_pairs(board, metric, baseline=query.baseline, correction=query.correction) for metric in metrics]


def request_trials(
    engine: Engine, settings: Settings, view: BoardView, query: ComparisonQuery, team: str, principal: Principal
) -> int | None:
    """Queue the missing randomization tests; the id of the comparison, None if none is missing.

    No transaction may be open.

    Raises
    ------
    BadRequest
        For too many systems or trials.
    """
    unlimited = principal is COMMAND_LINE
    if query.trials > MAX_TRIALS and not unlimited:
        raise BadRequest(f"{query.trials:,} trials are too many. Ask for at most {MAX_TRIALS:,}.")
    if len(query.systems) > MAX_RANDOMIZED_SYSTEMS and not unlimited:
        raise BadRequest(
            f"{len(query.systems)} systems are too many for randomization tests. "
            f"Compare at most {MAX_RANDOMIZED_SYSTEMS} at once."
        )
    pairs = [(query.systems[a].evaluations, query.systems[b].evaluations) for a, b in pairs_of(query)]
    return request_comparison(
        engine, settings, view.listed.protocol_id, pairs, query.metrics, trials=query.trials, seed=view.listed.seed,
        team=team,
    )  # fmt: skip


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
