"""Teams and their members."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request

from campaigns.accounts.accounts import find_account
from campaigns.accounts.permissions import require_administrator
from campaigns.accounts.teams import (
    TeamInfo,
    add_member,
    campaigns_of,
    change_team,
    create_team,
    members_of,
    remove_from_team,
    set_member_role,
    team_for,
    teams_of,
)
from campaigns.deletion.teams import delete_team
from models.database.session import reading, writing
from models.schema.roles import Scope
from steelyard_client.documents.accounts.teams import (
    TeamCreate,
    TeamDetailsResponse,
    TeamMemberCreate,
    TeamMemberResponse,
    TeamMemberUpdate,
    TeamResponse,
    TeamUpdate,
)
from steelyard_client.documents.campaigns.deletions import DeletionResponse
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from web.api.deletions import DryRun, deletion_response
from web.api.paging import LARGEST_ID, After, Limit, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["teams"])

TeamName = Annotated[str, Path(max_length=200)]
AccountId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


@router.get("/teams")
def list_own_teams(
    request: Request, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[TeamResponse]:
    """List your teams; administrators see all."""
    principal.require(Scope.READ)
    with reading(app_state(request).engine) as connection:
        found = teams_of(connection, principal, after=parse_cursor(after), limit=limit)
    return Page[TeamResponse](**make_page(found, limit, _team_response))


@router.post("/teams", status_code=201, name="create_team")
def create_own_team(request: Request, principal: CurrentPrincipal, new: TeamCreate) -> TeamResponse:
    """Create a team; you become its lead. Administrators can name another one."""
    principal.require(Scope.ORGANISE)
    if new.lead:
        require_administrator(principal)
    with writing(app_state(request).engine) as connection:
        lead = find_account(connection, new.lead).id if new.lead else None
        team = create_team(
            connection,
            principal,
            new.name,
            publication_name=new.publication_name,
            affiliation=new.affiliation,
            lead=lead,
        )
    return _team_response(team)


@router.get("/teams/{team}")
def read_team(request: Request, principal: CurrentPrincipal, team: TeamName) -> TeamDetailsResponse:
    """Read a team that you are a member of."""
    principal.require(Scope.READ)
    with reading(app_state(request).engine) as connection:
        known = team_for(connection, principal, team)
        people = [
            TeamMemberResponse(
                account_id=each.account_id,
                email=each.email,
                name=each.name,
                role=each.role,
                joined_at=utc(each.joined_at),
            )
            for each in members_of(connection, known.id)
        ]
        return TeamDetailsResponse(**_values(known), people=people, campaigns=campaigns_of(connection, known.id))


@router.patch("/teams/{team}")
def update_team(request: Request, principal: CurrentPrincipal, team: TeamName, change: TeamUpdate) -> TeamResponse:
    """Change the public profile of a team. For its leads."""
    principal.require(Scope.ORGANISE)
    with writing(app_state(request).engine) as connection:
        known = change_team(
            connection, principal, team, publication_name=change.publication_name, affiliation=change.affiliation
        )
    return _team_response(known)


@router.delete("/teams/{team}", name="delete_team")
def delete_whole_team(
    request: Request, principal: CurrentPrincipal, team: TeamName, dry_run: DryRun = False
) -> DeletionResponse:
    """Delete a team and its submissions; with `dry_run`, say what would be deleted. For administrators."""
    with writing(app_state(request).engine, durable=True) as connection:
        return deletion_response(delete_team(connection, principal, team, dry_run=dry_run), dry_run=dry_run)


@router.post("/teams/{team}/members", status_code=201)
def add_team_member(request: Request, principal: CurrentPrincipal, team: TeamName, new: TeamMemberCreate) -> None:
    """Add an account to a team. For administrators; leads invite people."""
    require_administrator(principal)
    with writing(app_state(request).engine) as connection:
        account = find_account(connection, new.email)
        add_member(connection, principal, team, account.id, new.role)


@router.patch("/teams/{team}/members/{account_id}", status_code=204)
def update_team_member(
    request: Request, principal: CurrentPrincipal, team: TeamName, account_id: AccountId, new: TeamMemberUpdate
) -> None:
    """Change the role of a member. For leads of the team."""
    principal.require(Scope.ORGANISE)
    with writing(app_state(request).engine) as connection:
        set_member_role(connection, principal, team, account_id, new.role)


@router.delete("/teams/{team}/members/{account_id}", status_code=204)
def remove_team_member(request: Request, principal: CurrentPrincipal, team: TeamName, account_id: AccountId) -> None:
    """Remove a member (for leads of the team), or leave the team."""
    principal.require(Scope.ORGANISE)
    with writing(app_state(request).engine) as connection:
        remove_from_team(connection, principal, team, account_id)


def _team_response(known: TeamInfo) -> TeamResponse:
    return TeamResponse(**_values(known))


def _values(known: TeamInfo) -> dict[str, Any]:
    return {
        "id": known.id,
        "name": known.name,
        "publication_name": known.publication_name,
        "affiliation": known.affiliation,
        "created_at": utc(known.created_at),
        "members": known.members,
    }
