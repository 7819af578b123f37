"""Pairwise comparisons of systems on a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from analysis.leaderboard.significance import ALPHA
from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.errors import BadRequest
from campaigns.leaderboards.choice import BoardChoice, find_choice, find_metric, read_choices, require_board
from campaigns.leaderboards.comparison import (
    MAX_SYSTEMS,
    ComparisonQuery,
    choose_systems,
    compare_systems,
    read_trials_progress,
    request_trials,
    single_systems,
    trials_needed,
)
from campaigns.leaderboards.documents import comparison_document
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.snapshot import BoardEntry
from campaigns.leaderboards.view import BoardQuery, BoardView
from campaigns.permissions import CampaignAccess, read_access
from campaigns.submissions.evaluation_actions import cancel_comparison
from models.database.session import reading, writing
from models.schema.roles import Scope
from steelyard.resampling.randomization import TRIALS
from steelyard_client.documents.leaderboards.comparisons import (
    ComparisonCancel,
    ComparisonsResponse,
)
from steelyard_client.vocabulary import IntervalKind, PValueCorrection, SignificanceTest, SystemFilter
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["leaderboards"])

LONGEST_LIST = 10_000
"""Numbers in a request; how many systems may be compared depends on who asks."""


class ComparisonFilters:
    """Query parameters that select the systems and the test."""

    def __init__(
        self,
        system: Annotated[
            list[int] | None,
            Query(max_length=LONGEST_LIST, description="Submission numbers on the leaderboard; default: the best 8."),
        ] = None,
        test_set: Annotated[str, Query(max_length=300, description="Name, or name@version.")] = "",
        references: Annotated[str, Query(max_length=1000, description="Labels, separated by commas.")] = "",
        metric: Annotated[
            list[str] | None, Query(max_length=50, description="Only these metrics; default: all.")
        ] = None,
        by: Annotated[
            str, Query(max_length=500, description="The metric that sorts; default: the first one that is asked for.")
        ] = "",
        single: Annotated[
            bool, Query(description="Each submission by itself, also replaced ones. For organisers.")
        ] = False,
        test: SignificanceTest = SignificanceTest.BOOTSTRAP,
        correction: PValueCorrection = PValueCorrection.NONE,
        board: Annotated[
            int | None, Query(ge=1, description="The number of a leaderboard, to select one that is not the newest.")
        ] = None,
        trials: Annotated[
            int | None,
            Query(
                ge=1,
                le=10_000_000,
                description="Trials of each randomization test, 100,000 at most; default: as many "
                "as the correction needs.",
            ),
        ] = None,
        level: Annotated[
            float,
            Query(
                ge=0.5,
                le=0.9999,
                description="Confidence level of the intervals. This and the next three are for "
                "accounts, where they differ from the default.",
            ),
        ] = LEVEL,
        interval: Annotated[IntervalKind, Query(description="How intervals are computed.")] = IntervalKind.PERCENTILE,
        alpha: Annotated[
            float, Query(ge=0.0001, le=0.5, description="p-value below which a difference is significant.")
        ] = ALPHA,
        baseline: Annotated[
            int | None,
            Query(ge=1, le=2**53, description="Test all others against this submission; default: all pairs."),
        ] = None,
    ) -> None:
        self.trials = trials
        # A request for each of many levels must not have each computed.
        self.level, self.interval, self.alpha, self.baseline = round(level, 4), interval, round(alpha, 4), baseline
        self.systems, self.test_set, self.references = system or [], test_set, references
        self.metrics = [each for each in metric or () if each]
        self.by, self.single = by, single
        self.test, self.correction, self.board = test, correction, board

    @property
    def metric(self) -> str:
        """The metric that sorts; "" for the default."""
        return self.by or (self.metrics[0] if self.metrics else "")


@router.get("/campaigns/{name}/comparisons")
def read_comparisons(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    asked: Annotated[ComparisonFilters, Depends()],
    comparison: Annotated[
        int | None, Query(ge=1, le=2**53, description="The comparison that POST started, to include its progress.")
    ] = None,
) -> ComparisonsResponse:
    """Compare the given systems, in pairs or with a baseline, by all metrics or one: differences, intervals, p-values.

    Bootstrap tests use the stored replicates; where the correction needs smaller p-values than these can give, more
    are drawn (`n` says how many). Without a correction a difference is significant where the leaderboard counts it.
    Randomization tests run when they are requested by POST; until then `missing` counts them.
    """
    with reading(app_state(request).engine) as connection:
        access, _, view, wanted = read_comparison_query(connection, request, principal, name, asked)
        compared = compare_systems(connection, app_state(request).boards, view, wanted)
        trying = None if comparison is None else read_trials_progress(connection, view, comparison)
    return comparison_document(access, view, compared, trying)


@router.post(
    "/campaigns/{name}/comparisons",
    response_model=ComparisonsResponse,
    status_code=202,
    responses={200: {"model": ComparisonsResponse, "description": "All tests are done."}},
)
def request_comparisons(
    request: Request, name: str, principal: CurrentPrincipal, asked: Annotated[ComparisonFilters, Depends()]
) -> Response:
    """Request the missing randomization tests, for at most 20 systems.

    200: all are done. 202: they are running; poll the URL in `Location`.
    """
    access, _, view, wanted, comparison = start_trials(request, principal, name, asked)
    with reading(app_state(request).engine) as connection:
        compared = compare_systems(connection, app_state(request).boards, view, wanted)
        trying = None if comparison is None else read_trials_progress(connection, view, comparison)
    answer = comparison_document(access, view, compared, trying)
    headers = {}
    if comparison is not None:
        there = request.url.include_query_params(comparison=comparison, test=SignificanceTest.RANDOMIZATION.value)
        headers["Location"] = f"{there.path}?{there.query}"
    return JSONResponse(answer.model_dump(mode="json"), 202 if comparison is not None else 200, headers)


@router.post("/campaigns/{name}/comparisons/{comparison}/cancel", status_code=204, name="cancel_comparison")
def cancel_running_comparison(
    request: Request,
    name: str,
    comparison: Annotated[int, Path(ge=1, lt=2**63)],
    principal: CurrentPrincipal,
    cancellation: ComparisonCancel,
) -> None:
    """Cancel a running comparison; stored trials stay, and the tests can be requested again. For organisers."""
    with writing(app_state(request).engine, durable=True) as connection:
        access = read_access(connection, principal, name)
        cancel_comparison(connection, access, comparison, reason=cancellation.reason)


def start_trials(
    request: Request, principal: Principal, name: str, asked: ComparisonFilters
) -> tuple[CampaignAccess, BoardChoice, BoardView, ComparisonQuery, int | None]:
    """Request the missing randomization tests; last the number of the running comparison, None where none is needed."""
    principal.require(Scope.READ)
    state, asked.test = app_state(request), SignificanceTest.RANDOMIZATION
    with reading(state.engine) as connection:
        access, choice, view, wanted = read_comparison_query(connection, request, principal, name, asked)
    team = next(iter(access.own_teams), "")
    return access, choice, view, wanted, request_trials(state.engine, state.settings, view, wanted, team, principal)


def read_comparison_query(
    connection: Any, request: Request, principal: Principal, name: str, asked: ComparisonFilters
) -> tuple[CampaignAccess, BoardChoice, BoardView, ComparisonQuery]:
    """The selected systems on their leaderboard, as the principal may see it.

    Raises NotFound, Forbidden, NotSignedIn for what is for accounts, and BadRequest for a baseline that is not one of
    the systems.
    """
    access = read_access(connection, principal, name)
    require_board(access)
    choice = find_choice(read_choices(connection, access), asked.test_set, asked.references, asked.board)
    metric = find_metric(choice.listed, asked.metric, access.ranked_by)
    view = app_state(request).boards.view(connection, choice.listed, BoardQuery(metric, SystemFilter.ALL))
    metrics = list(dict.fromkeys(find_metric(choice.listed, each, "") for each in asked.metrics))
    metrics = metrics or list(range(len(choice.listed.metrics)))
    most = LONGEST_LIST if principal is COMMAND_LINE else MAX_SYSTEMS
    if asked.single and len(asked.systems) > most:
        raise BadRequest(f"{len(asked.systems)} systems are too many. Compare at most {most} at once.")
    systems = (
        single_systems(connection, app_state(request).boards, access, view, asked.systems)
        if asked.single
        else choose_systems(view, asked.systems, most)
    )
    query = ComparisonQuery(
        *(systems, metrics, asked.test, asked.correction, TRIALS, asked.alpha, asked.level, asked.interval),
        _baseline(systems, asked.baseline),
    )
    if query != ComparisonQuery(systems, metrics, asked.test, asked.correction):
        principal.require(Scope.READ)
    return access, choice, view, replace(query, trials=asked.trials or trials_needed(query))


def _baseline(systems: Sequence[BoardEntry], submission: int | None) -> int | None:
    """The position of the system with a submission. Raises BadRequest where none of them has it."""
    if submission is None:
        return None
    for position, each in enumerate(systems):
        if submission in each.submissions:
            return position
    raise BadRequest(f"The baseline, submission {submission}, is not among the compared systems.")
