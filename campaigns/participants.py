"""The teams that take part in a campaign, and the accounts that organise or view it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from campaigns.accounts.accounts import find_account
from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.accounts.secrets import hash_of, new_secret
from campaigns.errors import Conflict, Forbidden, NotFound
from campaigns.permissions import NOT_A_MEMBER, CampaignAccess, read_access
from models.corpus.campaign_protocols import lock_campaign
from models.schema.accounts import Account, Invitation, Team
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignMember, Participation
from models.schema.corpus import Submission, System
from models.schema.roles import CampaignRole, Joining, Scope, TeamRole

TEAM_INVITATION_SECONDS = 14 * 86400.0
"""Lifetime of an invitation to a team."""
NUMBERS_TO_DRAW_FROM = 100
"""Minimum; otherwise ten times the number of teams, so that numbers do not reveal the order of joining."""


@dataclass(frozen=True, slots=True)
class MemberInfo:
    """An organiser or viewer of a campaign."""

    account_id: int
    email: str
    name: str
    role: CampaignRole


def join_with_team(
    connection: Connection,
    principal: Principal,
    campaign: str,
    team: str,
    *,
    invitation_seconds: float = TEAM_INVITATION_SECONDS,
) -> bool:
    """Let a team join a campaign, or invite it; returns whether it takes part now.

    Leads join with their team if joining is open or an organiser has invited it. Organisers who do not lead the team
    invite it: it takes part once a lead has accepted, and only administrators add a team without asking it. Raises
    NotFound, NotSignedIn, Forbidden and Conflict.
    """
    own = principal.teams.get(team) == TeamRole.LEAD
    invited = _invitation(connection, campaign, team) if own else None
    if invited is not None:
        _require_lead(principal, team)
        add_team(connection, principal, invited.campaign_id, campaign, invited.team_id, team)
        used = {"used_at": now(), "used_by": principal.account_id}
        connection.execute(update(Invitation).where(Invitation.id == invited.id).values(**used))
        return True
    access = read_access(connection, principal, campaign)
    if not access.organises:
        _require_lead(principal, team)
        if access.joining != Joining.OPEN:
            raise Forbidden("Participation is by invitation: ask the organisers to invite your team.")
    elif principal is not COMMAND_LINE:
        access.require_organiser()
    known = connection.scalar(select(Team.id).where(Team.name == team))
    if known is None:
        raise NotFound(f"There is no team {team[:100]!r}.")
    if access.organises and not own and not principal.administrates:
        _invite_team(connection, access, known, team, invitation_seconds)
        return False
    add_team(connection, principal, access.campaign_id, access.name, known, team)
    return True


def _invitation(connection: Connection, campaign: str, team: str) -> Any:
    """Return the open invitation of a team to a campaign, if its creator could still create it; None otherwise."""
    asked = (
        select(Invitation.id, Invitation.campaign_id, Invitation.team_id)
        .join(Campaign, Campaign.id == Invitation.campaign_id)
        .join(Team, Team.id == Invitation.team_id)
        .join(Account, Account.id == Invitation.made_by)
        .join(
            CampaignMember,
            (CampaignMember.campaign_id == Campaign.id) & (CampaignMember.account_id == Invitation.made_by),
        )
        .where(
            *(Campaign.name == campaign, Team.name == team, CampaignMember.role == CampaignRole.ORGANISER),
            *(Account.disabled_at.is_(None), Invitation.used_at.is_(None), Invitation.expires_at > now()),
        )
        .order_by(Invitation.id)
        .limit(1)
    )
    return connection.execute(asked).one_or_none()


def _invite_team(connection: Connection, access: CampaignAccess, team_id: int, team: str, seconds: float) -> None:
    """Invite a team to a campaign.

    Raises
    ------
    Conflict
        If it takes part or was invited already.
    """
    lock_campaign(connection, access.campaign_id)
    if team in access.teams:
        raise Conflict(f"The team {team} already participates in this campaign.")
    if _invitation(connection, access.name, team) is not None:
        raise Conflict(f"The team {team} has already been invited. It participates once its lead has accepted.")
    row = {
        # Nobody knows this secret: a lead accepts on the team's page.
        "secret_hash": hash_of(new_secret()),
        "campaign_id": access.campaign_id,
        "team_id": team_id,
        "made_by": access.principal.account_id,
        "expires_at": now() + seconds,
    }
    connection.execute(insert(Invitation).values(**row))
    subject = f"team {team} to campaign {access.name}"
    access.principal.audit(connection, "invitation.make", subject, campaign_id=access.campaign_id)


def add_team(
    connection: Connection, principal: Principal, campaign_id: int, campaign: str, team_id: int, team: str
) -> None:
    """Add a team with a randomly drawn number; the caller has checked the permission.

    Raises
    ------
    Conflict
        If it contradicts what is stored.
    """
    lock_campaign(connection, campaign_id)
    taken = select(Participation.team_id, Participation.number).where(Participation.campaign_id == campaign_id)
    numbers = {row.team_id: row.number for row in connection.execute(taken)}
    if team_id in numbers:
        raise Conflict(f"The team {team} already participates in this campaign.")
    free = set(range(1, max(NUMBERS_TO_DRAW_FROM, 10 * (len(numbers) + 1)))) - set(numbers.values())
    number = sorted(free)[secrets.randbelow(len(free))]
    connection.execute(insert(Participation).values(campaign_id=campaign_id, team_id=team_id, number=number))
    principal.audit(connection, "team.join", f"team {team} in campaign {campaign}", campaign_id=campaign_id)


def leave_with_team(connection: Connection, principal: Principal, campaign: str, team: str) -> None:
    """Remove a team that has not submitted from a campaign.

    Raises
    ------
    NotFound
        If it does not exist.
    Forbidden
        If the caller lacks the permission.
    Conflict
        If it contradicts what is stored.
    """
    access = read_access(connection, principal, campaign)
    if not access.organises:
        _require_lead(principal, team)
    elif principal is not COMMAND_LINE:
        access.require_organiser()
    lock_campaign(connection, access.campaign_id)
    team_id = connection.scalar(select(Team.id).where(Team.name == team))
    if team_id is None or team not in access.teams:
        raise NotFound(f"There is no team {team[:100]!r} in this campaign.")
    submissions = connection.scalar(
        select(func.count())
        .select_from(Submission)
        .join(System, System.id == Submission.system_id)
        .where(Submission.campaign_id == access.campaign_id, System.team == team)
    )
    if submissions:
        raise Conflict(f"The team {team} has submissions, so it cannot leave. Withdraw them instead.")
    where = Participation.campaign_id == access.campaign_id, Participation.team_id == team_id
    connection.execute(delete(Participation).where(*where))
    subject = f"team {team} in campaign {access.name}"
    principal.audit(connection, "team.leave", subject, campaign_id=access.campaign_id)


def campaign_members(connection: Connection, campaign_id: int) -> list[MemberInfo]:
    """Return organisers, then viewers, by address."""
    rows = connection.execute(
        select(CampaignMember.account_id, Account.email, Account.name, CampaignMember.role)
        .join(Account, Account.id == CampaignMember.account_id)
        .where(CampaignMember.campaign_id == campaign_id)
        .order_by(CampaignMember.role, Account.email)
    )
    return [MemberInfo(row.account_id, row.email, row.name, row.role) for row in rows]


def set_campaign_role(connection: Connection, access: CampaignAccess, email: str, role: CampaignRole) -> MemberInfo:
    """Make an account an organiser or viewer of a locked campaign (`lock_for_change`).

    Raises
    ------
    NotFound
        If it does not exist.
    Conflict
        If it contradicts what is stored.
    """
    try:
        account = find_account(connection, email)
    except NotFound as error:
        raise NotFound(f"{error} Send an invitation.") from error
    members = {each.account_id: each for each in campaign_members(connection, access.campaign_id)}
    before = members.get(account.id)
    if before is not None and before.role == CampaignRole.ORGANISER and role != CampaignRole.ORGANISER:
        _check_not_last(members, account.id)
    key = {"campaign_id": access.campaign_id, "account_id": account.id}
    if before is None or (role == CampaignRole.ORGANISER and before.role != role):
        account.require_owner()
    if before is None:
        connection.execute(insert(CampaignMember).values(role=role, **key))
    elif before.role != role:
        where = (getattr(CampaignMember, name) == value for name, value in key.items())
        connection.execute(update(CampaignMember).where(*where).values(role=role))
    if before is None or before.role != role:
        _audit(connection, access, "member.set", account.email, role=[before.role if before else None, role])
    return MemberInfo(account.id, account.email, account.name, role)


def remove_from_campaign(connection: Connection, access: CampaignAccess, account_id: int) -> None:
    """Remove an organiser or viewer from a locked campaign (`lock_for_change`).

    Raises
    ------
    NotFound
        If it does not exist.
    Conflict
        If it contradicts what is stored.
    """
    members = {each.account_id: each for each in campaign_members(connection, access.campaign_id)}
    member = members.get(account_id)
    if member is None:
        raise NotFound("This account is not a member of the campaign.")
    if member.role == CampaignRole.ORGANISER:
        _check_not_last(members, account_id)
    where = CampaignMember.campaign_id == access.campaign_id, CampaignMember.account_id == account_id
    connection.execute(delete(CampaignMember).where(*where))
    _audit(connection, access, "member.remove", member.email, role=[member.role, None])


def _check_not_last(members: dict[int, MemberInfo], account_id: int) -> None:
    left = [each for each in members.values() if each.role == CampaignRole.ORGANISER and each.account_id != account_id]
    if not left:
        raise Conflict("This is the last organiser of the campaign. Make somebody else one first.")


def _require_lead(principal: Principal, team: str) -> None:
    principal.require(Scope.SUBMIT)
    role = principal.teams.get(team)
    if role is None:
        raise Forbidden(NOT_A_MEMBER)
    if role != TeamRole.LEAD:
        raise Forbidden("Only leads of the team can join or leave a campaign with it.")


def _audit(connection: Connection, access: CampaignAccess, action: str, email: str, **details: Any) -> None:
    subject = f"{email} in campaign {access.name}"
    access.principal.audit(connection, action, subject, campaign_id=access.campaign_id, **details)
