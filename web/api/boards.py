"""Leaderboards of campaigns, also as files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from campaigns.accounts.principal import Principal
from campaigns.errors import BadRequest
from campaigns.leaderboards.choice import Choice, find_choice, find_metric, read_choices, require_board
from campaigns.leaderboards.documents import as_object
from campaigns.leaderboards.downloads import as_csv, as_latex, as_tsv, file_name
from campaigns.leaderboards.view import BoardView, Constrained, Shown, Wish
from campaigns.permissions import Sight, read_sight
from models.database.session import reading
from web.dependencies import Asking, state_of
from web.etags import unchanged, version_of

router = APIRouter(tags=["leaderboards"])

DIGITS = 9


class BoardListed(BaseModel):
    """A leaderboard of a campaign."""

    board: int
    """Its number, for the parameter of that name."""
    test_set: str
    version: str
    references: list[str]
    metrics: list[str]
    replicates: int
    replaced: bool
    """Whether its test set has been replaced by one with corrected references."""
    outgrown: bool
    """Whether a newer one says everything of it."""


class BoardList(BaseModel):
    """The leaderboards of a campaign, what one asks for first coming first."""

    items: list[BoardListed]
    next: None = None


class Interval(BaseModel):
    """Where a score may lie."""

    level: float
    low: float
    high: float
    kind: str
    n: int
    """Bootstrap replicates."""


class BoardScore(BaseModel):
    """A system's score by one metric."""

    metric: str
    """Its specification."""
    title: str
    signature: str
    higher_is_better: bool
    scale: float | None
    """What a perfect score is; null where the scale has no end."""
    score: float | None
    """null where it is undefined; of several runs the mean."""
    interval: Interval | None
    runs: list[float | None]
    """Of each run, where there are several."""
    details: dict[str, float]
    rank: int | None
    """By the metric that ranks only, as what follows; null where the system is not ranked."""
    rank_low: int | None
    rank_high: int | None
    cluster: int | None
    wins: int | None


class BoardSystem(BaseModel):
    """A line of a leaderboard."""

    submission: int
    """The number by which it is compared with others."""
    submissions: list[int]
    """One for each run."""
    name: str
    """As pages show it."""
    team: str
    """"Team 7" where it is anonymous; "" for the organisers' own systems."""
    system: str | None
    """null where it would tell who the team is."""
    own: bool
    runs: list[str]
    state: str
    reason: str | None
    kind: str
    """primary, contrastive or ""."""
    ranked: bool
    constrained: bool | None
    late_seconds: float
    same_output_as: str | None
    scores: list[BoardScore]
    """Empty until it is done."""


class BoardRanking(BaseModel):
    """How ranges and clusters were found."""

    test: str
    draws: int
    """Replicates of each test."""
    alpha: float
    correction: str
    fault: str | None
    """Why nothing could be tested, or what keeps the tests from their promise."""
    testing: int
    """Pairs that are still being tested: until all are, there are no ranges and clusters. Ask again in a moment."""


class Leaderboard(BaseModel):
    """The systems of a campaign on a test set against some references, best first."""

    campaign: str
    test_set: str
    version: str
    replaced: bool
    references: list[str]
    metrics: list[str]
    board: int
    replicates: int
    seed: int
    segments: int
    sorted_by: str
    """The metric that ranks."""
    shown: Shown
    constrained: Constrained
    ranking: BoardRanking
    not_ranked: int
    """Systems that stand here without a rank, whether they are shown or not: shown=all shows them."""
    notices: list[str]
    """What whoever reads the scores must know, such as a tokenizer that does not fit the language."""
    total: int
    items: list[BoardSystem]
    next: str | None
    """Where to go on: give it as `after`."""


class Filters:
    """Which board, and which of its systems."""

    def __init__(
        self,
        test_set: Annotated[str, Query(max_length=300, description="Name, or name@version.")] = "",
        references: Annotated[str, Query(max_length=1000, description="Labels with commas between them.")] = "",
        metric: Annotated[str, Query(max_length=500, description="The one that ranks.")] = "",
        shown: Annotated[
            Shown, Query(description="ranked: one system of each team; all: those that are not ranked, too.")
        ] = Shown.RANKED,
        constrained: Annotated[Constrained, Query(description="yes, no, or empty for all.")] = Constrained.ANY,
        board: Annotated[int | None, Query(ge=1, description="The number of a board that is not the newest.")] = None,
    ) -> None:
        self.test_set, self.references, self.metric = test_set, references, metric
        self.shown, self.constrained, self.board = shown, constrained, board


def seen_board(request: Request, principal: Principal, name: str, filters: Filters) -> tuple[Sight, Choice, BoardView]:
    """The board that is meant, as whoever asks sees it. Raises NotThere and Forbidden."""
    state = state_of(request)
    with reading(state.engine) as connection:
        sight = read_sight(connection, principal, name)
        require_board(sight)
        choices = read_choices(connection, sight)
        choice = find_choice(choices, filters.test_set, filters.references, filters.board)
        metric = find_metric(choice.listed, filters.metric, sight.ranked_by)
        view = state.boards.view(connection, choice.listed, Wish(metric, filters.shown, filters.constrained))
    return sight, choice, view


@router.get("/campaigns/{name}/leaderboards")
def list_leaderboards(request: Request, name: str, principal: Asking) -> BoardList:
    """Which leaderboards a campaign has: one for each test set and list of references."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
        require_board(sight)
        choices = read_choices(connection, sight)
    return BoardList(
        items=[
            BoardListed(
                board=each.listed.protocol_id,
                test_set=each.listed.test_set,
                version=each.listed.version,
                references=list(each.listed.references),
                metrics=list(each.listed.metrics),
                replicates=each.listed.replicates,
                replaced=each.replaced,
                outgrown=each.outgrown,
            )
            for each in choices
        ]
    )


@router.get("/campaigns/{name}/leaderboard", response_model=Leaderboard)
def read_campaign_leaderboard(
    request: Request,
    name: str,
    principal: Asking,
    filters: Annotated[Filters, Depends()],
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str, Query(max_length=DIGITS)] = "",
) -> Response:
    """The systems of a campaign, best first, with scores, intervals, rank ranges and clusters by WMT's rule.

    Without `test_set` and `references` it is the campaign's first test set, against the most references. Ranks are
    those among the systems that are shown. What was withdrawn does not stand here; names are those that one may know.
    The answer has an ETag: sent back as If-None-Match, it is 304 until something changes.
    """
    if after and not (after.isascii() and after.isdigit()):
        raise BadRequest('"after" is not what an earlier answer gave as "next".')
    sight, choice, view = seen_board(request, principal, name, filters)
    tag = version_of(view, sight, choice, limit, after)
    if known := unchanged(request, tag):
        return known
    first = int(after or 0)
    shown = as_object(choice, view, sight, view.lines[first : first + limit])
    shown["next"] = str(first + limit) if first + limit < len(view.lines) else None
    return JSONResponse(shown, headers={"ETag": tag})


@router.get(
    "/campaigns/{name}/leaderboard.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}}
)
def download_csv(
    request: Request,
    name: str,
    principal: Asking,
    filters: Annotated[Filters, Depends()],
) -> Response:
    """The whole leaderboard as CSV, one row per system and metric.

    An apostrophe stands before texts that a spreadsheet would take for formulas.
    """
    return _file(request, seen_board(request, principal, name, filters), as_csv, ".csv", "text/csv")


@router.get(
    "/campaigns/{name}/leaderboard.tsv",
    response_class=Response,
    responses={200: {"content": {"text/tab-separated-values": {}}}},
)
def download_tsv(
    request: Request,
    name: str,
    principal: Asking,
    filters: Annotated[Filters, Depends()],
) -> Response:
    """The same with tabs between the cells."""
    return _file(request, seen_board(request, principal, name, filters), as_tsv, ".tsv", "text/tab-separated-values")


@router.get(
    "/campaigns/{name}/leaderboard.tex", response_class=Response, responses={200: {"content": {"text/x-tex": {}}}}
)
def download_latex(
    request: Request,
    name: str,
    principal: Asking,
    filters: Annotated[Filters, Depends()],
) -> Response:
    """A table for LaTeX in booktabs' style, with a rule between clusters."""
    return _file(request, seen_board(request, principal, name, filters), as_latex, ".tex", "text/x-tex")


@router.get("/campaigns/{name}/leaderboard.json", response_model=Leaderboard)
def download_json(
    request: Request,
    name: str,
    principal: Asking,
    filters: Annotated[Filters, Depends()],
) -> Response:
    """The whole leaderboard in one answer, for keeping."""
    sight, choice, view = seen_board(request, principal, name, filters)
    tag = version_of(view, sight, choice)
    if known := unchanged(request, tag):
        return known
    shown: dict[str, Any] = {**as_object(choice, view, sight, view.lines), "next": None}
    return JSONResponse(shown, headers={"ETag": tag, **_attached(file_name(view, ".json"))})


def _file(
    request: Request,
    seen: tuple[Sight, Choice, BoardView],
    write: Callable[[BoardView, Sight], str],
    ending: str,
    kind: str,
) -> Response:
    sight, choice, view = seen
    tag = version_of(view, sight, choice, ending)
    if known := unchanged(request, tag):
        return known
    headers = {"ETag": tag, **_attached(file_name(view, ending))}
    return Response(write(view, sight), media_type=f"{kind}; charset=utf-8", headers=headers)


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
