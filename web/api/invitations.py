"""Invitations to the server, to teams and to campaigns."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from campaigns.invitations.invitations import KnownInvitation, accept_invitation
from campaigns.invitations.send import invitations_seen, invite_by_mail, withdraw
from models.database.session import reading, writing
from models.schema.roles import CampaignRole, Scope, SiteRole, TeamRole
from web.api.paging import LARGEST_ID, After, Limit, Paged, id_after, in_pages
from web.dependencies import Asking, state_of

router = APIRouter(tags=["invitations"])

InvitationId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


class InvitationShown(BaseModel):
    """An invitation, without its secret. Times are in seconds since 1970."""

    id: int
    email: str = Field(description='Whose it is; "" for whoever has the link.')
    role: SiteRole = Field(description="Of an account that is made with it.")
    team: str | None
    team_role: TeamRole | None
    campaign: str | None
    campaign_role: CampaignRole | None = Field(description="Null where it lets a team into the campaign.")
    made_by: str | None
    created_at: float
    expires_at: float
    used_at: float | None
    used_by: str | None
    alive: bool = Field(description="Whether it can still be accepted.")


class InvitationWanted(BaseModel):
    """An invitation to be made: to a team, to a campaign, or to the server alone."""

    email: str = Field("", max_length=1000, description="Whose it is to be; nobody else can accept it then.")
    role: SiteRole = SiteRole.PARTICIPANT
    team: str = Field("", max_length=1000)
    team_role: TeamRole = TeamRole.MEMBER
    campaign: str = Field("", max_length=1000)
    campaign_role: CampaignRole | None = Field(None, description="Null to let a team take part.")


class InvitationMade(BaseModel):
    """An invitation and its link, which nobody can show again."""

    id: int
    link: str
    mailed: bool = Field(description="Whether the mail server has taken it for the address, with a link of its own.")
    not_mailed: str = Field(description='Why the address got no mail; "" where it did, or where there is no address.')
    expires_at: float


class InvitationAccepted(BaseModel):
    """What one is in now."""

    team: str | None
    campaign: str | None


class Acceptance(BaseModel):
    """The secret is the last part of the link."""

    secret: str = Field(max_length=200)
    team: str = Field("", max_length=1000, description="A team that one leads, where the invitation wants one.")
    new_team: str = Field("", max_length=1000, description="Or the name of one to be founded.")


@router.get("/invitations")
def list_own_invitations(
    request: Request,
    principal: Asking,
    team: Annotated[str, Query(max_length=200)] = "",
    campaign: Annotated[str, Query(max_length=200)] = "",
    limit: Limit = 50,
    after: After = "",
) -> Paged[InvitationShown]:
    """Invitations that one has made, or to a team that one leads, or to a campaign that one organises."""
    principal.require(Scope.READ)
    with reading(state_of(request).engine) as connection:
        found = invitations_seen(
            connection, principal, team=team, campaign=campaign, before=id_after(after), limit=limit
        )
    return Paged[InvitationShown](**in_pages(found, limit, _shown))


@router.post("/invitations", status_code=201)
def invite_somebody(request: Request, principal: Asking, wanted: InvitationWanted) -> InvitationMade:
    """Invite one person, once."""
    principal.require(Scope.ORGANISE)
    state = state_of(request)
    made = invite_by_mail(
        *(state.engine, state.settings, state.throttle, principal),
        email=wanted.email,
        role=wanted.role,
        team=wanted.team,
        team_role=wanted.team_role,
        campaign=wanted.campaign,
        campaign_role=wanted.campaign_role,
    )
    return InvitationMade(
        id=made.known.id,
        link=made.link,
        mailed=made.mailed,
        not_mailed=made.not_mailed,
        expires_at=made.known.expires_at,
    )


@router.post("/invitations/accept")
def accept(request: Request, principal: Asking, acceptance: Acceptance) -> InvitationAccepted:
    """Accept an invitation with the account that asks."""
    principal.require(Scope.ORGANISE)
    with writing(state_of(request).engine) as connection:
        known = accept_invitation(
            connection, principal, acceptance.secret, team=acceptance.team, new_team=acceptance.new_team
        )
    return InvitationAccepted(team=known.team, campaign=known.campaign)


@router.delete("/invitations/{invitation_id}", status_code=204)
def withdraw_one(request: Request, principal: Asking, invitation_id: InvitationId) -> None:
    """Let an invitation be good no more."""
    principal.require(Scope.ORGANISE)
    with writing(state_of(request).engine) as connection:
        withdraw(connection, principal, invitation_id)


def _shown(known: KnownInvitation) -> InvitationShown:
    return InvitationShown(
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
