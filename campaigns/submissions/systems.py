"""Systems of a campaign: all submissions under one name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, func, or_, select

from models.schema.campaigns import Declaration
from models.schema.corpus import Submission, System

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess


@dataclass(frozen=True, slots=True)
class SystemView:
    """A system as the viewer sees it."""

    id: int
    team: str
    """The team's name to show; "" for the organisers' own systems."""
    system: str
    own: bool
    submissions: int
    first_at: float
    last_at: float


def list_systems(connection: Connection, access: CampaignAccess, *, limit: int, after: int | None) -> list[SystemView]:
    """Return the visible systems by id, one more than `limit` if there are more.

    Organisers see all, teams their own; those of others are visible if the leaderboard is visible with their names, and
    only with their submissions that are not withdrawn.
    """
    own = System.team.in_(access.own_teams)
    conditions: list[ColumnElement[bool]] = [Submission.campaign_id == access.campaign_id]
    if not access.organises:
        others = Declaration.withdrawn_at.is_(None) if access.sees_board and access.sees_names else None
        conditions.append(own if others is None else or_(own, others))
        conditions.append(Submission.test_set_id.not_in(access.hidden_test_sets))
    if after is not None:
        conditions.append(System.id > after)
    rows = connection.execute(
        select(
            System.id,
            System.team,
            System.name,
            func.count().label("submissions"),
            func.min(Submission.created_at).label("first_at"),
            func.max(Submission.created_at).label("last_at"),
        )
        .join(Submission, Submission.system_id == System.id)
        .outerjoin(Declaration, Declaration.submission_id == Submission.id)
        .where(*conditions)
        .group_by(System.id, System.team, System.name)
        .order_by(System.id)
        .limit(limit + 1)
    )
    return [
        SystemView(
            row.id,
            access.name_of(row.team),
            row.name,
            row.team in access.own_teams,
            row.submissions,
            row.first_at,
            row.last_at,
        )
        for row in rows
    ]
