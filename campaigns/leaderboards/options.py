"""Leaderboards by other rules than the usual one: other levels, intervals, tests and corrections.

They take longer than a page may: they are computed one at a time, in a thread of their own, and kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from analysis.leaderboard.board import Board
from analysis.leaderboard.board import read_board as read_stored
from analysis.leaderboard.more_replicates import draws_of_tests, with_enough_draws
from analysis.leaderboard.randomization import randomization_pairs
from analysis.leaderboard.significance import ALPHA, ranked_by_bootstrap, ranking_of, scored_pairs
from campaigns.accounts.principal import COMMAND_LINE
from campaigns.errors import BadRequest, Unavailable
from campaigns.leaderboards.comparison import MAX_SYSTEMS, WAIT_SECONDS
from campaigns.leaderboards.feedback import LEVEL
from models.database.session import reading
from models.schema.queue import Evaluation
from models.schema.results import Randomization, SystemRuns
from models.schema.roles import Scope
from steelyard.ranking.tested_ranking import Ranking
from steelyard.resampling.randomization import TRIALS
from steelyard_client.vocabulary import Constrained, IntervalKind, PValueCorrection, SignificanceTest, SystemFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from campaigns.leaderboards.view import BoardQuery, Boards, BoardView
    from campaigns.permissions import CampaignAccess
    from models.results.boards import BoardSummary
    from steelyard.ranking.power import MetricPower

RETRY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class BoardOptions:
    """How intervals, rank ranges and clusters are computed, and what is shown besides."""

    level: float = LEVEL
    """The confidence level of the intervals."""
    interval: IntervalKind = IntervalKind.PERCENTILE
    test: SignificanceTest = SignificanceTest.BOOTSTRAP
    trials: int | None = None
    """Of randomization tests; None for as many as the correction needs."""
    correction: PValueCorrection = PValueCorrection.NONE
    alpha: float = ALPHA
    all_submissions: bool = False
    """Whether submissions that were replaced are shown, too."""
    power: bool = False
    """Whether to say which differences the test set can detect."""

    @property
    def usual(self) -> bool:
        """Whether the leaderboard is the one that pages show."""
        return self == BoardOptions()


@dataclass(frozen=True, eq=False)
class OptionalBoard:
    """A leaderboard by these options."""

    board: Board
    missing: int
    """Randomization tests that are not stored; without them there are no rank ranges and clusters."""
    power: Sequence[MetricPower]
    """By metric, if it was asked for."""


def optional_board(
    connection: Connection, boards: Boards, access: CampaignAccess, view: BoardView, options: BoardOptions
) -> OptionalBoard:
    """Compute a leaderboard by other rules, or return the one that is kept.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        For replaced submissions, for others than organisers.
    BadRequest
        For a leaderboard with too many systems.
    Unavailable
        While it is computed.
    """
    principal, listed = access.principal, view.listed
    principal.require(Scope.READ)
    if options.all_submissions:
        access.require_organiser()
    if view.query.constrained is not Constrained.ANY:
        raise BadRequest("Leave out `constrained`: other rules are for all systems together.")
    unlimited = principal is COMMAND_LINE
    if len(view.snapshot.entries) > MAX_SYSTEMS and not unlimited:
        raise BadRequest(
            f"This leaderboard has {len(view.snapshot.entries)} systems. Other rules than the usual one are for at "
            f"most {MAX_SYSTEMS}."
        )
    if unlimited:
        return _computed(connection, listed, view.query, options)
    # Randomization tests are stored while somebody asks for them.
    stored = _stored_tests(connection, listed) if options.test is SignificanceTest.RANDOMIZATION else 0
    key = ("options", listed.campaign_id, listed.protocol_id, view.snapshot.version, view.query, options, stored)

    def compute() -> OptionalBoard:
        with reading(boards.engine) as own:
            return _computed(own, listed, view.query, options)

    found: OptionalBoard | None = boards.slow.get(key, compute, WAIT_SECONDS)
    if found is None:
        raise Unavailable("This leaderboard is being computed. Ask again.", retry_seconds=RETRY_SECONDS)
    return found


def _stored_tests(connection: Connection, listed: BoardSummary) -> int:
    """Return how many randomization tests of the protocol's systems are stored."""
    stored = connection.scalar(
        select(func.count())
        .select_from(Randomization)
        .join(SystemRuns, SystemRuns.id == Randomization.a_id)
        .join(Evaluation, Evaluation.id == SystemRuns.evaluation_id)
        .where(Evaluation.protocol_id == listed.protocol_id)
    )
    return stored or 0


def _computed(connection: Connection, listed: BoardSummary, query: BoardQuery, options: BoardOptions) -> OptionalBoard:
    board = read_stored(
        connection,
        listed,
        options.level,
        listed.metrics[query.metric],
        interval_kind=options.interval,
        ranked_only=query.shown is SystemFilter.RANKED and not options.all_submissions,
        all_submissions=options.all_submissions,
    )
    # There is always a board for a metric that it has.
    assert board is not None
    contest, missing, metrics = board.only(board.ranked_rows), 0, range(len(listed.metrics))
    if options.test is SignificanceTest.BOOTSTRAP:
        drawn = with_enough_draws(connection, contest, metrics, options.correction, alpha=options.alpha)
        more = replace(board, more_replicates=drawn.more_replicates)
        board = ranked_by_bootstrap(more, alpha=options.alpha, correction=options.correction)
    else:
        trials = trials_of(contest, options)
        pairs = [
            randomization_pairs(
                connection, contest, metric, correction=options.correction, intervals=False, trials=trials,
                seed=listed.seed,
            )
            for metric in metrics
        ]  # fmt: skip
        missing = sum(len(scored_pairs(contest, metric)) - len(pairs[metric]) for metric in metrics)
        ranking = Ranking("randomization", options.alpha, options.correction, trials)
        board = replace(board, ranking=ranking if missing else ranking_of(board, pairs, ranking))
    power = []
    if options.power:
        power = [board.power(each, listed.segments, alpha=options.alpha) for each in metrics]
    return OptionalBoard(board, missing, power)


def trials_of(contest: Board, options: BoardOptions) -> int:
    """Return the number of trials of each randomization test: as asked for, or as many as the correction needs."""
    return options.trials or draws_of_tests(contest, options.correction, alpha=options.alpha, draws=TRIALS)
