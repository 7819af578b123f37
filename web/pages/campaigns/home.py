"""The home page: the list of campaigns."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from campaigns.permissions import UnreadableCampaign, visible_campaigns
from models.database.session import reading
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page

router = APIRouter()


@router.get("/")
def home(request: Request, principal: CurrentPrincipal) -> Response:
    """List the campaigns that the user may see."""
    with reading(app_state(request).engine) as connection:
        unreadable: list[UnreadableCampaign] = []
        campaigns = visible_campaigns(connection, principal, unreadable=unreadable)
    return page(request, "campaigns/home", title="Campaigns", campaigns=campaigns, unreadable=unreadable)
