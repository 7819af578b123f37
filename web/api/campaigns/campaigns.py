"""Campaigns: create, read, update, freeze, close, publish."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from sqlalchemy import Connection

from campaigns.changes import lock_for_change, version_of
from campaigns.permissions import CampaignAccess, read_access, visible_campaigns
from campaigns.phases import close_now, publish_now
from campaigns.rules import Rules, create_campaign, set_frozen, set_rules
from models.database.session import reading, writing
from steelyard_client.documents.campaigns import CampaignCreate, CampaignResponse, CampaignSummary, CampaignUpdate
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from web.api.paging import After, Limit, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["campaigns"])

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description="The ETag of the campaign; the change is refused if the campaign has changed since.",
    ),
]


@router.get("/campaigns")
def list_campaigns(
    request: Request, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[CampaignSummary]:
    """List the campaigns that you may see, newest first."""
    with reading(app_state(request).engine) as connection:
        accesses = visible_campaigns(connection, principal, before=parse_cursor(after), limit=limit + 1)
    return Page(
        **make_page(accesses, limit, lambda each: CampaignSummary(**_summary(each)), key=attrgetter("campaign_id"))
    )


@router.post("/campaigns", status_code=201, name="create_campaign")
def create_new_campaign(
    request: Request, response: Response, new: CampaignCreate, principal: CurrentPrincipal
) -> CampaignResponse:
    """Create a campaign; you become its organiser. For organisers and administrators of the server."""
    with writing(app_state(request).engine) as connection:
        create_campaign(connection, principal, new.name, _rules(new))
        return campaign_response(connection, response, read_access(connection, principal, new.name))


@router.get("/campaigns/{name}")
def read_campaign(request: Request, response: Response, name: str, principal: CurrentPrincipal) -> CampaignResponse:
    """Read a campaign with its rules and current state."""
    with reading(app_state(request).engine) as connection:
        return campaign_response(connection, response, read_access(connection, principal, name))


@router.patch("/campaigns/{name}")
def update_campaign(
    request: Request,
    response: Response,
    name: str,
    new: CampaignUpdate,
    principal: CurrentPrincipal,
    if_match: IfMatch = None,
) -> CampaignResponse:
    """Change the rules of a campaign; with If-Match, only if it has not changed since."""
    with writing(app_state(request).engine) as connection:
        set_rules(connection, lock_for_change(connection, principal, name, if_match), _rules(new))
        return campaign_response(connection, response, read_access(connection, principal, name))


@router.post("/campaigns/{name}/freeze")
def freeze_campaign(
    request: Request, response: Response, name: str, principal: CurrentPrincipal, if_match: IfMatch = None
) -> CampaignResponse:
    """Freeze a campaign: no submissions, declarations or withdrawals, regardless of its phases."""
    with writing(app_state(request).engine) as connection:
        set_frozen(connection, lock_for_change(connection, principal, name, if_match), True)
        return campaign_response(connection, response, read_access(connection, principal, name))


@router.post("/campaigns/{name}/unfreeze")
def unfreeze_campaign(
    request: Request, response: Response, name: str, principal: CurrentPrincipal, if_match: IfMatch = None
) -> CampaignResponse:
    """Unfreeze a campaign: its phases apply again."""
    with writing(app_state(request).engine) as connection:
        set_frozen(connection, lock_for_change(connection, principal, name, if_match), False)
        return campaign_response(connection, response, read_access(connection, principal, name))


@router.post("/campaigns/{name}/close")
def close_campaign(
    request: Request, response: Response, name: str, principal: CurrentPrincipal, if_match: IfMatch = None
) -> CampaignResponse:
    """Close the current phase and its grace period now; a deadline that has passed stays."""
    with writing(app_state(request).engine) as connection:
        close_now(connection, lock_for_change(connection, principal, name, if_match))
        return campaign_response(connection, response, read_access(connection, principal, name))


@router.post("/campaigns/{name}/publish")
def publish_campaign(
    request: Request, response: Response, name: str, principal: CurrentPrincipal, if_match: IfMatch = None
) -> CampaignResponse:
    """Publish the results: scores, names and outputs. References are released separately."""
    with writing(app_state(request).engine) as connection:
        publish_now(connection, lock_for_change(connection, principal, name, if_match))
        return campaign_response(connection, response, read_access(connection, principal, name))


def campaign_response(connection: Connection, response: Response, access: CampaignAccess) -> CampaignResponse:
    """The response for a campaign, with its ETag for organisers."""
    if access.organises:
        # It covers all test sets, those of future phases included.
        response.headers["ETag"] = f'"{version_of(connection, access.campaign_id)}"'
    return CampaignResponse(
        **_summary(access),
        description=access.description,
        time_zone=access.time_zone,
        joining=access.joining,
        anonymous=access.anonymous,
        verified_only=access.verified_only,
        ranked_by=access.ranked_by,
        frozen_at=utc(access.frozen_at),
        published=access.published,
        organises=access.organises,
        teams=list(access.own_teams),
        at=utc(access.at),
    )


def _summary(access: CampaignAccess) -> dict[str, Any]:
    phase = access.phase
    return {
        "name": access.name,
        "title": access.title,
        "visibility": access.visibility,
        "phase": phase.name if phase else None,
        "takes_submissions": access.takes_submissions,
        "deadline": utc(phase.ends_at) if phase else None,
    }


def _rules(new: CampaignUpdate) -> Rules:
    return Rules(**{name: getattr(new, name) for name in Rules.__dataclass_fields__})
