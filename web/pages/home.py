"""The first page: which campaigns there are."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from campaigns.permissions import UnreadableCampaign, visible_campaigns
from models.database.session import reading
from web.dependencies import Asking, state_of
from web.pages.rendering import page

router = APIRouter()


@router.get("/")
def home(request: Request, principal: Asking) -> Response:
    """All campaigns that one may know of."""
    with reading(state_of(request).engine) as connection:
        unreadable: list[UnreadableCampaign] = []
        campaigns = visible_campaigns(connection, principal, unreadable=unreadable)
    return page(request, "home", title="Campaigns", campaigns=campaigns, unreadable=unreadable)
