"""A leaderboard's systems by document, domain and length, also as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from campaigns.leaderboards.breakdown import BreakdownQuery, read_breakdown
from campaigns.leaderboards.choice import find_choice, find_metric, read_choices, require_board
from campaigns.leaderboards.view import BoardQuery
from campaigns.permissions import read_access
from models.database.session import reading
from steelyard.tables.delimited import as_csv, as_tsv
from steelyard.tables.latex import as_latex
from steelyard_client.commands.leaderboards.breakdown import COLUMNS, rows_of, table_of
from steelyard_client.documents.leaderboards.breakdowns import BreakdownResponse
from steelyard_client.vocabulary import Average, Grouping
from web.api.leaderboards.leaderboards import FILES, TEXT, BoardFilters, BoardFormat
from web.dependencies import IN_TURN, CurrentPrincipal, app_state
from web.etags import NOT_MODIFIED, etag_of, not_modified

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.leaderboards.view import Boards
    from campaigns.permissions import CampaignAccess

router = APIRouter(tags=["leaderboards"])

MOST_SYSTEMS = 1000


class BreakdownFilters:
    """Query parameters that select groups, what ranks, and systems."""

    def __init__(
        self,
        by: Annotated[Grouping, Query(description="What segments are grouped by.")] = Grouping.DOMAIN,
        average: Annotated[
            Average, Query(description="What ranks: micro, the whole test set; macro, the mean of all groups.")
        ] = Average.MICRO,
        system: Annotated[
            list[int] | None, Query(max_length=MOST_SYSTEMS, description="Only these submissions; may be repeated.")
        ] = None,
    ) -> None:
        self.query = BreakdownQuery(by, average, tuple(system or ()))


def breakdown_document(
    connection: Connection, boards: Boards, access: CampaignAccess, filters: BoardFilters, parts: BreakdownFilters
) -> BreakdownResponse:
    """Return the scores by group of a leaderboard that requests name. Raises as `read_breakdown`."""
    require_board(access)
    choice = find_choice(read_choices(connection, access), filters.test_set, filters.references, filters.board)
    metric = find_metric(choice.listed, filters.metric, access.ranked_by)
    view = boards.view(connection, choice.listed, BoardQuery(metric, filters.shown, filters.constrained))
    return read_breakdown(connection, boards.memory, access, view, parts.query)


@router.get(
    "/campaigns/{name}/breakdown",
    response_model=BreakdownResponse,
    responses={200: {"content": {kind: TEXT for _, kind in FILES.values()}}, **NOT_MODIFIED},
    dependencies=[IN_TURN],
)
def read_campaign_breakdown(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[BoardFilters, Depends()],
    parts: Annotated[BreakdownFilters, Depends()],
    form: Annotated[BoardFormat, Query(alias="format", description="JSON, or a file.")] = BoardFormat.JSON,
) -> Response:
    """Read the scores of a leaderboard's systems by document, domain or length, by one metric.

    Each is what the metric's formula gives for the group's segments alone. `average=macro` ranks by the plain mean of
    all groups, as WMT24 ranks by domains. Like scores of segments, they appear once the references are released, of
    systems whose outputs the account sees. CSV and TSV have a row for each system and group.
    """
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        found = breakdown_document(connection, state.boards, access, filters, parts)
    if form in FILES:
        ending, kind = FILES[form]
        if form is BoardFormat.LATEX:
            file = as_latex(table_of(found))
        else:
            file = (as_csv if form is BoardFormat.CSV else as_tsv)(COLUMNS, rows_of(found))
        media = f"{kind}; charset=utf-8"
        headers = {"Content-Disposition": f'attachment; filename="by-{found.by}{ending}"'}
    else:
        file, media, headers = found.model_dump_json(), "application/json", {}
    tag = etag_of(file.encode())
    if known := not_modified(request, tag):
        return known
    return Response(file, media_type=media, headers={**headers, "ETag": tag})
