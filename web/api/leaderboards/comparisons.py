"""Pairwise comparisons of systems on a leaderboard."""

from __future__ import annotations

import math
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from analysis.leaderboard.significance import ALPHA
from campaigns.accounts.principal import Principal
from campaigns.leaderboards.choice import BoardChoice, find_choice, find_metric, read_choices, require_board
from campaigns.leaderboards.comparison import (
    MAX_SYSTEMS,
    ComparisonQuery,
    ComparisonResult,
    TrialsProgress,
    choose_systems,
    compare_systems,
    read_trials_progress,
    request_trials,
)
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.names import display_name
from campaigns.leaderboards.view import BoardQuery, BoardView
from campaigns.permissions import CampaignAccess, read_access
from campaigns.submissions.evaluation_actions import cancel_comparison
from models.database.session import reading, writing
from models.schema.roles import Scope
from steelyard_client.documents.comparisons import (
    ComparedSystem,
    ComparisonCancel,
    ComparisonsResponse,
    DifferenceInterval,
    PairTest,
    TrialsProgressResponse,
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
    return _response(access, view, compared, trying)


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
    answer = _response(access, view, compared, trying)
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


def _response(
    access: CampaignAccess, view: BoardView, compared: ComparisonResult, trying: TrialsProgress | None
) -> ComparisonsResponse:
    wanted, listed = compared.query, view.listed
    names = [display_name(access, each).title for each in wanted.systems]
    pairs = []
    for metric, results in zip(wanted.metrics, compared.results, strict=False):
        higher = all(each.scores[metric].higher_is_better for each in wanted.systems)
        for each in results:
            p = each.p if wanted.correction is PValueCorrection.NONE else each.p_corrected
            pairs.append(
                PairTest(
                    a=names[each.a],
                    b=names[each.b],
                    a_submission=wanted.systems[each.a].submission,
                    b_submission=wanted.systems[each.b].submission,
                    metric=listed.metrics[metric],
                    test=wanted.test,
                    n=compared.draws,
                    seed=listed.seed,
                    difference=_nan_to_none(each.difference),
                    interval=each.interval
                    and DifferenceInterval(
                        level=LEVEL, low=each.interval[0], high=each.interval[1], kind="percentile", n=listed.replicates
                    ),
                    p=_nan_to_none(each.p),
                    p_corrected=None if wanted.correction is PValueCorrection.NONE else _nan_to_none(each.p_corrected),
                    correction=wanted.correction,
                    direction=direction(each.difference, higher_is_better=higher),
                    significant=p < ALPHA,
                    same_output=(each.a, each.b) in compared.same_output,
                )
            )
    return ComparisonsResponse(
        campaign=listed.campaign,
        test_set=listed.test_set,
        version=listed.version,
        references=list(listed.references),
        test=wanted.test,
        correction=wanted.correction,
        alpha=ALPHA,
        systems=[
            ComparedSystem(submission=each.submission, name=name)
            for each, name in zip(wanted.systems, names, strict=True)
        ],
        pairs=pairs,
        lacking=compared.missing,
        drawing=compared.draws if compared.drawing else 0,
        progress=None
        if trying is None
        else TrialsProgressResponse(
            comparison=trying.comparison,
            running=trying.running,
            trials=trying.trials,
            trials_done=trying.trials_done,
            failure=trying.failure,
        ),
    )


def direction(difference: float, *, higher_is_better: bool) -> str | None:
    """Whether the second system of a pair is better, worse or equal; None for an undefined (NaN) difference."""
    if math.isnan(difference):
        return None
    if not difference:
        return "equal"
    return "better" if (difference > 0) == higher_is_better else "worse"


def _nan_to_none(value: float) -> float | None:
    return None if math.isnan(value) else value
