"""Pairwise comparisons of systems on a leaderboard."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from campaigns.accounts.principal import Principal
from campaigns.leaderboards.choice import BoardChoice, find_choice, find_metric, read_choices, require_board
from campaigns.leaderboards.comparison import (
    MAX_SYSTEMS,
    ComparisonQuery,
    choose_systems,
    compare_systems,
    read_trials_progress,
    request_trials,
)
from campaigns.leaderboards.documents import comparison_document
from campaigns.leaderboards.view import BoardQuery, BoardView
from campaigns.permissions import CampaignAccess, read_access
from campaigns.submissions.evaluation_actions import cancel_comparison
from models.database.session import reading, writing
from models.schema.roles import Scope
from steelyard_client.documents.comparisons import (
    ComparisonCancel,
    ComparisonsResponse,
)
from steelyard_client.vocabulary import PValueCorrection, SignificanceTest, SystemFilter
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["leaderboards"])


class ComparisonFilters:
    """Query parameters that select the systems and the test."""

    def __init__(
        self,
        system: Annotated[
            list[int] | None,
            Query(max_length=MAX_SYSTEMS, description="Submission numbers on the leaderboard; default: the best 8."),
        ] = None,
        test_set: Annotated[str, Query(max_length=300, description="Name, or name@version.")] = "",
        references: Annotated[str, Query(max_length=1000, description="Labels, separated by commas.")] = "",
        metric: Annotated[str, Query(max_length=500, description="Only this metric; default: all.")] = "",
        test: SignificanceTest = SignificanceTest.BOOTSTRAP,
        correction: PValueCorrection = PValueCorrection.NONE,
        board: Annotated[
            int | None, Query(ge=1, description="The number of a leaderboard, to select one that is not the newest.")
        ] = None,
    ) -> None:
        self.systems, self.test_set, self.references, self.metric = system or [], test_set, references, metric
        self.test, self.correction, self.board = test, correction, board


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
    """Compare all pairs of the given systems by all metrics or one: differences, intervals, p-values.

    Bootstrap tests use the stored replicates; where the correction needs smaller p-values than these can give, more
    are drawn (`n` says how many). Without a correction a difference is significant where the leaderboard counts it.
    Randomization tests run when they are requested by POST; until then `lacking` counts them.
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
    return access, choice, view, wanted, request_trials(state.engine, state.settings, view, wanted, team)


def read_comparison_query(
    connection: Any, request: Request, principal: Principal, name: str, asked: ComparisonFilters
) -> tuple[CampaignAccess, BoardChoice, BoardView, ComparisonQuery]:
    """The selected systems on their leaderboard, as the principal may see it. Raises NotFound and Forbidden."""
    access = read_access(connection, principal, name)
    require_board(access)
    choice = find_choice(read_choices(connection, access), asked.test_set, asked.references, asked.board)
    metric = find_metric(choice.listed, asked.metric, access.ranked_by)
    view = app_state(request).boards.view(connection, choice.listed, BoardQuery(metric, SystemFilter.ALL))
    metrics = [metric] if asked.metric else list(range(len(choice.listed.metrics)))
    return (
        access,
        choice,
        view,
        ComparisonQuery(choose_systems(view, asked.systems), metrics, asked.test, asked.correction),
    )
