"""Systems of a leaderboard compared in pairs."""

from __future__ import annotations

import math
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from analysis.leaderboard.significance import ALPHA
from campaigns.accounts.principal import Principal
from campaigns.leaderboards.choice import Choice, find_choice, find_metric, read_choices, require_board
from campaigns.leaderboards.comparison import (
    MOST_SYSTEMS,
    Compared,
    Correction,
    Test,
    Trying,
    Wanted,
    choose_systems,
    compare,
    read_trying,
    request_trials,
)
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.names import name_of
from campaigns.leaderboards.view import BoardView, Shown, Wish
from campaigns.permissions import Sight, read_sight
from campaigns.submissions.evaluation_actions import cancel_comparison
from models.database.session import reading, writing
from models.schema.roles import Scope
from web.dependencies import Asking, state_of

router = APIRouter(tags=["leaderboards"])


class ComparedSystem(BaseModel):
    """A system that is compared."""

    submission: int
    name: str
    """As it may be shown."""


class Interval(BaseModel):
    """Where a difference may lie."""

    level: float
    low: float
    high: float
    kind: str
    n: int


class PairTest(BaseModel):
    """System b against system a by one metric."""

    a: str
    b: str
    a_submission: int
    b_submission: int
    metric: str
    test: Test
    n: int
    """Replicates or trials."""
    seed: int
    difference: float | None
    """Score of b minus score of a."""
    interval: Interval | None
    p: float | None
    """Two-sided; 1 for the very same output."""
    p_corrected: float | None
    correction: Correction
    direction: str | None
    """b is better, worse or equal; null where a score is undefined. Whether that is more than chance, p says."""
    significant: bool
    same_output: bool


class Progress(BaseModel):
    """How far workers have come with randomization tests."""

    comparison: int
    running: bool
    trials: int
    trials_done: int
    failure: str


class Comparisons(BaseModel):
    """All pairs of some systems."""

    campaign: str
    test_set: str
    version: str
    references: list[str]
    test: Test
    correction: Correction
    alpha: float
    systems: list[ComparedSystem]
    pairs: list[PairTest]
    lacking: int
    """Tests that are not made yet: POST asks for them. Not counted by the correction until they are."""
    drawing: int
    """More replicates that are being drawn, since the correction needs them: until they are, there are no pairs. Ask
    again in a moment; 0 where nothing is drawn."""
    progress: Progress | None


class Comparing:
    """Which systems are compared, and how."""

    def __init__(
        self,
        system: Annotated[
            list[int] | None,
            Query(
                max_length=MOST_SYSTEMS, description="Numbers of submissions on the leaderboard; the best 8 without."
            ),
        ] = None,
        test_set: Annotated[str, Query(max_length=300, description="Name, or name@version.")] = "",
        references: Annotated[str, Query(max_length=1000, description="Labels with commas between them.")] = "",
        metric: Annotated[str, Query(max_length=500, description="Only this one.")] = "",
        test: Test = Test.BOOTSTRAP,
        correction: Correction = Correction.NONE,
        board: Annotated[int | None, Query(ge=1, description="The number of a board that is not the newest.")] = None,
    ) -> None:
        self.systems, self.test_set, self.references, self.metric = system or [], test_set, references, metric
        self.test, self.correction, self.board = test, correction, board


@router.get("/campaigns/{name}/comparisons")
def read_comparisons(
    request: Request,
    name: str,
    principal: Asking,
    asked: Annotated[Comparing, Depends()],
    comparison: Annotated[
        int | None, Query(ge=1, le=2**53, description="What POST answered: says how far it has come.")
    ] = None,
) -> Comparisons:
    """All pairs of the systems named, by every metric or one: differences, intervals, p-values.

    Bootstrap tests come from what is stored; where the correction needs smaller p-values than the stored replicates can
    give, more are drawn (`n` says how many). Without a correction a difference is significant where the leaderboard
    counts it. Randomization tests are made when somebody asks for them by POST; until
    then they are `lacking`.
    """
    with reading(state_of(request).engine) as connection:
        sight, _, view, wanted = seen_comparison(connection, request, principal, name, asked)
        compared = compare(connection, state_of(request).boards, view, wanted)
        trying = None if comparison is None else read_trying(connection, view, comparison)
    return _answer(sight, view, compared, trying)


@router.post("/campaigns/{name}/comparisons", response_model=Comparisons, status_code=202)
def request_comparisons(
    request: Request, name: str, principal: Asking, asked: Annotated[Comparing, Depends()]
) -> Response:
    """Have the randomization tests made that are lacking, at most of 20 systems.

    200: all are there. 202: workers are at it; ask again at the address in `Location`.
    """
    sight, _, view, wanted, comparison = begin_trials(request, principal, name, asked)
    with reading(state_of(request).engine) as connection:
        compared = compare(connection, state_of(request).boards, view, wanted)
        trying = None if comparison is None else read_trying(connection, view, comparison)
    answer = _answer(sight, view, compared, trying)
    headers = {}
    if comparison is not None:
        there = request.url.include_query_params(comparison=comparison, test=Test.RANDOMIZATION.value)
        headers["Location"] = f"{there.path}?{there.query}"
    return JSONResponse(answer.model_dump(mode="json"), 202 if comparison is not None else 200, headers)


class CancellingComparison(BaseModel):
    """Why."""

    reason: str = Field(default="", max_length=1000)


@router.post("/campaigns/{name}/comparisons/{comparison}/cancel", status_code=204)
def cancel_running_comparison(
    request: Request,
    name: str,
    comparison: Annotated[int, Path(ge=1, lt=2**63)],
    principal: Asking,
    how: CancellingComparison,
) -> None:
    """End a comparison that runs; what is stored stays, and the same tests may be asked for again. For organisers."""
    with writing(state_of(request).engine, durable=True) as connection:
        sight = read_sight(connection, principal, name)
        cancel_comparison(connection, sight, comparison, reason=how.reason)


def begin_trials(
    request: Request, principal: Principal, name: str, asked: Comparing
) -> tuple[Sight, Choice, BoardView, Wanted, int | None]:
    """Ask workers for what is lacking; with the number of the comparison where they are at it."""
    principal.require(Scope.READ)
    state, asked.test = state_of(request), Test.RANDOMIZATION
    with reading(state.engine) as connection:
        sight, choice, view, wanted = seen_comparison(connection, request, principal, name, asked)
    team = next(iter(sight.own_teams), "")
    return sight, choice, view, wanted, request_trials(state.engine, state.settings, view, wanted, team)


def seen_comparison(
    connection: Any, request: Request, principal: Principal, name: str, asked: Comparing
) -> tuple[Sight, Choice, BoardView, Wanted]:
    """The systems that are meant, on the board that they stand on, as whoever asks sees it."""
    sight = read_sight(connection, principal, name)
    require_board(sight)
    choice = find_choice(read_choices(connection, sight), asked.test_set, asked.references, asked.board)
    metric = find_metric(choice.listed, asked.metric, sight.ranked_by)
    view = state_of(request).boards.view(connection, choice.listed, Wish(metric, Shown.ALL))
    metrics = [metric] if asked.metric else list(range(len(choice.listed.metrics)))
    return sight, choice, view, Wanted(choose_systems(view, asked.systems), metrics, asked.test, asked.correction)


def _answer(sight: Sight, view: BoardView, compared: Compared, trying: Trying | None) -> Comparisons:
    wanted, listed = compared.wanted, view.listed
    names = [name_of(sight, each).title for each in wanted.systems]
    pairs = []
    for metric, results in zip(wanted.metrics, compared.results, strict=False):
        higher = all(each.figures[metric].higher_is_better for each in wanted.systems)
        for each in results:
            p = each.p if wanted.correction is Correction.NONE else each.p_corrected
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
                    difference=_known(each.difference),
                    interval=each.interval
                    and Interval(
                        level=LEVEL, low=each.interval[0], high=each.interval[1], kind="percentile", n=listed.replicates
                    ),
                    p=_known(each.p),
                    p_corrected=None if wanted.correction is Correction.NONE else _known(each.p_corrected),
                    correction=wanted.correction,
                    direction=direction(each.difference, higher_is_better=higher),
                    significant=p < ALPHA,
                    same_output=(each.a, each.b) in compared.same_output,
                )
            )
    return Comparisons(
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
        lacking=compared.lacking,
        drawing=compared.draws if compared.drawing else 0,
        progress=None
        if trying is None
        else Progress(
            comparison=trying.comparison,
            running=trying.running,
            trials=trying.trials,
            trials_done=trying.trials_done,
            failure=trying.failure,
        ),
    )


def direction(difference: float, *, higher_is_better: bool) -> str | None:
    """How the second system of a pair does beside the first."""
    if math.isnan(difference):
        return None
    if not difference:
        return "equal"
    return "better" if (difference > 0) == higher_is_better else "worse"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
