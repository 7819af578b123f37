"""Invitations: single-use links by which one person signs up, joins a team, or joins a campaign."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from campaigns.accounts.accounts import Unconfirmed, normalize_email
from campaigns.accounts.secrets import hash_of, new_secret
from campaigns.accounts.teams import create_team, join_team, leads_team, team_for
from campaigns.errors import BadRequest, Forbidden, NotFound
from campaigns.participants import add_team
from models.schema.accounts import Account, Invitation, Membership, Team
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignMember
from models.schema.column_types import known
from models.schema.roles import CampaignRole, SiteRole, TeamRole

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from campaigns.accounts.principal import Principal

USED_UP = "This invitation has been used, withdrawn or has expired, or the link is incomplete. Ask for a new one."
SMALL_ROLES = (SiteRole.PARTICIPANT, SiteRole.VIEWER)
"""The site roles that others than administrators may give to a new account."""


@dataclass(frozen=True, slots=True)
class InvitationInfo:
    """An invitation and what it is for."""

    id: int
    email: str
    """The address that it is for; "" for anybody who has the link."""
    role: SiteRole
    team_id: int | None
    team: str | None
    team_role: TeamRole | None
    campaign_id: int | None
    campaign: str | None
    campaign_title: str | None
    campaign_role: CampaignRole | None
    made_by_id: int | None
    made_by: str | None
    created_at: float
    expires_at: float
    used_at: float | None
    used_by: str | None
    alive: bool
    mailed: bool = False
    """Whether it was sent to its address, with a secret of its own."""
    proves_address: bool = False
    """Whether it was found by the mailed secret, which proves access to the address."""
    made_by_administrator: bool = False

    @property
    def wants_team(self) -> bool:
        """Whether it admits a team to a campaign, so that accepting it requires naming a team."""
        return self.campaign_id is not None and self.campaign_role is None


def make_invitation(
    connection: Connection,
    actor: Principal,
    seconds: float,
    *,
    email: str = "",
    role: SiteRole = SiteRole.PARTICIPANT,
    team: str = "",
    team_role: TeamRole = TeamRole.MEMBER,
    campaign_id: int | None = None,
    campaign_role: CampaignRole | None = None,
) -> tuple[InvitationInfo, str]:
    """Create an invitation to the site, to a team (by its leads), or to a campaign; with its secret.

    The caller has checked by its `CampaignAccess` that the actor organises the campaign. Without a campaign role, the
    invitation admits a team of whoever accepts it.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist.
    """
    email = normalize_email(email) if email.strip() else ""
    if role not in SMALL_ROLES and not actor.administrates:
        raise Forbidden("Only administrators can invite organisers and administrators of the server.")
    if team and campaign_id is not None:
        raise BadRequest("An invitation is either to a team or to a campaign. Create two invitations.")
    team_id = None
    if team:
        team_id = team_for(connection, actor, team).id
        if not leads_team(actor, team):
            raise Forbidden(f"Only leads of the team {team} can invite others to it.")
    elif campaign_id is None and not actor.may_create_campaigns:
        raise Forbidden("You can invite people to teams that you lead. Choose a team.")
    secret = new_secret()
    row = {
        "secret_hash": hash_of(secret),
        "email": email,
        "role": role,
        "team_id": team_id,
        "team_role": team_role if team else None,
        "campaign_id": campaign_id,
        "campaign_role": campaign_role if campaign_id is not None else None,
        "made_by": actor.account_id,
        "expires_at": now() + seconds,
    }
    made = int(connection.execute(insert(Invitation).values(**row).returning(Invitation.id)).scalar_one())
    known = read_invitation(connection, made)
    details = {"email": email, "role": role, "team": team, "team_role": row["team_role"], "as": row["campaign_role"]}
    actor.audit(
        connection,
        "invitation.make",
        f"invitation {made}",
        campaign_id=campaign_id,
        **{name: value for name, value in details.items() if value},
    )
    return known, secret


def find_invitation(connection: Connection, secret: str) -> InvitationInfo:
    """Return the invitation with this secret.

    Raises
    ------
    NotFound
        If it is used, expired, or its creator could not create it any more: a user who has lost a right must not
        regain it by an own link.
    """
    hashed = hash_of(secret)
    either = (Invitation.secret_hash == hashed) | (Invitation.mailed_hash == hashed)
    row = connection.execute(_invitations().where(either)).one_or_none()
    if row is None or not row.alive or not _maker_still_may(connection, row):
        raise NotFound(USED_UP)
    for role in (row.role, row.team_role, row.campaign_role):
        if role is not None:
            known(role, "A role in this invitation")
    return replace(_invitation_info(row), proves_address=row.mailed_hash == hashed)


def issue_mail_secret(connection: Connection, invitation_id: int) -> str:
    """Create the secret that is mailed to the address of an invitation and known to nobody else."""
    secret = new_secret()
    mine = Invitation.id == invitation_id
    connection.execute(update(Invitation).where(mine).values(mailed_hash=hash_of(secret)))
    return secret


def clear_mail_secret(connection: Connection, invitation_id: int) -> None:
    """Record that the e-mail was not sent: only the link that was shown works."""
    connection.execute(update(Invitation).where(Invitation.id == invitation_id).values(mailed_hash=None))


def require_proof(known: InvitationInfo, verified: bool) -> None:
    """Raise Unconfirmed if an address was invited by e-mail and the accepting account has not proved to own it."""
    if known.mailed and not known.proves_address and not verified:
        raise Unconfirmed(
            f"This invitation was sent to {known.email}. Open the link in that mail, or confirm the address of your "
            "account first."
        )


def read_invitation(connection: Connection, invitation_id: int) -> InvitationInfo:
    """Return the invitation with an id.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    row = connection.execute(_invitations().where(Invitation.id == invitation_id)).one_or_none()
    if row is None:
        raise NotFound(f"You have no invitation {invitation_id}.")
    return _invitation_info(row)


def list_invitations(
    connection: Connection,
    *,
    made_by: int | None = None,
    team_id: int | None = None,
    campaign_id: int | None = None,
    before: int | None = None,
    limit: int = 50,
    open_only: bool = False,
) -> list[InvitationInfo]:
    """Return invitations, newest first, one more than `limit` if there are more."""
    asked = _invitations()
    for column, value in (
        (Invitation.made_by, made_by),
        (Invitation.team_id, team_id),
        (Invitation.campaign_id, campaign_id),
    ):
        if value is not None:
            asked = asked.where(column == value)
    if before is not None:
        asked = asked.where(Invitation.id < before)
    if open_only:
        asked = asked.where(_alive())
    return [_invitation_info(row) for row in connection.execute(asked.order_by(Invitation.id.desc()).limit(limit + 1))]


def withdraw_invitation(connection: Connection, actor: Principal, known: InvitationInfo) -> None:
    """Revoke an invitation; the caller has checked the permission (`may_withdraw`)."""
    unused = Invitation.id == known.id, Invitation.used_at.is_(None), Invitation.expires_at > now()
    if connection.execute(update(Invitation).where(*unused).values(expires_at=now())).rowcount:
        actor.audit(connection, "invitation.withdraw", f"invitation {known.id}", campaign_id=known.campaign_id)


def may_withdraw(actor: Principal, known: InvitationInfo) -> bool:
    """Return whether the actor created the invitation or leads its team. Organisers are checked elsewhere."""
    own = known.made_by_id is not None and known.made_by_id == actor.account_id
    return actor.administrates or own or (known.team is not None and leads_team(actor, known.team))


def accept_invitation(
    connection: Connection, who: Principal, secret: str, *, team: str = "", new_team: str = ""
) -> InvitationInfo:
    """Accept an invitation for the signed-in account, and mark it used.

    `team` is one that the account leads, `new_team` one to create: for invitations that require a team. Raises
    NotFound, NotSignedIn, Forbidden, BadRequest, Conflict; the invitation stays unused once the transaction is rolled
    back.
    """
    known = find_invitation(connection, secret)
    account_id = who.account_id
    if account_id is None:
        raise NotFound(USED_UP)
    if known.email and known.email != who.email:
        raise Forbidden("This invitation is for another e-mail address. Sign in to the account that has it.")
    require_proof(known, who.verified)
    if known.proves_address and not who.verified:
        mine = Account.id == account_id, Account.verified_at.is_(None)
        connection.execute(update(Account).where(*mine).values(verified_at=now()))
        who.audit(connection, "account.verify", f"account {who.email}", how="by an invitation")
    unused = Invitation.id == known.id, Invitation.used_at.is_(None)
    if connection.execute(update(Invitation).where(*unused).values(used_at=now(), used_by=account_id)).rowcount != 1:
        raise NotFound(USED_UP)
    who.audit(connection, "invitation.use", f"invitation {known.id}", campaign_id=known.campaign_id)
    if known.team_id is not None:
        join_team(connection, who, known.team_id, account_id, known.team_role or TeamRole.MEMBER)
    if known.campaign_id is None:
        return known
    if known.campaign_role is not None:
        _join_campaign(connection, who, known, known.campaign_role)
        return known
    if new_team.strip():
        name = create_team(connection, who, new_team).name
    elif team and who.teams.get(team) == TeamRole.LEAD:
        name = team
    else:
        raise BadRequest("Choose one of the teams that you lead, or create a team.")
    team_id = connection.execute(select(Team.id).where(Team.name == name)).scalar_one()
    add_team(connection, who, known.campaign_id, known.campaign or "", team_id, name)
    return known


def _join_campaign(connection: Connection, who: Principal, known: InvitationInfo, role: CampaignRole) -> None:
    which = CampaignMember.campaign_id == known.campaign_id, CampaignMember.account_id == who.account_id
    before = connection.execute(select(CampaignMember.role).where(*which)).scalar_one_or_none()
    if before is None:
        row = {"campaign_id": known.campaign_id, "account_id": who.account_id, "role": role}
        connection.execute(insert(CampaignMember).values(**row))
    elif before != CampaignRole.ORGANISER:
        # Nobody becomes less by an invitation.
        connection.execute(update(CampaignMember).where(*which).values(role=role))
    subject = f"{who.email} in campaign {known.campaign}"
    who.audit(connection, "member.set", subject, campaign_id=known.campaign_id, role=[before, role])


def _maker_still_may(connection: Connection, row: Row[Any]) -> bool:
    if row.made_by is None:
        # The command line, or the server at its first start.
        return True
    maker = connection.execute(select(Account.role, Account.disabled_at).where(Account.id == row.made_by)).one()
    if maker.disabled_at is not None:
        return False
    if maker.role == SiteRole.ADMINISTRATOR:
        return True
    if row.role not in SMALL_ROLES:
        return False
    if row.team_id is not None and row.campaign_id is None:
        there = Membership.team_id == row.team_id, Membership.account_id == row.made_by
        asked = select(Membership.account_id).where(*there, Membership.role == TeamRole.LEAD)
    elif row.campaign_id is not None:
        there = CampaignMember.campaign_id == row.campaign_id, CampaignMember.account_id == row.made_by
        asked = select(CampaignMember.account_id).where(*there, CampaignMember.role == CampaignRole.ORGANISER)
    else:
        return bool(maker.role == SiteRole.ORGANISER)
    return connection.execute(asked).first() is not None


def _alive() -> Any:
    return Invitation.used_at.is_(None) & (Invitation.expires_at > now())


def _invitations() -> Any:
    maker, user = Account.__table__.alias("maker"), Account.__table__.alias("invited")
    return (
        select(
            Invitation,
            Team.name.label("team"),
            Campaign.name.label("campaign"),
            Campaign.title.label("campaign_title"),
            maker.c.name.label("maker_name"),
            maker.c.role.label("maker_role"),
            user.c.email.label("user_email"),
            _alive().label("alive"),
        )
        .outerjoin(Team, Team.id == Invitation.team_id)
        .outerjoin(Campaign, Campaign.id == Invitation.campaign_id)
        .outerjoin(maker, maker.c.id == Invitation.made_by)
        .outerjoin(user, user.c.id == Invitation.used_by)
    )


def _invitation_info(row: Row[Any]) -> InvitationInfo:
    return InvitationInfo(
        id=row.id,
        email=row.email,
        role=row.role,
        team_id=row.team_id,
        team=row.team,
        team_role=row.team_role,
        campaign_id=row.campaign_id,
        campaign=row.campaign,
        campaign_title=row.campaign_title or row.campaign,
        campaign_role=row.campaign_role,
        made_by_id=row.made_by,
        made_by=row.maker_name,
        created_at=row.created_at,
        expires_at=row.expires_at,
        used_at=row.used_at,
        used_by=row.user_email,
        alive=bool(row.alive),
        mailed=row.mailed_hash is not None,
        made_by_administrator=row.made_by is None or row.maker_role == SiteRole.ADMINISTRATOR,
    )
