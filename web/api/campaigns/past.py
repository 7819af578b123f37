"""Campaigns that are over, and clones of campaigns."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from campaigns.cloning import CloneRequest, clone_campaign
from campaigns.fields.times import parse_local_time
from campaigns.past_campaigns import list_past_campaigns
from campaigns.permissions import read_access
from models.database.session import reading, writing
from steelyard_client.documents.campaigns.campaigns import CampaignResponse
from steelyard_client.documents.campaigns.past_campaigns import CampaignClone, PastCampaign
from steelyard_client.documents.paging import Page
from web.api.campaigns.campaigns import campaign_response
from web.api.paging import After, Limit, parse_cursor
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["campaigns"])


@router.get("/archive", name="list_past_campaigns")
def list_archive(
    request: Request, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[PastCampaign]:
    """List the campaigns whose results are published, newest first, with their winners."""
    state = app_state(request)
    with reading(state.engine) as connection:
        found, following = list_past_campaigns(
            connection, state.boards, principal, limit=limit, after=parse_cursor(after)
        )
    return Page[PastCampaign](items=found, next=None if following is None else str(following))


@router.post("/campaigns/{name}/clone", status_code=201, name="clone_campaign")
def clone_one_campaign(
    request: Request, response: Response, name: str, new: CampaignClone, principal: CurrentPrincipal
) -> CampaignResponse:
    """Create a campaign with the rules, phases, terms and test sets of another one. For organisers of both."""
    state = app_state(request)
    with writing(state.engine, durable=True) as connection:
        old = read_access(connection, principal, name)
        starts_at = parse_local_time(new.starts, old.time_zone) if new.starts else None
        request_ = CloneRequest(new.name, new.title, starts_at, new.test_sets, new.teams)
        clone_campaign(connection, state.settings, principal, name, request_)
        return campaign_response(connection, response, read_access(connection, principal, new.name))
