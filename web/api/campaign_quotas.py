"""How much teams may hand in to a campaign, and how much of it they have used."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from campaigns.changes import to_change
from campaigns.permissions import read_sight
from campaigns.quotas.organisers import quotas_that_hold, remove_quota, set_quota, team_account
from campaigns.quotas.rules import KnownQuota
from models.database.session import reading, writing
from models.schema.states import QuotaKind
from web.api.paging import After, Limit, Paged, part_of
from web.dependencies import Asking, state_of

router = APIRouter(tags=["quotas"])


class ShownQuota(BaseModel):
    """A limit of what teams hand in."""

    of: str
    """"campaign", or "everything" for one that holds for all campaigns."""
    team: str
    """"" for every team."""
    phase: str
    """"" for every phase."""
    kind: QuotaKind
    amount: int | None
    """null for no limit, whatever less specific quotas say."""
    time_zone: str
    """Of a limit per day: where days begin and end."""


class NewQuota(BaseModel):
    """A limit to be set; for a team, a phase, or all of them."""

    model_config = ConfigDict(extra="forbid")

    kind: QuotaKind
    amount: int | None = Field(ge=0, le=2**31 - 1)
    team: str = Field(default="", max_length=100)
    phase: str = Field(default="", max_length=100)
    time_zone: str | None = Field(default=None, max_length=100)


class ShownStanding(BaseModel):
    """How a team stands against one limit."""

    kind: QuotaKind
    of_what: str
    used: int
    amount: int | None
    full: bool
    free_at: float | None
    """When there is room again, in seconds since 1970, where the calendar says it."""


@router.get("/campaigns/{name}/quotas")
def list_campaign_quotas(
    request: Request, name: str, principal: Asking, limit: Limit = 50, after: After = ""
) -> Paged[ShownQuota]:
    """The limits that hold in a campaign. For organisers."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
        sight.require_organiser()
        quotas = quotas_that_hold(connection, sight)
    found, going_on = part_of(quotas, limit, after)
    return Paged(items=[_shown(each) for each in found], next=going_on)


@router.put("/campaigns/{name}/quotas")
def let_quota_be(request: Request, name: str, new: NewQuota, principal: Asking) -> list[ShownQuota]:
    """Set a limit for a campaign, or for a team or a phase of it; all limits that hold then."""
    with writing(state_of(request).engine) as connection:
        sight = to_change(connection, principal, name)
        set_quota(connection, sight, new.kind, new.amount, team=new.team, phase=new.phase, time_zone=new.time_zone)
        return [_shown(each) for each in quotas_that_hold(connection, sight)]


@router.delete("/campaigns/{name}/quotas/{kind}", status_code=204)
def let_quota_go(
    request: Request,
    name: str,
    kind: QuotaKind,
    principal: Asking,
    team: Annotated[str, Query(max_length=100)] = "",
    phase: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """Remove a limit of a campaign, or that of a team or a phase of it."""
    with writing(state_of(request).engine) as connection:
        remove_quota(connection, to_change(connection, principal, name), kind, team=team, phase=phase)
    return Response(status_code=204)


@router.get("/campaigns/{name}/teams/{team}/quotas")
def read_standings_of_team(request: Request, name: str, team: str, principal: Asking) -> list[ShownStanding]:
    """How a team stands against each kind of limit now. For its members and for organisers."""
    with reading(state_of(request).engine) as connection:
        account = team_account(connection, read_sight(connection, principal, name), team)
    return [
        ShownStanding(
            kind=each.kind,
            of_what=each.of_what,
            used=each.used,
            amount=each.amount,
            full=each.full,
            free_at=each.free_at,
        )
        for each in account.standings
    ]


def _shown(quota: KnownQuota) -> ShownQuota:
    return ShownQuota(
        of="campaign" if quota.campaign else "everything",
        team=quota.scope.team,
        phase=quota.scope.phase,
        kind=quota.kind,
        amount=quota.amount,
        time_zone=quota.time_zone,
    )
