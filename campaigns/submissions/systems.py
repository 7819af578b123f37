"""Systems of a campaign: what has been handed in under one name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, func, or_, select

from models.schema.campaigns import Declaration
from models.schema.corpus import Submission, System

if TYPE_CHECKING:
    from campaigns.permissions import Sight


@dataclass(frozen=True, slots=True)
class SeenSystem:
    """A system as somebody sees it."""

    id: int
    team: str
    """What the team is called before these eyes; "" for the organisers' own systems."""
    system: str
    own: bool
    submissions: int
    first_at: float
    last_at: float


def list_systems(connection: Connection, sight: Sight, *, limit: int, after: int | None) -> list[SeenSystem]:
    """Systems by id, one more than `limit` where there are more.

    Organisers see all, teams their own; those of others are seen by whoever sees the leaderboard with their names, and
    only as far as they are not withdrawn.
    """
    own = System.team.in_(sight.own_teams)
    conditions: list[ColumnElement[bool]] = [Submission.campaign_id == sight.campaign_id]
    if not sight.organises:
        others = Declaration.withdrawn_at.is_(None) if sight.sees_board and sight.sees_names else None
        conditions.append(own if others is None else or_(own, others))
        conditions.append(Submission.test_set_id.not_in(sight.hidden_test_sets))
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
        SeenSystem(
            row.id,
            sight.name_of(row.team),
            row.name,
            row.team in sight.own_teams,
            row.submissions,
            row.first_at,
            row.last_at,
        )
        for row in rows
    ]
