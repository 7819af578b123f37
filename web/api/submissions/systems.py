"""Systems of a campaign."""

from __future__ import annotations

from fastapi import APIRouter, Request

from campaigns.permissions import read_access
from campaigns.submissions.systems import SystemView, list_systems
from models.database.session import reading
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from steelyard_client.documents.submissions.submissions import SystemResponse
from web.api.paging import After, Limit, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["submissions"])


@router.get("/campaigns/{name}/systems")
def list_campaign_systems(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[SystemResponse]:
    """List the systems of your teams, and those of others where the leaderboard shows names; organisers see all."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        found = list_systems(connection, access, limit=limit, after=parse_cursor(after))
    return Page[SystemResponse](**make_page(found, limit, _system_response))


def _system_response(seen: SystemView) -> SystemResponse:
    return SystemResponse(
        team=seen.team,
        system=seen.system,
        own=seen.own,
        submissions=seen.submissions,
        first_at=utc(seen.first_at),
        last_at=utc(seen.last_at),
    )
