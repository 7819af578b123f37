"""Which teams take part in a campaign, and who organises it or may look at it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from campaigns.accounts.accounts import find_account
from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.accounts.secrets import hash_of, new_secret
from campaigns.errors import Forbidden, NotThere, Taken
from campaigns.permissions import Sight, read_sight
from models.corpus.campaign_protocols import lock_campaign
from models.schema.accounts import Account, Invitation, Team
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignMember, Participation
from models.schema.corpus import Submission, System
from models.schema.roles import CampaignRole, Joining, Scope, TeamRole

INVITATION_SECONDS = 14 * 86400.0
"""How long a team may think about an invitation."""
NUMBERS_TO_DRAW_FROM = 100
"""At least; ten times as many teams as there are, so that a number says nothing of who came when."""


@dataclass(frozen=True, slots=True)
class KnownMember:
    """An account that organises a campaign, or may look at it."""

    account_id: int
    email: str
    name: str
    role: CampaignRole


def join(
    connection: Connection,
    principal: Principal,
    campaign: str,
    team: str,
    *,
    invitation_seconds: float = INVITATION_SECONDS,
) -> bool:
    """Let a team take part in a campaign; whether it does now.

    Who leads it lets it join where joining is open, or where an organiser has invited it. An organiser who does not
    lead it invites it: it takes part once its lead has joined, and nobody is taken in unasked but by administrators.
    Raises NotThere, NotSignedIn, Forbidden and Taken.
    """
    own = principal.teams.get(team) == TeamRole.LEAD
    invited = _invitation(connection, campaign, team) if own else None
    if invited is not None:
        _require_lead(principal, team)
        take_in_team(connection, principal, invited.campaign_id, campaign, invited.team_id, team)
        used = {"used_at": now(), "used_by": principal.account_id}
        connection.execute(update(Invitation).where(Invitation.id == invited.id).values(**used))
        return True
    sight = read_sight(connection, principal, campaign)
    if not sight.organises:
        _require_lead(principal, team)
        if sight.joining != Joining.OPEN:
            raise Forbidden("Teams do not join this campaign by themselves: ask its organisers to invite yours.")
    elif principal is not COMMAND_LINE:
        sight.require_organiser()
    known = connection.scalar(select(Team.id).where(Team.name == team))
    if known is None:
        raise NotThere(f"There is no team {team[:100]!r}.")
    if sight.organises and not own and not principal.administrates:
        _invite_team(connection, sight, known, team, invitation_seconds)
        return False
    take_in_team(connection, principal, sight.campaign_id, sight.name, known, team)
    return True


def _invitation(connection: Connection, campaign: str, team: str) -> Any:
    """The invitation of a team to a campaign, as long as it is open and who made it could still make it."""
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


def _invite_team(connection: Connection, sight: Sight, team_id: int, team: str, seconds: float) -> None:
    """Ask the leads of a team whether it takes part. Raises Taken where it does, or was asked."""
    lock_campaign(connection, sight.campaign_id)
    if team in sight.teams:
        raise Taken(f"The team {team} takes part in this campaign.")
    if _invitation(connection, sight.name, team) is not None:
        raise Taken(f"The team {team} was invited already. It takes part once its lead has accepted.")
    row = {
        # Nobody has this secret: who leads the team accepts on its page.
        "secret_hash": hash_of(new_secret()),
        "campaign_id": sight.campaign_id,
        "team_id": team_id,
        "made_by": sight.principal.account_id,
        "expires_at": now() + seconds,
    }
    connection.execute(insert(Invitation).values(**row))
    subject = f"team {team} to campaign {sight.name}"
    sight.principal.audit(connection, "invitation.make", subject, campaign_id=sight.campaign_id)


def take_in_team(
    connection: Connection, principal: Principal, campaign_id: int, campaign: str, team_id: int, team: str
) -> None:
    """Write that a team takes part, with a number drawn by lot; whether it may was asked before. Raises Taken."""
    lock_campaign(connection, campaign_id)
    taken = select(Participation.team_id, Participation.number).where(Participation.campaign_id == campaign_id)
    numbers = {row.team_id: row.number for row in connection.execute(taken)}
    if team_id in numbers:
        raise Taken(f"The team {team} takes part in this campaign.")
    free = set(range(1, max(NUMBERS_TO_DRAW_FROM, 10 * (len(numbers) + 1)))) - set(numbers.values())
    number = sorted(free)[secrets.randbelow(len(free))]
    connection.execute(insert(Participation).values(campaign_id=campaign_id, team_id=team_id, number=number))
    principal.audit(connection, "team.join", f"team {team} in campaign {campaign}", campaign_id=campaign_id)


def leave(connection: Connection, principal: Principal, campaign: str, team: str) -> None:
    """Let a team that has handed in nothing take part no longer. Raises NotThere, Forbidden and Taken."""
    sight = read_sight(connection, principal, campaign)
    if not sight.organises:
        _require_lead(principal, team)
    elif principal is not COMMAND_LINE:
        sight.require_organiser()
    lock_campaign(connection, sight.campaign_id)
    team_id = connection.scalar(select(Team.id).where(Team.name == team))
    if team_id is None or team not in sight.teams:
        raise NotThere(f"There is no team {team[:100]!r} in this campaign.")
    handed_in = connection.scalar(
        select(func.count())
        .select_from(Submission)
        .join(System, System.id == Submission.system_id)
        .where(Submission.campaign_id == sight.campaign_id, System.team == team)
    )
    if handed_in:
        raise Taken(f"The team {team} has handed in: it stays. What it has handed in can be withdrawn.")
    where = Participation.campaign_id == sight.campaign_id, Participation.team_id == team_id
    connection.execute(delete(Participation).where(*where))
    subject = f"team {team} in campaign {sight.name}"
    principal.audit(connection, "team.leave", subject, campaign_id=sight.campaign_id)


def list_members(connection: Connection, campaign_id: int) -> list[KnownMember]:
    """Organisers, then those who may look, by address."""
    rows = connection.execute(
        select(CampaignMember.account_id, Account.email, Account.name, CampaignMember.role)
        .join(Account, Account.id == CampaignMember.account_id)
        .where(CampaignMember.campaign_id == campaign_id)
        .order_by(CampaignMember.role, Account.email)
    )
    return [KnownMember(row.account_id, row.email, row.name, CampaignRole(row.role)) for row in rows]


def set_member(connection: Connection, sight: Sight, email: str, role: CampaignRole) -> KnownMember:
    """Let an account organise a campaign (`to_change`), or look at it. Raises NotThere and Taken."""
    try:
        account = find_account(connection, email)
    except NotThere as error:
        raise NotThere(f"{error} Send an invitation.") from error
    members = {each.account_id: each for each in list_members(connection, sight.campaign_id)}
    before = members.get(account.id)
    if before is not None and before.role == CampaignRole.ORGANISER and role != CampaignRole.ORGANISER:
        _check_not_last(members, account.id)
    key = {"campaign_id": sight.campaign_id, "account_id": account.id}
    if before is None or (role == CampaignRole.ORGANISER and before.role != role):
        account.require_owner()
    if before is None:
        connection.execute(insert(CampaignMember).values(role=role, **key))
    elif before.role != role:
        where = (getattr(CampaignMember, name) == value for name, value in key.items())
        connection.execute(update(CampaignMember).where(*where).values(role=role))
    if before is None or before.role != role:
        _audit(connection, sight, "member.set", account.email, role=[before.role if before else None, role])
    return KnownMember(account.id, account.email, account.name, role)


def remove_member(connection: Connection, sight: Sight, account_id: int) -> None:
    """Let an account be nothing in a campaign (`to_change`) any more. Raises NotThere and Taken."""
    members = {each.account_id: each for each in list_members(connection, sight.campaign_id)}
    member = members.get(account_id)
    if member is None:
        raise NotThere("This account is no member of the campaign.")
    if member.role == CampaignRole.ORGANISER:
        _check_not_last(members, account_id)
    where = CampaignMember.campaign_id == sight.campaign_id, CampaignMember.account_id == account_id
    connection.execute(delete(CampaignMember).where(*where))
    _audit(connection, sight, "member.remove", member.email, role=[member.role, None])


def _check_not_last(members: dict[int, KnownMember], account_id: int) -> None:
    left = [each for each in members.values() if each.role == CampaignRole.ORGANISER and each.account_id != account_id]
    if not left:
        raise Taken("This is the last organiser of the campaign. Make somebody else one first.")


def _require_lead(principal: Principal, team: str) -> None:
    principal.require(Scope.SUBMIT)
    role = principal.teams.get(team)
    if role is None:
        raise Forbidden("Only members of the team that are allowed to may do that.")
    if role != TeamRole.LEAD:
        raise Forbidden("Only who leads the team lets it join or leave a campaign.")


def _audit(connection: Connection, sight: Sight, action: str, email: str, **details: Any) -> None:
    subject = f"{email} in campaign {sight.name}"
    sight.principal.audit(connection, action, subject, campaign_id=sight.campaign_id, **details)
