"""Invitations to the server, to teams and to campaigns."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from campaigns.invitations.invitations import InvitationInfo, accept_invitation
from campaigns.invitations.send import invite_by_mail, visible_invitations, withdraw_visible_invitation
from models.database.session import reading, writing
from models.schema.roles import Scope
from steelyard_client.documents.accounts.invitations import (
    InvitationAccept,
    InvitationAcceptedResponse,
    InvitationCreate,
    InvitationCreatedResponse,
    InvitationResponse,
)
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from web.api.paging import LARGEST_ID, After, Limit, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["invitations"])

InvitationId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


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
        expires_at=utc(made.known.expires_at),
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
        created_at=utc(known.created_at),
        expires_at=utc(known.expires_at),
        used_at=utc(known.used_at),
        used_by=known.used_by,
        alive=known.alive,
    )
