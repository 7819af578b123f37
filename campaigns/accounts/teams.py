"""Teams: creation, membership and names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update

from campaigns.accounts.accounts import read_account
from campaigns.accounts.lookalikes import confusable_key, in_latin
from campaigns.errors import BadRequest, Conflict, Forbidden, NotFound
from campaigns.fields.short_text import short_text
from models.database.upsert import insert_new, lock_table
from models.schema.accounts import Account, Membership, Team
from models.schema.campaigns import Campaign, Participation
from models.schema.corpus import System
from models.schema.roles import SiteRole, TeamRole
from steelyard.text.names import MAX_NAME_LENGTH, fault_of_name, folded

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from campaigns.accounts.principal import Principal

MAX_AFFILIATION_LENGTH = 200
MAX_TEAMS = 20
"""Teams that one account may lead."""
_ANONYMOUS = re.compile(r"team\s*\d+", re.IGNORECASE)
"""The name of a team while it is anonymous."""


@dataclass(frozen=True, slots=True)
class TeamInfo:
    """A team as its members see it."""

    id: int
    name: str
    publication_name: str
    affiliation: str
    created_at: float
    members: int


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a team."""

    account_id: int
    email: str
    name: str
    role: TeamRole
    joined_at: float


def create_team(
    connection: Connection,
    actor: Principal,
    name: str,
    *,
    publication_name: str = "",
    affiliation: str = "",
    lead: int | None = None,
) -> TeamInfo:
    """Create a team led by the account `lead` (the actor by default).

    The name never changes. Only administrators may use a name under which outputs were submitted already: the team then
    owns those outputs.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Forbidden
        If the caller lacks the permission.
    Conflict
        If it contradicts what is stored.
    """
    if lead is not None and lead != actor.account_id:
        read_account(connection, lead).require_owner()
    lead = actor.account_id if lead is None else lead
    if actor.role == SiteRole.VIEWER:
        raise Forbidden("Your account is read-only and cannot create a team. Ask an administrator.")
    name = _validated_name(name, "name")
    # Held until the transaction ends: names are compared with all others, and the teams of an account are counted.
    lock_table(connection, Team)
    publication_name = _validated_publication_name(connection, publication_name)
    affiliation = short_text(affiliation, "The affiliation", MAX_AFFILIATION_LENGTH)
    _refuse_taken_names(connection, name, None, "name")
    if not actor.administrates:
        taken = connection.scalars(select(System.team).where(System.team != "").distinct())
        if any(_look_alike(name, each) for each in taken):
            raise Conflict(f"There is already a team {name!r}, or one with a similar name. Choose another name.")
        leads = select(func.count()).where(Membership.account_id == lead, Membership.role == TeamRole.LEAD)
        if connection.execute(leads).scalar_one() >= MAX_TEAMS:
            raise Conflict(f"You already lead {MAX_TEAMS} teams, which is the maximum.")
    row = {"name": name, "folded_name": folded(name), "publication_name": publication_name, "affiliation": affiliation}
    made = insert_new(connection, Team, row)
    if made is None:
        raise Conflict(f"There is already a team {name!r}, or one with a similar name. Choose another name.")
    if lead is not None:
        connection.execute(insert(Membership).values(team_id=made, account_id=lead, role=TeamRole.LEAD))
    actor.audit(connection, "team.found", f"team {name}", publication_name=publication_name, affiliation=affiliation)
    return read_team(connection, name)


def change_team(
    connection: Connection,
    actor: Principal,
    name: str,
    *,
    publication_name: str | None = None,
    affiliation: str | None = None,
) -> TeamInfo:
    """Change the publication name and affiliation of a team.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist.
    Conflict
        If it contradicts what is stored.
    """
    known = _led_team(connection, actor, name)
    values = {}
    if publication_name is not None:
        lock_table(connection, Team)
        values["publication_name"] = _validated_publication_name(connection, publication_name, known.id)
    if affiliation is not None:
        values["affiliation"] = short_text(affiliation, "The affiliation", MAX_AFFILIATION_LENGTH)
    changes = {key: [getattr(known, key), value] for key, value in values.items() if getattr(known, key) != value}
    if changes:
        connection.execute(update(Team).where(Team.id == known.id).values(**values))
        actor.audit(connection, "team.change", f"team {name}", changes=changes)
    return read_team(connection, name)


def team_for(connection: Connection, actor: Principal, name: str) -> TeamInfo:
    """Return a team that the actor is in or administers.

    Raises
    ------
    NotFound
        If the actor may not see it, with the same message as if it does not exist.
    """
    if actor.administrates or name in actor.teams:
        return read_team(connection, name)
    raise NotFound("You are not in a team with this name.")


def teams_of(
    connection: Connection, actor: Principal, *, after: int | None = None, limit: int | None = None
) -> list[TeamInfo]:
    """Return the actor's teams, or all for administrators. One more than `limit` if there are more."""
    asked = _teams().order_by(Team.id)
    if not actor.administrates:
        asked = asked.where(Team.name.in_(actor.teams))
    if after is not None:
        asked = asked.where(Team.id > after)
    return [_team_info(row) for row in connection.execute(asked if limit is None else asked.limit(limit + 1))]


def read_team(connection: Connection, name: str) -> TeamInfo:
    """Return the team with that name, without an access check.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    row = connection.execute(_teams().where(Team.name == name)).one_or_none()
    if row is None:
        raise NotFound("There is no team with this name.")
    return _team_info(row)


def members_of(connection: Connection, team_id: int) -> list[Member]:
    """Return the members of a team, leads first."""
    rows = connection.execute(
        select(Account.id, Account.email, Account.name, Membership.role, Membership.joined_at)
        .join(Membership, Membership.account_id == Account.id)
        .where(Membership.team_id == team_id)
        .order_by(Membership.role, Account.name, Account.id)
    )
    return [Member(row.id, row.email, row.name, row.role, row.joined_at) for row in rows]


def campaigns_of(connection: Connection, team_id: int) -> list[str]:
    """Return the names of the campaigns that a team takes part in, newest first. Its members may see all of them."""
    asked = select(Campaign.name).join(Participation, Participation.campaign_id == Campaign.id)
    return list(connection.scalars(asked.where(Participation.team_id == team_id).order_by(Campaign.id.desc())))


def add_member(connection: Connection, actor: Principal, name: str, account_id: int, role: TeamRole) -> None:
    """Add an account to a team without asking it, for administrators.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist.
    Conflict
        If it contradicts what is stored.
    """
    if not actor.administrates:
        raise Forbidden("Only administrators can add accounts to a team; leads can invite them.")
    read_account(connection, account_id).require_owner()
    join_team(connection, actor, read_team(connection, name).id, account_id, role)


def join_team(connection: Connection, actor: Principal, team_id: int, account_id: int, role: TeamRole) -> None:
    """Add an account to a team; the caller has checked that it may join.

    Raises
    ------
    Conflict
        If it is a member already.
    """
    team, email = _team_and_email(connection, team_id, account_id)
    there = Membership.team_id == team_id, Membership.account_id == account_id
    if connection.execute(select(Membership.role).where(*there)).first() is not None:
        raise Conflict(f"{email} is already in the team {team}.")
    connection.execute(insert(Membership).values(team_id=team_id, account_id=account_id, role=role))
    actor.audit(connection, "team.join", f"team {team}", member=email, role=role)


def set_member_role(connection: Connection, actor: Principal, name: str, account_id: int, role: TeamRole) -> None:
    """Make a member a lead, or a lead a member.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist.
    Conflict
        For the last lead.
    """
    known = _led_team(connection, actor, name)
    member = _member(connection, known, account_id)
    if member.role == role:
        return
    if role != TeamRole.LEAD:
        _keep_a_lead(connection, known, account_id)
    which = Membership.team_id == known.id, Membership.account_id == account_id
    connection.execute(update(Membership).where(*which).values(role=role))
    subject = f"team {name}"
    actor.audit(connection, "team.role", subject, member=member.email, before=member.role, after=role)


def remove_from_team(connection: Connection, actor: Principal, name: str, account_id: int) -> None:
    """Remove a member: leads remove others, and everybody may leave. Raises as `set_member_role`."""
    leaves = account_id == actor.account_id
    known = team_for(connection, actor, name) if leaves else _led_team(connection, actor, name)
    member = _member(connection, known, account_id)
    if member.role == TeamRole.LEAD:
        _keep_a_lead(connection, known, account_id)
    connection.execute(delete(Membership).where(Membership.team_id == known.id, Membership.account_id == account_id))
    actor.audit(connection, "team.leave" if leaves else "team.remove", f"team {name}", member=member.email)


def leads_team(actor: Principal, name: str) -> bool:
    """Return whether the actor leads a team or is an administrator."""
    return actor.administrates or actor.teams.get(name) == TeamRole.LEAD


def _led_team(connection: Connection, actor: Principal, name: str) -> TeamInfo:
    known = team_for(connection, actor, name)
    if not leads_team(actor, name):
        raise Forbidden(f"Only leads of the team {name} can do that.")
    return known


def _member(connection: Connection, team: TeamInfo, account_id: int) -> Member:
    found = next((each for each in members_of(connection, team.id) if each.account_id == account_id), None)
    if found is None:
        raise NotFound(f"There is no account {account_id} in the team {team.name}.")
    return found


def _keep_a_lead(connection: Connection, team: TeamInfo, without: int) -> None:
    """Raise Conflict unless somebody else leads the team. Locks the leads, so that two cannot leave at once."""
    leading = Membership.team_id == team.id, Membership.role == TeamRole.LEAD
    asked = select(Membership.account_id).where(*leading).order_by(Membership.account_id)
    if not any(each != without for each in connection.scalars(asked.with_for_update()).all()):
        raise Conflict(f"The last lead of the team {team.name} cannot leave. Make another member a lead first.")


def _validated_name(given: str, what: str) -> str:
    name = short_text(given, f"The {what} of a team", MAX_NAME_LENGTH)
    if fault := fault_of_name(name):
        raise BadRequest(f"The {what} of a team cannot be {name[:100]!r}: {fault}.")
    if _ANONYMOUS.fullmatch(in_latin(name)):
        raise BadRequest(f'The {what} of a team cannot be "Team" and a number: anonymous teams have such names.')
    return name


def _validated_publication_name(connection: Connection, given: str, team_id: int | None = None) -> str:
    name = _validated_name(given, "publication name") if given.strip() else ""
    if name:
        _refuse_taken_names(connection, name, team_id, "publication name")
    return name


def _refuse_taken_names(connection: Connection, name: str, team_id: int | None, what: str) -> None:
    """Raise Conflict if the name could be mistaken for either name of another team."""
    for row in connection.execute(select(Team.id, Team.name, Team.publication_name)):
        if row.id != team_id and (_look_alike(name, row.name) or _look_alike(name, row.publication_name)):
            raise Conflict(f"There is already a team {name!r}, or one with a similar name. Choose another {what}.")


def _look_alike(name: str, other: str) -> bool:
    return folded(name) == folded(other) or confusable_key(name) == confusable_key(other)


def _team_and_email(connection: Connection, team_id: int, account_id: int) -> tuple[str, str]:
    team = connection.execute(select(Team.name).where(Team.id == team_id)).scalar_one_or_none()
    email = connection.execute(select(Account.email).where(Account.id == account_id)).scalar_one_or_none()
    if team is None or email is None:
        raise NotFound("There is no such team, or no such account.")
    return team, email


def _teams() -> Any:
    members = select(func.count()).where(Membership.team_id == Team.id).scalar_subquery()
    return select(Team, members.label("members"))


def _team_info(row: Row[Any]) -> TeamInfo:
    return TeamInfo(row.id, row.name, row.publication_name, row.affiliation, row.created_at, row.members)
