"""Campaigns: create, read, update, freeze, close, publish."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from sqlalchemy import Connection

from campaigns.changes import lock_for_change, version_of
from campaigns.deletion.campaigns import delete_campaign
from campaigns.participants import set_campaign_role
from campaigns.permissions import CampaignAccess, UnreadableCampaign, read_access, visible_campaigns
from campaigns.phases import close_now
from campaigns.publication import publish_now
from campaigns.quotas.organisers import set_quota_phase
from campaigns.rules import Rules, create_campaign, set_frozen, set_rules
from models.database.session import reading, writing
from models.schema.roles import CampaignRole
from steelyard_client.documents.campaigns.campaigns import (
    CampaignCreate,
    CampaignPage,
    CampaignResponse,
    CampaignRules,
    CampaignSummary,
    CampaignUpdate,
    UnreadableCampaignResponse,
)
from steelyard_client.documents.campaigns.deletions import DeletionResponse
from steelyard_client.documents.document import utc
from web.api.deletions import DryRun, deletion_response
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

DeleteLater = Annotated[bool, Query(description="Delete the phases that are planned before publication.")]


@router.get("/campaigns")
def list_campaigns(request: Request, principal: CurrentPrincipal, limit: Limit = 50, after: After = "") -> CampaignPage:
    """List the campaigns that you may see, newest first, and name those that cannot be shown."""
    odd: list[UnreadableCampaign] = []
    with reading(app_state(request).engine) as connection:
        accesses = visible_campaigns(connection, principal, before=parse_cursor(after), limit=limit + 1, unreadable=odd)
    # What is older than this page belongs to the next one.
    oldest = accesses[limit - 1].campaign_id if len(accesses) > limit else 0
    unreadable = [UnreadableCampaignResponse(name=each.name, reason=each.reason) for each in odd if each.id > oldest]
    page = make_page(accesses, limit, lambda each: CampaignSummary(**_summary(each)), key=attrgetter("campaign_id"))
    return CampaignPage(**page, unreadable=unreadable)


@router.post("/campaigns", status_code=201, name="create_campaign")
def create_new_campaign(
    request: Request, response: Response, new: CampaignCreate, principal: CurrentPrincipal
) -> CampaignResponse:
    """Create a campaign; you become its organiser. For organisers and administrators of the server."""
    with writing(app_state(request).engine) as connection:
        create_campaign(connection, principal, new.name, _rules(new))
        if new.organiser:
            access = lock_for_change(connection, principal, new.name)
            set_campaign_role(connection, access, new.organiser, CampaignRole.ORGANISER)
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
        access = lock_for_change(connection, principal, name, if_match)
        set_rules(connection, access, _rules(new))
        if new.quota_phase is not None:
            set_quota_phase(connection, access, new.quota_phase)
        return campaign_response(connection, response, read_access(connection, principal, name))


@router.delete("/campaigns/{name}", name="delete_campaign")
def delete_whole_campaign(
    request: Request, name: str, principal: CurrentPrincipal, dry_run: DryRun = False
) -> DeletionResponse:
    """Delete a campaign with its submissions and scores; with `dry_run`, say what would be deleted. For organisers."""
    with writing(app_state(request).engine, durable=True) as connection:
        return deletion_response(delete_campaign(connection, principal, name, dry_run=dry_run), dry_run=dry_run)


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
    request: Request,
    response: Response,
    name: str,
    principal: CurrentPrincipal,
    delete_later: DeleteLater = False,
    if_match: IfMatch = None,
) -> CampaignResponse:
    """Publish the results: scores, names and outputs. References are released separately."""
    with writing(app_state(request).engine) as connection:
        access = lock_for_change(connection, principal, name, if_match)
        publish_now(connection, access, delete_later=delete_later)
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
        human_rule=access.human_rule,
        human_judgments=access.human_judgments,
        embeddable=access.embeddable,
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
        "frozen_at": utc(access.frozen_at),
    }


def _rules(new: CampaignRules) -> Rules:
    return Rules(**{name: getattr(new, name) for name in Rules.__dataclass_fields__})
