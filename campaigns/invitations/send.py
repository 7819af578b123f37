"""Creating invitations, shared by pages, API and command line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from campaigns.accounts.teams import leads_team, team_for
from campaigns.accounts.throttle import Rate
from campaigns.errors import Forbidden, NotFound
from campaigns.invitations.email_texts import invitation_email, invitation_link
from campaigns.invitations.invitations import (
    InvitationInfo,
    clear_mail_secret,
    issue_mail_secret,
    list_invitations,
    may_withdraw,
    read_invitation,
    withdraw_invitation,
)
from campaigns.invitations.invitations import make_invitation as make
from campaigns.permissions import read_access, read_access_by_id
from models.database.session import writing
from models.schema.roles import CampaignRole, SiteRole, TeamRole
from runtime.mail import NO_MAILS, send_email

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from campaigns.accounts.principal import Principal
    from campaigns.accounts.throttle import Throttle
    from runtime.service_settings import WebSettings


TO_ONE_ADDRESS = Rate("invitations to", 3, 86400)
"""Invitations e-mailed to one address, from anybody."""


@dataclass(frozen=True, slots=True)
class InvitationResult:
    """An invitation and how it reaches its recipient."""

    known: InvitationInfo
    link: str
    mailed: bool = False
    not_mailed: str = ""
    """Why no e-mail was sent to its address; "" if one was sent, or if it has no address."""


def invite(
    connection: Connection,
    settings: WebSettings,
    actor: Principal,
    *,
    email: str = "",
    role: SiteRole = SiteRole.PARTICIPANT,
    team: str = "",
    team_role: TeamRole = TeamRole.MEMBER,
    campaign: str = "",
    campaign_role: CampaignRole | None = None,
) -> InvitationResult:
    """Invite somebody, by a link to hand on.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist.
    """
    campaign_id = None
    if campaign:
        access = read_access(connection, actor, campaign)
        if not access.organises:
            raise Forbidden("Only organisers of this campaign can invite others to it.")
        campaign_id = access.campaign_id
    known, secret = make(
        connection,
        actor,
        settings.invitation_seconds,
        email=email,
        role=role,
        team=team,
        team_role=team_role,
        campaign_id=campaign_id,
        campaign_role=campaign_role,
    )
    return InvitationResult(known, invitation_link(settings, secret), not_mailed=NO_MAILS if known.email else "")


def invite_by_mail(
    engine: Engine, settings: WebSettings, throttle: Throttle, actor: Principal, *, email: str, **what: Any
) -> InvitationResult:
    """As `invite`, and e-mail the invitation if e-mails are configured and an address is given.

    The e-mail has a secret of its own, so that accepting by it proves ownership of the address. Also raises TooMany and
    Forbidden: nobody may flood mailboxes through this server, or send arbitrary text in its name.
    """
    mail = None
    with writing(engine) as connection:
        made = invite(connection, settings, actor, email=email, **what)
        if made.known.email and settings.mail_url is not None:
            _count_invitation(settings, throttle, actor, made.known)
            mail = invitation_email(settings, made.known, issue_mail_secret(connection, made.known.id))
    if mail is None:
        return made
    fault = send_email(settings, mail)
    if fault:
        with writing(engine) as connection:
            clear_mail_secret(connection, made.known.id)
    return replace(made, mailed=not fault, not_mailed=fault)


def _count_invitation(settings: WebSettings, throttle: Throttle, actor: Principal, known: InvitationInfo) -> None:
    """Count an e-mail for its sender, the sender's team and its recipient.

    Raises
    ------
    TooMany
        If a limit on attempts is reached.
    Forbidden
        If the caller lacks the permission.
    """
    if not actor.verified and not actor.administrates:
        raise Forbidden(
            "Confirm your own address before you invite others by e-mail, or invite without an address and send "
            "the link yourself."
        )
    most = Rate("invitations", settings.invitations_per_day, 86400)
    enough = (
        f"You sent {settings.invitations_per_day} invitations by e-mail within a day, which is the maximum. "
        "Invite without an address."
    )
    counted = [(most, f"account {actor.account_id}", enough)]
    if known.team_id is not None:
        counted.append((most, f"team {known.team_id}", enough))
    counted.append(
        (TO_ONE_ADDRESS, known.email, "This address has received too many invitations today. Send the link yourself.")
    )
    for rate, whose, message in counted:
        throttle.check(rate, whose, message)
    for rate, whose, message in counted:
        throttle.hit(rate, whose, message)


def visible_invitations(
    connection: Connection,
    actor: Principal,
    *,
    team: str = "",
    campaign: str = "",
    before: int | None = None,
    limit: int = 50,
    open_only: bool = False,
) -> list[InvitationInfo]:
    """Return invitations to a team that the actor leads, to a campaign it organises, or (without either) its own.

    Administrators see all. One more than `limit` if there are more.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist.
    """
    team_id = campaign_id = made_by = None
    if team:
        team_id = team_for(connection, actor, team).id
        if not leads_team(actor, team):
            raise Forbidden(f"Only leads of the team {team} can see its invitations.")
    if campaign:
        access = read_access(connection, actor, campaign)
        if not access.organises:
            raise Forbidden("Only organisers of this campaign can see its invitations.")
        campaign_id = access.campaign_id
    if not team and not campaign and not actor.administrates:
        made_by = actor.account_id
    return list_invitations(
        connection,
        made_by=made_by,
        team_id=team_id,
        campaign_id=campaign_id,
        before=before,
        limit=limit,
        open_only=open_only,
    )


def withdraw_visible_invitation(connection: Connection, actor: Principal, invitation_id: int) -> InvitationInfo:
    """Revoke an invitation.

    Raises
    ------
    NotFound
        If it does not exist or the actor may not revoke it, with the same message.
    """
    known = read_invitation(connection, invitation_id)
    if not may_withdraw(actor, known) and not _organises(connection, actor, known):
        raise NotFound(f"You have no invitation {invitation_id}.")
    withdraw_invitation(connection, actor, known)
    return known


def _organises(connection: Connection, actor: Principal, known: InvitationInfo) -> bool:
    if known.campaign_id is None:
        return False
    try:
        return read_access_by_id(connection, actor, known.campaign_id).organises
    except NotFound:
        return False
