"""Teams of a campaign, and its organisers and viewers."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from campaigns.changes import lock_for_change
from campaigns.participants import (
    campaign_members,
    join_with_team,
    leave_with_team,
    remove_from_campaign,
    set_campaign_role,
)
from campaigns.permissions import CampaignAccess, read_access
from models.database.session import reading, writing
from steelyard_client.documents.campaigns.participants import (
    CampaignMemberResponse,
    CampaignMemberUpdate,
    CampaignTeamCreate,
    CampaignTeamResponse,
)
from steelyard_client.documents.paging import Page
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["campaigns"])


@router.get("/campaigns/{name}/teams")
def list_campaign_teams(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[CampaignTeamResponse]:
    """List the teams of a campaign by their displayed names."""
    with reading(app_state(request).engine) as connection:
        teams = team_responses(read_access(connection, principal, name))
    found, going_on = slice_page(teams, limit, after)
    return Page(items=list(found), next=going_on)


@router.post(
    "/campaigns/{name}/teams",
    status_code=201,
    responses={202: {"model": CampaignTeamResponse, "description": "The team is invited; its lead has to join."}},
)
def join_campaign(
    request: Request, response: Response, name: str, new: CampaignTeamCreate, principal: CurrentPrincipal
) -> CampaignTeamResponse:
    """Join a campaign with a team that you lead, where joining is open or the team was invited.

    Organisers can invite any other team: the response is 202, and the team takes part once its lead calls this, too.
    """
    state = app_state(request)
    with writing(state.engine) as connection:
        seconds = state.settings.invitation_seconds
        if not join_with_team(connection, principal, name, new.team, invitation_seconds=seconds):
            response.status_code = 202
            return CampaignTeamResponse(name=new.team, team=new.team, number=None)
        access = read_access(connection, principal, name)
    return next(each for each in team_responses(access) if each.team == new.team)


@router.delete("/campaigns/{name}/teams/{team}", status_code=204)
def leave_campaign(request: Request, name: str, team: str, principal: CurrentPrincipal) -> Response:
    """Remove a team without submissions from a campaign."""
    with writing(app_state(request).engine) as connection:
        leave_with_team(connection, principal, name, team)
    return Response(status_code=204)


@router.get("/campaigns/{name}/members")
def list_campaign_members(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[CampaignMemberResponse]:
    """List the organisers and viewers of a campaign. For organisers."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        access.require_organiser()
        members = campaign_members(connection, access.campaign_id)
    found, going_on = slice_page(members, limit, after)
    shown = [
        CampaignMemberResponse(account=each.account_id, email=each.email, name=each.name, role=each.role)
        for each in found
    ]
    return Page(items=shown, next=going_on)


@router.put("/campaigns/{name}/members")
def set_campaign_member(
    request: Request, name: str, new: CampaignMemberUpdate, principal: CurrentPrincipal
) -> CampaignMemberResponse:
    """Make an account an organiser or viewer of a campaign."""
    with writing(app_state(request).engine) as connection:
        member = set_campaign_role(connection, lock_for_change(connection, principal, name), new.email, new.role)
    return CampaignMemberResponse(account=member.account_id, email=member.email, name=member.name, role=member.role)


@router.delete("/campaigns/{name}/members/{account}", status_code=204)
def remove_campaign_member(request: Request, name: str, account: int, principal: CurrentPrincipal) -> Response:
    """Remove an organiser or viewer from a campaign; its last organiser cannot be removed."""
    with writing(app_state(request).engine) as connection:
        remove_from_campaign(connection, lock_for_change(connection, principal, name), account)
    return Response(status_code=204)


def team_responses(access: CampaignAccess) -> list[CampaignTeamResponse]:
    """The teams as the account may see them, ordered by name, or by number where names are hidden."""
    teams = [
        CampaignTeamResponse(
            name=access.name_of(each.name),
            team=each.name if access.sees_names or each.name in access.own_teams else None,
            number=each.number,
        )
        for each in access.teams.values()
    ]
    return sorted(teams, key=lambda each: (each.name.casefold() if access.sees_names else "", each.number or 0))
