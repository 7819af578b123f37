"""Campaigns: founded, looked at, changed, frozen, closed, published."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from campaigns.changes import to_change, version_of
from campaigns.permissions import Sight, read_sight, visible_campaigns
from campaigns.phases import close_now, publish_now
from campaigns.rules import LONGEST_DESCRIPTION, LONGEST_TITLE, Rules, found_campaign, set_frozen, set_rules
from models.database.session import reading, writing
from models.schema.roles import Joining, Visibility
from web.api.paging import After, Limit, Paged, id_after, in_pages
from web.dependencies import Asking, state_of

router = APIRouter(tags=["campaigns"])

IfMatch = Annotated[
    str | None, Header(alias="If-Match", description="The ETag of the campaign that the change is meant for.")
]


class CampaignSummary(BaseModel):
    """A campaign in a list."""

    name: str
    title: str
    visibility: Visibility
    phase: str | None
    """The phase that it is in; null before the first one, and where it has none."""
    takes_submissions: bool
    """Whether teams can hand in now."""
    deadline: float | None
    """Of the phase that it is in, in seconds since 1970."""


class CampaignDetails(CampaignSummary):
    """A campaign with its rules.

    For organisers the answer has an ETag, which changes with its rules, phases, test sets and measures.
    """

    description: str
    time_zone: str
    joining: Joining
    anonymous: bool
    verified_only: bool
    ranked_by: str
    frozen_at: float | None
    published: bool
    organises: bool
    """Whether the account is one of its organisers."""
    teams: list[str]
    """The account's teams that take part."""
    at: float
    """The moment of the answer by the server's clock, in seconds since 1970."""


class NewRules(BaseModel):
    """Rules of a campaign; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    title: str | None = Field(default=None, max_length=LONGEST_TITLE)
    description: str | None = Field(default=None, max_length=LONGEST_DESCRIPTION)
    """Plain text; an empty line parts paragraphs."""
    time_zone: str | None = Field(default=None, max_length=100)
    """A name of the IANA database, such as Europe/Prague."""
    visibility: Visibility | None = None
    joining: Joining | None = None
    anonymous: bool | None = None
    """Whether other teams stand as "Team 7" until the results are published."""
    verified_only: bool | None = None
    """Whether only accounts with a confirmed address hand in."""
    ranked_by: str | None = Field(default=None, max_length=500)
    """The metric that ranks; "" for the first one."""

    def rules(self) -> Rules:
        """As the rules of campaigns are written."""
        return Rules(**{name: getattr(self, name) for name in Rules.__dataclass_fields__})


class NewCampaign(NewRules):
    """A campaign to be founded. Without rules it is private, and teams are invited."""

    name: str = Field(min_length=1, max_length=100)
    """It stays for ever, and stands in addresses."""


@router.get("/campaigns")
def list_campaigns(request: Request, principal: Asking, limit: Limit = 50, after: After = "") -> Paged[CampaignSummary]:
    """The campaigns that the account may know of, the newest first."""
    with reading(state_of(request).engine) as connection:
        sights = visible_campaigns(connection, principal, before=id_after(after), limit=limit + 1)
    return Paged(
        **in_pages(sights, limit, lambda each: CampaignSummary(**_summary(each)), key=attrgetter("campaign_id"))
    )


@router.post("/campaigns", status_code=201)
def found(request: Request, response: Response, new: NewCampaign, principal: Asking) -> CampaignDetails:
    """Found a campaign; the account organises it. Only organisers and administrators do."""
    with writing(state_of(request).engine) as connection:
        found_campaign(connection, principal, new.name, new.rules())
        return details(connection, response, read_sight(connection, principal, new.name))


@router.get("/campaigns/{name}")
def read_campaign(request: Request, response: Response, name: str, principal: Asking) -> CampaignDetails:
    """A campaign with its rules, and where it stands now."""
    with reading(state_of(request).engine) as connection:
        return details(connection, response, read_sight(connection, principal, name))


@router.patch("/campaigns/{name}")
def change_campaign(
    request: Request,
    response: Response,
    name: str,
    new: NewRules,
    principal: Asking,
    if_match: IfMatch = None,
) -> CampaignDetails:
    """Change the rules of a campaign. With If-Match, only if nobody else has changed it meanwhile."""
    with writing(state_of(request).engine) as connection:
        set_rules(connection, to_change(connection, principal, name, if_match), new.rules())
        return details(connection, response, read_sight(connection, principal, name))


@router.post("/campaigns/{name}/freeze")
def freeze(
    request: Request, response: Response, name: str, principal: Asking, if_match: IfMatch = None
) -> CampaignDetails:
    """Let nothing be handed in, declared or withdrawn from now on, whatever the phases say."""
    with writing(state_of(request).engine) as connection:
        set_frozen(connection, to_change(connection, principal, name, if_match), True)
        return details(connection, response, read_sight(connection, principal, name))


@router.post("/campaigns/{name}/unfreeze")
def unfreeze(
    request: Request, response: Response, name: str, principal: Asking, if_match: IfMatch = None
) -> CampaignDetails:
    """Let the phases say again what may be done."""
    with writing(state_of(request).engine) as connection:
        set_frozen(connection, to_change(connection, principal, name, if_match), False)
        return details(connection, response, read_sight(connection, principal, name))


@router.post("/campaigns/{name}/close")
def close(
    request: Request, response: Response, name: str, principal: Asking, if_match: IfMatch = None
) -> CampaignDetails:
    """End the phase of now with its grace: its deadline is this moment, if it was not before."""
    with writing(state_of(request).engine) as connection:
        close_now(connection, to_change(connection, principal, name, if_match))
        return details(connection, response, read_sight(connection, principal, name))


@router.post("/campaigns/{name}/publish")
def publish(
    request: Request, response: Response, name: str, principal: Asking, if_match: IfMatch = None
) -> CampaignDetails:
    """Let the results be out from now on: scores, names and outputs. References are released by themselves."""
    with writing(state_of(request).engine) as connection:
        publish_now(connection, to_change(connection, principal, name, if_match))
        return details(connection, response, read_sight(connection, principal, name))


def details(connection: Connection, response: Response, sight: Sight) -> CampaignDetails:
    """A campaign as an answer; for its organisers, who change it, with its ETag."""
    if sight.organises:
        # It is made of all test sets, those of phases to come included.
        response.headers["ETag"] = f'"{version_of(connection, sight.campaign_id)}"'
    return CampaignDetails(
        **_summary(sight),
        description=sight.description,
        time_zone=sight.time_zone,
        joining=sight.joining,
        anonymous=sight.anonymous,
        verified_only=sight.verified_only,
        ranked_by=sight.ranked_by,
        frozen_at=sight.frozen_at,
        published=sight.published,
        organises=sight.organises,
        teams=list(sight.own_teams),
        at=sight.at,
    )


def _summary(sight: Sight) -> dict[str, Any]:
    phase = sight.phase
    return {
        "name": sight.name,
        "title": sight.title,
        "visibility": sight.visibility,
        "phase": phase.name if phase else None,
        "takes_submissions": sight.takes_submissions,
        "deadline": phase.ends_at if phase else None,
    }
