"""Which campaigns a principal knows of or organises, as conditions of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, exists, or_, true

from models.schema.accounts import Team
from models.schema.campaigns import Campaign, CampaignMember, Participation
from models.schema.roles import CampaignRole, Visibility

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal


def may_organise(principal: Principal) -> ColumnElement[bool]:
    """Return an SQL condition on `Campaign`: those that the principal organises."""
    return true() if principal.administrates else has_role(principal, CampaignRole.ORGANISER)


def may_know(principal: Principal) -> ColumnElement[bool]:
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


def has_role(principal: Principal, role: CampaignRole) -> ColumnElement[bool]:
    """Return an SQL condition on `Campaign`: those in which the principal has this role itself."""
    return exists().where(
        CampaignMember.campaign_id == Campaign.id,
        CampaignMember.account_id == principal.account_id,
        CampaignMember.role == role,
    )
