"""Teams and who is in them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field

from campaigns.accounts.accounts import find_account
from campaigns.accounts.permissions import require_administrator
from campaigns.accounts.teams import (
    KnownTeam,
    add_member,
    campaigns_of,
    change_team,
    found_team,
    members_of,
    remove_member,
    set_member_role,
    team_for,
    teams_of,
)
from models.database.session import reading, writing
from models.schema.roles import Scope, TeamRole
from web.api.paging import LARGEST_ID, After, Limit, Paged, id_after, in_pages
from web.dependencies import Asking, state_of

router = APIRouter(tags=["teams"])

TeamName = Annotated[str, Path(max_length=200)]
AccountId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


class TeamShown(BaseModel):
    """A team."""

    id: int
    name: str = Field(description="By which the server knows it; it never changes.")
    publication_name: str = Field(description='What the public reads; "" for the name.')
    affiliation: str
    created_at: float
    members: int


class MemberShown(BaseModel):
    """Somebody in a team."""

    account_id: int
    email: str
    name: str
    role: TeamRole
    joined_at: float


class WholeTeam(TeamShown):
    """A team, those who are in it, and the campaigns that it takes part in."""

    people: list[MemberShown]
    campaigns: list[str]


class TeamWanted(BaseModel):
    """A team to be founded."""

    name: str = Field(max_length=1000)
    publication_name: str = Field("", max_length=1000)
    affiliation: str = Field("", max_length=1000)


class TeamChange(BaseModel):
    """What is to be different; what is left out stays."""

    publication_name: str | None = Field(None, max_length=1000)
    affiliation: str | None = Field(None, max_length=1000)


class MemberWanted(BaseModel):
    """Who is to be in a team."""

    email: str = Field(max_length=1000)
    role: TeamRole = TeamRole.MEMBER


class RoleWanted(BaseModel):
    """What a member is to be."""

    role: TeamRole


@router.get("/teams")
def list_own_teams(request: Request, principal: Asking, limit: Limit = 50, after: After = "") -> Paged[TeamShown]:
    """The teams that the account is in; for administrators all."""
    principal.require(Scope.READ)
    with reading(state_of(request).engine) as connection:
        found = teams_of(connection, principal, after=id_after(after), limit=limit)
    return Paged[TeamShown](**in_pages(found, limit, _shown))


@router.post("/teams", status_code=201)
def found_own_team(request: Request, principal: Asking, wanted: TeamWanted) -> TeamShown:
    """Found a team, and lead it."""
    principal.require(Scope.ORGANISE)
    with writing(state_of(request).engine) as connection:
        made = found_team(
            connection,
            principal,
            wanted.name,
            publication_name=wanted.publication_name,
            affiliation=wanted.affiliation,
        )
    return _shown(made)


@router.get("/teams/{team}")
def read_one_team(request: Request, principal: Asking, team: TeamName) -> WholeTeam:
    """A team that the account is in."""
    principal.require(Scope.READ)
    with reading(state_of(request).engine) as connection:
        known = team_for(connection, principal, team)
        people = [
            MemberShown(
                account_id=each.account_id,
                email=each.email,
                name=each.name,
                role=each.role,
                joined_at=each.joined_at,
            )
            for each in members_of(connection, known.id)
        ]
        return WholeTeam(**_values(known), people=people, campaigns=campaigns_of(connection, known.id))


@router.patch("/teams/{team}")
def change_one_team(request: Request, principal: Asking, team: TeamName, change: TeamChange) -> TeamShown:
    """Change what the public reads of a team; for those who lead it."""
    principal.require(Scope.ORGANISE)
    with writing(state_of(request).engine) as connection:
        known = change_team(
            connection, principal, team, publication_name=change.publication_name, affiliation=change.affiliation
        )
    return _shown(known)


@router.post("/teams/{team}/members", status_code=201)
def add_team_member(request: Request, principal: Asking, team: TeamName, wanted: MemberWanted) -> None:
    """Take an account into a team, for administrators. Leads invite people."""
    require_administrator(principal)
    with writing(state_of(request).engine) as connection:
        account = find_account(connection, wanted.email)
        add_member(connection, principal, team, account.id, wanted.role)


@router.patch("/teams/{team}/members/{account_id}", status_code=204)
def change_team_member(
    request: Request, principal: Asking, team: TeamName, account_id: AccountId, wanted: RoleWanted
) -> None:
    """Let a member lead the team, or lead it no more; for those who lead it."""
    principal.require(Scope.ORGANISE)
    with writing(state_of(request).engine) as connection:
        set_member_role(connection, principal, team, account_id, wanted.role)


@router.delete("/teams/{team}/members/{account_id}", status_code=204)
def remove_team_member(request: Request, principal: Asking, team: TeamName, account_id: AccountId) -> None:
    """Remove a member, for those who lead the team; or leave it, for oneself."""
    principal.require(Scope.ORGANISE)
    with writing(state_of(request).engine) as connection:
        remove_member(connection, principal, team, account_id)


def _shown(known: KnownTeam) -> TeamShown:
    return TeamShown(**_values(known))


def _values(known: KnownTeam) -> dict[str, Any]:
    return {
        "id": known.id,
        "name": known.name,
        "publication_name": known.publication_name,
        "affiliation": known.affiliation,
        "created_at": known.created_at,
        "members": known.members,
    }
