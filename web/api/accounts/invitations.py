"""Invitations to the server, to teams and to campaigns."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field

from campaigns.invitations.invitations import InvitationInfo, accept_invitation
from campaigns.invitations.send import invite_by_mail, visible_invitations, withdraw_visible_invitation
from models.database.session import reading, writing
from models.schema.roles import CampaignRole, Scope, SiteRole, TeamRole
from web.api.document import Document, Timestamp
from web.api.paging import LARGEST_ID, After, Limit, Page, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["invitations"])

InvitationId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


class InvitationResponse(Document):
    """An invitation, without its secret. Times are."""

    id: int
    """Its number."""
    email: str = Field(description='The address that may accept it; "" for anyone with the link.')
    role: SiteRole = Field(description="The role of an account created with it.")
    team: str | None
    """Name of the team; null where it is not for a team."""
    team_role: TeamRole | None
    """The role in the team."""
    campaign: str | None
    """Name of the campaign; null where it is not for a campaign."""
    campaign_role: CampaignRole | None = Field(description="Null for an invitation of a team to take part.")
    made_by: str | None
    """Who made it."""
    created_at: Timestamp
    """When it was created."""
    expires_at: Timestamp
    """When it expires; null for never."""
    used_at: Timestamp | None
    """When it was accepted; null before."""
    used_by: str | None
    """Who accepted it; null before."""
    alive: bool = Field(description="Whether it can be accepted now.")


class InvitationCreate(Document):
    """A new invitation: to a team, to a campaign, or only to the server."""

    email: str = Field("", max_length=1000, description="If given, only this address can accept it.")
    role: SiteRole = SiteRole.PARTICIPANT
    """The role that it gives: in the campaign, or on the server."""
    team: str = Field("", max_length=1000)
    """Name of a team that the invited person joins."""
    team_role: TeamRole = TeamRole.MEMBER
    """The role in that team."""
    campaign: str = Field("", max_length=1000)
    """Name of a campaign that the invited person gets a role in."""
    campaign_role: CampaignRole | None = Field(None, description="Null to invite a team to take part.")


class InvitationCreatedResponse(Document):
    """A new invitation and its link, which cannot be shown again."""

    id: int
    """Its number."""
    link: str
    """The link; it cannot be shown again."""
    mailed: bool = Field(description="Whether the mail server accepted a mail to the address, with its own link.")
    not_mailed: str = Field(description='Why no mail was sent; "" where one was sent, or no address was given.')
    expires_at: Timestamp
    """When it expires; null for never."""


class InvitationAcceptedResponse(Document):
    """The team and campaign that the account has joined."""

    team: str | None
    """The team that the account is now a member of; null for none."""
    campaign: str | None
    """The campaign that the account now has a role in; null for none."""


class InvitationAccept(Document):
    """The secret (the last part of the link), and the team if one is needed."""

    secret: str = Field(max_length=200)
    """The last part of the link of the invitation."""
    team: str = Field("", max_length=1000, description="A team that you lead, where the invitation requires a team.")
    new_team: str = Field("", max_length=1000, description="Or the name of a team to create.")


@router.get("/invitations")
def list_invitations(
    request: Request,
    principal: CurrentPrincipal,
    team: Annotated[str, Query(max_length=200)] = "",
    campaign: Annotated[str, Query(max_length=200)] = "",
    limit: Limit = 50,
    after: After = "",
) -> Page[InvitationResponse]:
    """List the invitations that you made, and those to teams that you lead and campaigns that you organise."""
    principal.require(Scope.READ)
    with reading(app_state(request).engine) as connection:
        found = visible_invitations(
            connection, principal, team=team, campaign=campaign, before=parse_cursor(after), limit=limit
        )
    return Page[InvitationResponse](**make_page(found, limit, _invitation_response))


@router.post("/invitations", status_code=201)
def create_invitation(
    request: Request, principal: CurrentPrincipal, new: InvitationCreate
) -> InvitationCreatedResponse:
    """Create an invitation for one person; it can be accepted once."""
    principal.require(Scope.ORGANISE)
    state = app_state(request)
    made = invite_by_mail(
        *(state.engine, state.settings, state.throttle, principal),
        email=new.email,
        role=new.role,
        team=new.team,
        team_role=new.team_role,
        campaign=new.campaign,
        campaign_role=new.campaign_role,
    )
    return InvitationCreatedResponse(
        id=made.known.id,
        link=made.link,
        mailed=made.mailed,
        not_mailed=made.not_mailed,
        expires_at=made.known.expires_at,
    )


@router.post("/invitations/accept", name="accept_invitation")
def accept_own_invitation(
    request: Request, principal: CurrentPrincipal, acceptance: InvitationAccept
) -> InvitationAcceptedResponse:
    """Accept an invitation with your account."""
    principal.require(Scope.ORGANISE)
    with writing(app_state(request).engine) as connection:
        known = accept_invitation(
            connection, principal, acceptance.secret, team=acceptance.team, new_team=acceptance.new_team
        )
    return InvitationAcceptedResponse(team=known.team, campaign=known.campaign)


@router.delete("/invitations/{invitation_id}", status_code=204)
def withdraw_invitation(request: Request, principal: CurrentPrincipal, invitation_id: InvitationId) -> None:
    """Revoke an invitation."""
    principal.require(Scope.ORGANISE)
    with writing(app_state(request).engine) as connection:
        withdraw_visible_invitation(connection, principal, invitation_id)


def _invitation_response(known: InvitationInfo) -> InvitationResponse:
    return InvitationResponse(
        id=known.id,
        email=known.email,
        role=known.role,
        team=known.team,
        team_role=known.team_role,
        campaign=known.campaign,
        campaign_role=known.campaign_role,
        made_by=known.made_by,
        created_at=known.created_at,
        expires_at=known.expires_at,
        used_at=known.used_at,
        used_by=known.used_by,
        alive=known.alive,
    )
