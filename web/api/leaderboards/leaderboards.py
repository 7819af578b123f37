"""Leaderboards of campaigns, also as files."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse

from campaigns.accounts.principal import Principal
from campaigns.errors import BadRequest
from campaigns.leaderboards.choice import BoardChoice, find_choice, find_metric, read_choices, require_board
from campaigns.leaderboards.documents import board_document
from campaigns.leaderboards.downloads import as_csv, as_latex, as_tsv, file_name
from campaigns.leaderboards.view import BoardQuery, BoardView, Constrained, SystemFilter
from campaigns.permissions import CampaignAccess, read_access
from models.database.session import reading
from web.api.document import Document
from web.api.paging import After, Limit, Page, slice_page
from web.dependencies import CurrentPrincipal, app_state
from web.etags import NOT_MODIFIED, board_etag, not_modified

router = APIRouter(tags=["leaderboards"])

DIGITS = 9
MOST_SYSTEMS = 1000
"""Systems in one response."""
TEXT = {"schema": {"type": "string"}}


class BoardFormat(StrEnum):
    """A format of leaderboards."""

    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    LATEX = "latex"


FILES: dict[BoardFormat, tuple[Callable[[BoardView, CampaignAccess], str], str, str]] = {
    BoardFormat.CSV: (as_csv, ".csv", "text/csv"),
    BoardFormat.TSV: (as_tsv, ".tsv", "text/tab-separated-values"),
    BoardFormat.LATEX: (as_latex, ".tex", "text/x-tex"),
}
"""How each is written, the ending of its files, and its media type."""


class LeaderboardSummary(Document):
    """A leaderboard of a campaign."""

    board: int
    """Its number, for the parameter `board`."""
    test_set: str
    """Name of the test set."""
    version: str
    """The version of the test set."""
    references: list[str]
    """Labels of the references."""
    metrics: list[str]
    """Specifications of the metrics."""
    replicates: int
    """Number of bootstrap replicates."""
    replaced: bool
    """Whether its test set was replaced by a version with corrected references."""
    superseded: bool
    """Whether a newer leaderboard supersedes it."""


class ScoreInterval(Document):
    """Confidence interval of a score."""

    level: float
    """The confidence level, such as 0.95."""
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""
    kind: str
    """How the interval was computed."""
    n: int
    """Bootstrap replicates."""


class BoardScore(Document):
    """A system's score by one metric."""

    metric: str
    """Its specification."""
    title: str
    """Its title, as pages show it."""
    signature: str
    """The signature: everything that the score depends on."""
    higher_is_better: bool
    """Whether a higher score is better."""
    scale: float | None
    """The perfect score; null for an open-ended scale."""
    score: float | None
    """null where it is undefined; the mean where there are several runs."""
    interval: ScoreInterval | None
    """Its confidence interval; null where there is none."""
    runs: list[float | None]
    """The score of each run, where there are several."""
    details: dict[str, float]
    """Further figures of the metric, by name."""
    rank: int | None
    """This and the next four fields: only for the ranking metric; null where the system is not ranked."""
    rank_low: int | None
    """The best rank that the tests allow."""
    rank_high: int | None
    """The worst rank that the tests allow."""
    cluster: int | None
    """The number of its cluster, from 1."""
    wins: int | None
    """How many systems it beats significantly."""


class BoardSystem(Document):
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
    """Whether it belongs to a team of the account."""
    runs: list[str]
    """Labels of its runs."""
    state: str
    """State of its evaluation."""
    reason: str | None
    """Why it failed or was cancelled; null otherwise."""
    kind: str
    """primary, contrastive or ""."""
    ranked: bool
    """Whether it is ranked."""
    constrained: bool | None
    """Whether it used only the permitted data; null if not specified."""
    late_seconds: float
    """By how much it missed the deadline, in seconds; 0 if it was in time."""
    same_output_as: str | None
    """Name of a system with an identical output; null if there is none."""
    scores: list[BoardScore]
    """Empty until the evaluation is done."""


class BoardRanking(Document):
    """How rank ranges and clusters were computed."""

    test: str
    """The significance test of the ranking."""
    draws: int
    """Replicates of each test."""
    alpha: float
    """The significance level."""
    correction: str
    """The correction for multiple tests."""
    fault: str | None
    """Why no test was possible, or what limits the tests."""
    testing: int
    """Pairs still being tested; ranges and clusters appear when it reaches 0. Ask again later."""


class LeaderboardResponse(Document):
    """The systems of a campaign on one test set and list of references, best first."""

    campaign: str
    """Name of the campaign."""
    test_set: str
    """Name of the test set."""
    version: str
    """The version of the test set."""
    replaced: bool
    """Whether the test set was replaced by a version with corrected references."""
    references: list[str]
    """Labels of the references."""
    metrics: list[str]
    """Specifications of the metrics."""
    board: int
    """Number of the leaderboard."""
    replicates: int
    """Number of bootstrap replicates."""
    seed: int
    """Seed of the resampling."""
    segments: int
    """Number of segments of the test set."""
    sorted_by: str
    """The metric that ranks."""
    shown: SystemFilter
    """Which systems are shown."""
    constrained: Constrained
    """Which systems are shown, by their training data."""
    ranking: BoardRanking
    """How rank ranges and clusters were computed."""
    not_ranked: int
    """Number of unranked systems, shown or not; shown=all shows them."""
    notices: list[str]
    """Warnings about the scores, such as a tokenizer that does not fit the language."""
    total: int
    """Number of systems shown, on all pages together."""
    items: list[BoardSystem]
    """The systems of this page, best first."""
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
def list_leaderboards(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[LeaderboardSummary]:
    """List the leaderboards of a campaign, one for each test set and list of references; the default one first."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        require_board(access)
        choices, following = slice_page(read_choices(connection, access), limit, after)
    return Page(
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
        ],
        next=following,
    )


@router.get(
    "/campaigns/{name}/leaderboard",
    response_model=LeaderboardResponse,
    responses={200: {"content": {kind: TEXT for _, _, kind in FILES.values()}}, **NOT_MODIFIED},
)
def read_leaderboard(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[BoardFilters, Depends()],
    limit: Annotated[int, Query(ge=1, le=MOST_SYSTEMS, description="Maximum number of systems, of JSON.")] = 50,
    after: Annotated[
        str, Query(max_length=DIGITS, description='The "next" of the previous page; empty for the first page.')
    ] = "",
    form: Annotated[
        BoardFormat, Query(alias="format", description="JSON in pages, or a file with all systems.")
    ] = BoardFormat.JSON,
) -> Response:
    """Read a leaderboard: the systems, best first, with scores, intervals, rank ranges and clusters by WMT's rule.

    Defaults: the campaign's first test set and its longest list of references. Ranks are those among the systems
    shown. Withdrawn submissions are left out; anonymous teams stay anonymous. CSV and TSV have one row per system and
    metric, and an apostrophe before texts that a spreadsheet would take for formulas; LaTeX is a table in booktabs
    style, with a rule between clusters. The response has an ETag; a request with it in If-None-Match is answered with
    304 until something changes.
    """
    if after and not (after.isascii() and after.isdigit()):
        raise BadRequest('"after" is not the "next" of a previous page.')
    access, choice, view = read_board(request, principal, name, filters)
    tag = board_etag(view, access, choice, form, limit, after)
    if known := not_modified(request, tag):
        return known
    if form in FILES:
        write, ending, kind = FILES[form]
        headers = {"ETag": tag, "Content-Disposition": f'attachment; filename="{file_name(view, ending)}"'}
        return Response(write(view, access), media_type=f"{kind}; charset=utf-8", headers=headers)
    first = int(after or 0)
    shown = board_document(choice, view, access, view.lines[first : first + limit])
    shown["next"] = str(first + limit) if first + limit < len(view.lines) else None
    return JSONResponse(shown, headers={"ETag": tag})
