"""Leaderboards of campaigns, also as files."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from campaigns.accounts.principal import Principal
from campaigns.errors import BadRequest
from campaigns.leaderboards.choice import BoardChoice, find_choice, find_metric, read_choices, require_board
from campaigns.leaderboards.documents import board_document
from campaigns.leaderboards.downloads import as_csv, as_tsv, file_name, table_of
from campaigns.leaderboards.view import BoardQuery, BoardView
from campaigns.permissions import CampaignAccess, read_access
from models.database.session import reading
from steelyard.tables.latex import as_latex
from steelyard_client.documents.leaderboards import LeaderboardResponse, LeaderboardSummary
from steelyard_client.documents.paging import Page
from steelyard_client.vocabulary import Constrained, SystemFilter
from web.api.paging import After, Limit, slice_page
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
    BoardFormat.LATEX: (lambda view, access: as_latex(table_of(view, access)), ".tex", "text/x-tex"),
}
"""How each is written, the ending of its files, and its media type."""


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
    following = str(first + limit) if first + limit < len(view.lines) else None
    shown = board_document(choice, view, access, view.lines[first : first + limit], following)
    return Response(shown.model_dump_json(), media_type="application/json", headers={"ETag": tag})
