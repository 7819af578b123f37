"""Leaderboards of campaigns, also as files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from campaigns.accounts.principal import Principal
from campaigns.errors import BadRequest
from campaigns.leaderboards.choice import BoardChoice, find_choice, find_metric, read_choices, require_board
from campaigns.leaderboards.documents import board_document
from campaigns.leaderboards.downloads import as_csv, as_latex, as_tsv, file_name
from campaigns.leaderboards.view import BoardQuery, BoardView, Constrained, SystemFilter
from campaigns.permissions import CampaignAccess, read_access
from models.database.session import reading
from web.dependencies import CurrentPrincipal, app_state
from web.etags import board_etag, not_modified

router = APIRouter(tags=["leaderboards"])

DIGITS = 9


class LeaderboardSummary(BaseModel):
    """A leaderboard of a campaign."""

    board: int
    """Its number, for the parameter `board`."""
    test_set: str
    version: str
    references: list[str]
    metrics: list[str]
    replicates: int
    replaced: bool
    """Whether its test set was replaced by a version with corrected references."""
    superseded: bool
    """Whether a newer leaderboard supersedes it."""


class LeaderboardListResponse(BaseModel):
    """The leaderboards of a campaign, the default one first."""

    items: list[LeaderboardSummary]
    next: None = None


class ScoreInterval(BaseModel):
    """Confidence interval of a score."""

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
    """The perfect score; null for an open-ended scale."""
    score: float | None
    """null where it is undefined; the mean where there are several runs."""
    interval: ScoreInterval | None
    runs: list[float | None]
    """The score of each run, where there are several."""
    details: dict[str, float]
    rank: int | None
    """This and the next four fields: only for the ranking metric; null where the system is not ranked."""
    rank_low: int | None
    rank_high: int | None
    cluster: int | None
    wins: int | None


class BoardSystem(BaseModel):
    """A system on a leaderboard."""

    submission: int
    """The number that identifies it in comparisons."""
    submissions: list[int]
    """One for each run."""
    name: str
    """As pages show it."""
    team: str
    """"Team 7" where it is anonymous; "" for the organisers' own systems."""
    system: str | None
    """null where it would identify an anonymous team."""
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
    """Empty until the evaluation is done."""


class BoardRanking(BaseModel):
    """How rank ranges and clusters were computed."""

    test: str
    draws: int
    """Replicates of each test."""
    alpha: float
    correction: str
    fault: str | None
    """Why no test was possible, or what limits the tests."""
    testing: int
    """Pairs still being tested; ranges and clusters appear when it reaches 0. Ask again later."""


class LeaderboardResponse(BaseModel):
    """The systems of a campaign on one test set and list of references, best first."""

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
    shown: SystemFilter
    constrained: Constrained
    ranking: BoardRanking
    not_ranked: int
    """Number of unranked systems, shown or not; shown=all shows them."""
    notices: list[str]
    """Warnings about the scores, such as a tokenizer that does not fit the language."""
    total: int
    items: list[BoardSystem]
    next: str | None
    """Value of `after` for the next page; null on the last page."""


class BoardFilters:
    """Query parameters that select a leaderboard and its systems."""

    def __init__(
        self,
        test_set: Annotated[str, Query(max_length=300, description="Name, or name@version.")] = "",
        references: Annotated[str, Query(max_length=1000, description="Labels, separated by commas.")] = "",
        metric: Annotated[str, Query(max_length=500, description="The ranking metric.")] = "",
        shown: Annotated[
            SystemFilter, Query(description="ranked: one system per team; all: unranked systems, too.")
        ] = SystemFilter.RANKED,
        constrained: Annotated[Constrained, Query(description="yes, no, or empty for all systems.")] = Constrained.ANY,
        board: Annotated[
            int | None, Query(ge=1, description="The number of a leaderboard, to select one that is not the newest.")
        ] = None,
    ) -> None:
        self.test_set, self.references, self.metric = test_set, references, metric
        self.shown, self.constrained, self.board = shown, constrained, board


def read_board(
    request: Request, principal: Principal, name: str, filters: BoardFilters
) -> tuple[CampaignAccess, BoardChoice, BoardView]:
    """The selected leaderboard, as the principal may see it. Raises NotFound and Forbidden."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        require_board(access)
        choices = read_choices(connection, access)
        choice = find_choice(choices, filters.test_set, filters.references, filters.board)
        metric = find_metric(choice.listed, filters.metric, access.ranked_by)
        view = state.boards.view(connection, choice.listed, BoardQuery(metric, filters.shown, filters.constrained))
    return access, choice, view


@router.get("/campaigns/{name}/leaderboards")
def list_leaderboards(request: Request, name: str, principal: CurrentPrincipal) -> LeaderboardListResponse:
    """List the leaderboards of a campaign: one for each test set and list of references."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        require_board(access)
        choices = read_choices(connection, access)
    return LeaderboardListResponse(
        items=[
            LeaderboardSummary(
                board=each.listed.protocol_id,
                test_set=each.listed.test_set,
                version=each.listed.version,
                references=list(each.listed.references),
                metrics=list(each.listed.metrics),
                replicates=each.listed.replicates,
                replaced=each.replaced,
                superseded=each.superseded,
            )
            for each in choices
        ]
    )


@router.get("/campaigns/{name}/leaderboard", response_model=LeaderboardResponse)
def read_leaderboard(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[BoardFilters, Depends()],
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str, Query(max_length=DIGITS)] = "",
) -> Response:
    """Read a leaderboard: the systems, best first, with scores, intervals, rank ranges and clusters by WMT's rule.

    Defaults: the campaign's first test set and its longest list of references. Ranks are those among the systems
    shown. Withdrawn submissions are left out; anonymous teams stay anonymous. The response has an ETag; a request with
    it in If-None-Match is answered with 304 until something changes.
    """
    if after and not (after.isascii() and after.isdigit()):
        raise BadRequest('"after" is not the "next" of a previous page.')
    access, choice, view = read_board(request, principal, name, filters)
    tag = board_etag(view, access, choice, limit, after)
    if known := not_modified(request, tag):
        return known
    first = int(after or 0)
    shown = board_document(choice, view, access, view.lines[first : first + limit])
    shown["next"] = str(first + limit) if first + limit < len(view.lines) else None
    return JSONResponse(shown, headers={"ETag": tag})


@router.get(
    "/campaigns/{name}/leaderboard.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}}
)
def download_leaderboard_csv(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[BoardFilters, Depends()],
) -> Response:
    """Download the whole leaderboard as CSV, one row per system and metric.

    Texts that a spreadsheet would take for formulas are prefixed with an apostrophe.
    """
    return _download(request, read_board(request, principal, name, filters), as_csv, ".csv", "text/csv")


@router.get(
    "/campaigns/{name}/leaderboard.tsv",
    response_class=Response,
    responses={200: {"content": {"text/tab-separated-values": {}}}},
)
def download_leaderboard_tsv(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[BoardFilters, Depends()],
) -> Response:
    """Download the whole leaderboard as TSV, with the columns of the CSV file."""
    return _download(
        request, read_board(request, principal, name, filters), as_tsv, ".tsv", "text/tab-separated-values"
    )


@router.get(
    "/campaigns/{name}/leaderboard.tex", response_class=Response, responses={200: {"content": {"text/x-tex": {}}}}
)
def download_leaderboard_latex(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[BoardFilters, Depends()],
) -> Response:
    """Download the leaderboard as a LaTeX table in booktabs style, with a rule between clusters."""
    return _download(request, read_board(request, principal, name, filters), as_latex, ".tex", "text/x-tex")


@router.get("/campaigns/{name}/leaderboard.json", response_model=LeaderboardResponse)
def download_leaderboard_json(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[BoardFilters, Depends()],
) -> Response:
    """Download the whole leaderboard as JSON."""
    access, choice, view = read_board(request, principal, name, filters)
    tag = board_etag(view, access, choice)
    if known := not_modified(request, tag):
        return known
    shown: dict[str, Any] = {**board_document(choice, view, access, view.lines), "next": None}
    return JSONResponse(shown, headers={"ETag": tag, **_attachment(file_name(view, ".json"))})


def _download(
    request: Request,
    seen: tuple[CampaignAccess, BoardChoice, BoardView],
    write: Callable[[BoardView, CampaignAccess], str],
    ending: str,
    kind: str,
) -> Response:
    access, choice, view = seen
    tag = board_etag(view, access, choice, ending)
    if known := not_modified(request, tag):
        return known
    headers = {"ETag": tag, **_attachment(file_name(view, ending))}
    return Response(write(view, access), media_type=f"{kind}; charset=utf-8", headers=headers)


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
