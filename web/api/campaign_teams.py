"""Teams of a campaign, and the accounts that organise it or may look at it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from campaigns.changes import to_change
from campaigns.participants import join, leave, list_members, remove_member, set_member
from campaigns.permissions import Sight, read_sight
from models.database.session import reading, writing
from models.schema.roles import CampaignRole
from web.api.paging import After, Limit, Paged, part_of
from web.dependencies import Asking, state_of

router = APIRouter(tags=["campaigns"])


class ShownTeam(BaseModel):
    """A team as the account sees it."""

    name: str
    """What it is called: its name, its publication name, or "Team 7"."""
    team: str | None
    """The name by which it is handed in for; null where the account is not to know it."""
    number: int | None
    """Drawn by lot; null of a team that was invited and has not accepted yet."""


class JoiningTeam(BaseModel):
    """A team that is to take part."""

    model_config = ConfigDict(extra="forbid")

    team: str = Field(min_length=1, max_length=100)


class Member(BaseModel):
    """An account of the campaign."""

    account: int
    email: str
    name: str
    role: CampaignRole


class NewMember(BaseModel):
    """An account by its address."""

    model_config = ConfigDict(extra="forbid")

    email: str = Field(min_length=3, max_length=254)
    role: CampaignRole


@router.get("/campaigns/{name}/teams")
def list_teams(
    request: Request, name: str, principal: Asking, limit: Limit = 50, after: After = ""
) -> Paged[ShownTeam]:
    """The teams of a campaign by the names under which the account sees them."""
    with reading(state_of(request).engine) as connection:
        teams = shown_teams(read_sight(connection, principal, name))
    found, going_on = part_of(teams, limit, after)
    return Paged(items=list(found), next=going_on)


@router.post("/campaigns/{name}/teams", status_code=201)
def let_join(request: Request, response: Response, name: str, new: JoiningTeam, principal: Asking) -> ShownTeam:
    """Let a team that one leads take part, where joining is open or the team was invited.

    An organiser invites any other team: the answer is 202, and it takes part once who leads it has asked for the same.
    """
    state = state_of(request)
    with writing(state.engine) as connection:
        seconds = state.settings.invitation_seconds
        if not join(connection, principal, name, new.team, invitation_seconds=seconds):
            response.status_code = 202
            return ShownTeam(name=new.team, team=new.team, number=None)
        sight = read_sight(connection, principal, name)
    return next(each for each in shown_teams(sight) if each.team == new.team)


@router.delete("/campaigns/{name}/teams/{team}", status_code=204)
def let_leave(request: Request, name: str, team: str, principal: Asking) -> Response:
    """Let a team that has handed in nothing take part no longer."""
    with writing(state_of(request).engine) as connection:
        leave(connection, principal, name, team)
    return Response(status_code=204)


@router.get("/campaigns/{name}/members")
def list_campaign_members(
    request: Request, name: str, principal: Asking, limit: Limit = 50, after: After = ""
) -> Paged[Member]:
    """Organisers of a campaign, and who may look at it. For organisers."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
        sight.require_organiser()
        members = list_members(connection, sight.campaign_id)
    found, going_on = part_of(members, limit, after)
    shown = [Member(account=each.account_id, email=each.email, name=each.name, role=each.role) for each in found]
    return Paged(items=shown, next=going_on)


@router.put("/campaigns/{name}/members")
def let_be_member(request: Request, name: str, new: NewMember, principal: Asking) -> Member:
    """Let an account organise a campaign, or look at it."""
    with writing(state_of(request).engine) as connection:
        known = set_member(connection, to_change(connection, principal, name), new.email, new.role)
    return Member(account=known.account_id, email=known.email, name=known.name, role=known.role)


@router.delete("/campaigns/{name}/members/{account}", status_code=204)
def let_be_none(request: Request, name: str, account: int, principal: Asking) -> Response:
    """Let an account be nothing in a campaign any more; its last organiser stays."""
    with writing(state_of(request).engine) as connection:
        remove_member(connection, to_change(connection, principal, name), account)
    return Response(status_code=204)


def shown_teams(sight: Sight) -> list[ShownTeam]:
    """The teams as the account sees them: where their names are hidden, in the order of their numbers."""
    teams = [
        ShownTeam(
            name=sight.name_of(each.name),
            team=each.name if sight.sees_names or each.name in sight.own_teams else None,
            number=each.number,
        )
        for each in sight.teams.values()
    ]
    return sorted(teams, key=lambda each: (each.name.casefold() if sight.sees_names else "", each.number or 0))
