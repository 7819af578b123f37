"""Campaigns: create, read, update, freeze, close, publish."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from pydantic import ConfigDict, Field
from sqlalchemy import Connection

from campaigns.changes import lock_for_change, version_of
from campaigns.permissions import CampaignAccess, read_access, visible_campaigns
from campaigns.phases import close_now, publish_now
from campaigns.rules import MAX_DESCRIPTION_LENGTH, MAX_TITLE_LENGTH, Rules, create_campaign, set_frozen, set_rules
from models.database.session import reading, writing
from models.schema.roles import Joining, Visibility
from web.api.document import Document, Timestamp
from web.api.paging import After, Limit, Page, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["campaigns"])

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description="The ETag of the campaign; the change is refused if the campaign has changed since.",
    ),
]


class CampaignSummary(Document):
    """A campaign in a list."""

    name: str
    """Its name, as URLs have it."""
    title: str
    """Its title, as pages show it."""
    visibility: Visibility
    """Who may see the campaign."""
    phase: str | None
    """The current phase; null before the first one, and without phases."""
    takes_submissions: bool
    """Whether teams can submit now."""
    deadline: Timestamp | None
    """Deadline of the current phase."""


class CampaignResponse(CampaignSummary):
    """A campaign with its rules.

    For organisers the response has an ETag, which changes with the rules, phases, test sets and protocols.
    """

    description: str
    """What it is about: plain text, with an empty line between paragraphs."""
    time_zone: str
    """Time zone of its deadlines, a name of the IANA database."""
    joining: Joining
    """How teams join."""
    anonymous: bool
    """Whether teams are anonymous until the results are published."""
    verified_only: bool
    """Whether submitting requires a confirmed e-mail address."""
    ranked_by: str
    """The ranking metric; "" for the first one."""
    frozen_at: Timestamp | None
    """When it was frozen; null while it is not."""
    published: bool
    """Whether its results are published."""
    organises: bool
    """Whether the account is one of its organisers."""
    teams: list[str]
    """Your teams that take part."""
    at: Timestamp
    """The server's time of the response."""


class CampaignUpdate(Document):
    """Changes to the rules of a campaign; omitted fields stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    title: str | None = Field(default=None, max_length=MAX_TITLE_LENGTH)
    """Its title."""
    description: str | None = Field(default=None, max_length=MAX_DESCRIPTION_LENGTH)
    """Plain text; an empty line separates paragraphs."""
    time_zone: str | None = Field(default=None, max_length=100)
    """A name of the IANA database, such as Europe/Prague."""
    visibility: Visibility | None = None
    """Who may see it."""
    joining: Joining | None = None
    """How teams join."""
    anonymous: bool | None = None
    """Whether other teams appear as "Team 7" until the results are published."""
    verified_only: bool | None = None
    """Whether submitting requires a confirmed e-mail address."""
    ranked_by: str | None = Field(default=None, max_length=500)
    """The ranking metric; "" for the first one."""

    def rules(self) -> Rules:
        """The changes as `campaigns.rules.Rules`."""
        return Rules(**{name: getattr(self, name) for name in Rules.__dataclass_fields__})


class CampaignCreate(CampaignUpdate):
    """A new campaign. By default it is private, and teams join by invitation."""

    name: str = Field(min_length=1, max_length=100)
    """Used in URLs; it never changes."""


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
        create_campaign(connection, principal, new.name, new.rules())
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
        set_rules(connection, lock_for_change(connection, principal, name, if_match), new.rules())
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
        frozen_at=access.frozen_at,
        published=access.published,
        organises=access.organises,
        teams=list(access.own_teams),
        at=access.at,
    )


def _summary(access: CampaignAccess) -> dict[str, Any]:
    phase = access.phase
    return {
        "name": access.name,
        "title": access.title,
        "visibility": access.visibility,
        "phase": phase.name if phase else None,
        "takes_submissions": access.takes_submissions,
        "deadline": phase.ends_at if phase else None,
    }
