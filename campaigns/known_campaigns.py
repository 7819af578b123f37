"""Which campaigns a principal knows of or organises, as conditions of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import BindParameter, ColumnElement, bindparam, exists, or_, true

from models.schema.accounts import Team
from models.schema.campaigns import Campaign, CampaignMember, Participation
from models.schema.roles import CampaignRole, Visibility

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal


_ACCOUNT: BindParameter[Any] = bindparam("account_id")
_TEAMS: BindParameter[Any] = bindparam("own_teams", expanding=True)


@dataclass(frozen=True, slots=True)
class Anybody:
    """Stands for a principal in statements that are built once: executing them takes `values_of` the principal."""

    administrates: bool
    account_id: BindParameter[Any] = _ACCOUNT
    teams: BindParameter[Any] = _TEAMS


def values_of(principal: Principal) -> dict[str, Any]:
    """Return what a statement about `Anybody` is executed with."""
    return {"account_id": principal.account_id, "own_teams": list(principal.teams)}


def may_organise(principal: Principal | Anybody) -> ColumnElement[bool]:
    """Return an SQL condition on `Campaign`: those that the principal organises."""
    return true() if principal.administrates else has_role(principal, CampaignRole.ORGANISER)


def may_know(principal: Principal | Anybody) -> ColumnElement[bool]:
    """Return an SQL condition on `Campaign`: those that are visible to the principal."""
    takes_part = exists().where(
        Participation.campaign_id == Campaign.id,
        Participation.team_id == Team.id,
        Team.name.in_(principal.teams),
    )
    return or_(
        Campaign.visibility == Visibility.PUBLIC,
        may_organise(principal),
        has_role(principal, CampaignRole.VIEWER),
        takes_part,
    )


def has_role(principal: Principal | Anybody, role: CampaignRole) -> ColumnElement[bool]:
    """Return an SQL condition on `Campaign`: those in which the principal has this role itself."""
    return exists().where(
        CampaignMember.campaign_id == Campaign.id,
        CampaignMember.account_id == principal.account_id,
        CampaignMember.role == role,
    )
