"""Systems of a campaign: all submissions under one name, with what is said of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select

from campaigns.errors import NotFound
from models.schema.accounts import Team
from models.schema.campaigns import Declaration
from models.schema.column_types import is_known
from models.schema.corpus import Submission, System
from models.schema.roles import SystemOrigin, Weights
from models.schema.systems import SystemDescription, is_described
from steelyard_client.vocabulary import ORIGINS

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
    origin: SystemOrigin
    description: str
    affiliation: str
    """That of the team, where the system has none of its own."""
    paper_url: str
    url: str
    parameters: int | None
    weights: Weights
    constrained: bool | None


def list_systems(connection: Connection, access: CampaignAccess, *, limit: int, after: int | None) -> list[SystemView]:
    """Return the visible systems by id, one more than `limit` if there are more.

    Organisers see all, teams their own; those of others are visible if the leaderboard is visible with their names, and
    only with their submissions that are not withdrawn. Baselines and online systems have no name to hide.
    """
    conditions = [] if after is None else [System.id > after]
    rows = connection.execute(_visible(access, *conditions).limit(limit + 1))
    return [_view(access, row) for row in rows]


def all_systems(connection: Connection, access: CampaignAccess) -> list[SystemView]:
    """Return all visible systems by id."""
    return [_view(access, row) for row in connection.execute(_visible(access))]


def systems_by_name(
    connection: Connection, access: CampaignAccess, first: int, most: int
) -> tuple[list[SystemView], int]:
    """Return a page of the visible systems by name, and how many there are."""
    rows = sorted(connection.execute(_visible(access)), key=lambda row: (row.name.casefold(), row.id))
    return [_view(access, row) for row in rows[first : first + most]], len(rows)


def find_system(connection: Connection, access: CampaignAccess, system: int) -> SystemView:
    """Return a visible system.

    Raises
    ------
    NotFound
        If the campaign has none of this number that the viewer may know of.
    """
    row = connection.execute(_visible(access, System.id == system)).one_or_none()
    if row is None:
        raise NotFound("The campaign has no such system that you may see.")
    return _view(access, row)


def _visible(access: CampaignAccess, *conditions: ColumnElement[bool]) -> Any:
    own = System.team.in_(access.own_teams)
    visible: list[ColumnElement[bool]] = [Submission.campaign_id == access.campaign_id, *conditions]
    if not access.organises:
        # A withdrawn submission is for its team alone.
        shown: list[ColumnElement[bool]] = [Declaration.withdrawn_at.is_(None)]
        if not access.sees_names:
            shown += [System.team == "", SystemDescription.origin.in_(ORIGINS)]
        visible.append(or_(own, and_(*shown)) if access.sees_board else own)
        visible.append(Submission.test_set_id.not_in(access.hidden_test_sets))
    said = (
        *(SystemDescription.origin, SystemDescription.description, SystemDescription.paper_url, SystemDescription.url),
        *(SystemDescription.parameters, SystemDescription.weights, SystemDescription.constrained),
        SystemDescription.affiliation,
    )
    return (
        select(
            System.id,
            System.team,
            System.name,
            func.count().label("submissions"),
            func.min(Submission.created_at).label("first_at"),
            func.max(Submission.created_at).label("last_at"),
            func.max(_number(Declaration.constrained)).label("declared"),
            func.min(_number(Declaration.constrained)).label("declared_too"),
            Team.affiliation.label("of_team"),
            *said,
        )
        .join(Submission, Submission.system_id == System.id)
        .outerjoin(Declaration, Declaration.submission_id == Submission.id)
        .outerjoin(SystemDescription, is_described(Submission.campaign_id, System.id))
        .outerjoin(Team, Team.name == System.team)
        .where(*visible)
        .group_by(System.id, System.team, System.name, Team.affiliation, *said)
        .order_by(System.id)
    )


def _number(column: Any) -> ColumnElement[int]:
    """A truth value as a number, which databases can compare."""
    return case((column.is_(True), 1), (column.is_(False), 0))


def _view(access: CampaignAccess, row: Any) -> SystemView:
    # What its submissions agree in goes before what was said later for all of them.
    declared = None if row.declared is None or row.declared != row.declared_too else bool(row.declared)
    origin = row.origin if row.origin is not None and is_known(row.origin) else SystemOrigin.TEAM
    return SystemView(
        id=row.id,
        team=access.name_of(row.team),
        system=row.name,
        own=row.team in access.own_teams,
        submissions=row.submissions,
        first_at=row.first_at,
        last_at=row.last_at,
        origin=origin,
        description=row.description or "",
        affiliation=row.affiliation or row.of_team or "",
        paper_url=row.paper_url or "",
        url=row.url or "",
        parameters=row.parameters,
        weights=row.weights if row.weights is not None and is_known(row.weights) else Weights.UNKNOWN,
        constrained=row.constrained if declared is None else declared,
    )
