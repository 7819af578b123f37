"""To invite somebody: what pages, API and command line do alike around `campaigns.invitations.invitations`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from campaigns.accounts.mail import NO_MAILS, send
from campaigns.accounts.teams import leads, team_for
from campaigns.accounts.throttle import Rate
from campaigns.errors import Forbidden, NotThere
from campaigns.invitations.email_texts import invitation_letter, invitation_link
from campaigns.invitations.invitations import (
    KnownInvitation,
    forget_mailed,
    list_invitations,
    may_withdraw,
    note_mailed,
    read_invitation,
    withdraw_invitation,
)
from campaigns.invitations.invitations import make_invitation as make
from campaigns.permissions import read_sight, read_sight_by_id
from models.database.session import writing
from models.schema.roles import CampaignRole, SiteRole, TeamRole

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from campaigns.accounts.principal import Principal
    from campaigns.accounts.throttle import Throttle
    from runtime.service_settings import WebSettings


TO_ONE_ADDRESS = Rate("invitations to", 3, 86400)
"""Mails that invite somebody, whoever causes them."""


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation, and how it reaches whom it is for."""

    known: KnownInvitation
    link: str
    mailed: bool = False
    not_mailed: str = ""
    """Why the address that it is for got no mail; "" where it got one, or where it is for whoever has the link."""


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
) -> Invited:
    """Invite somebody, by a link to hand on. Raises BadRequest, Forbidden, NotThere."""
    campaign_id = None
    if campaign:
        sight = read_sight(connection, actor, campaign)
        if not sight.organises:
            raise Forbidden("Only organisers of this campaign invite others to it.")
        campaign_id = sight.campaign_id
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
    return Invited(known, invitation_link(settings, secret), not_mailed=NO_MAILS if known.email else "")


def invite_by_mail(
    engine: Engine, settings: WebSettings, throttle: Throttle, actor: Principal, *, email: str, **what: Any
) -> Invited:
    """As `invite`, and send it where mails are sent and an address is known; whether that worked is known afterwards.

    The mail brings a secret of its own, so that who accepts by it has shown that the address is his. Raises TooMany and
    Forbidden as well: nobody fills mailboxes through us, or sends what he likes under our name.
    """
    letter = None
    with writing(engine) as connection:
        made = invite(connection, settings, actor, email=email, **what)
        if made.known.email and settings.mail_url is not None:
            _spend(settings, throttle, actor, made.known)
            letter = invitation_letter(settings, made.known, note_mailed(connection, made.known.id))
    if letter is None:
        return made
    fault = send(settings, letter)
    if fault:
        with writing(engine) as connection:
            forget_mailed(connection, made.known.id)
    return replace(made, mailed=not fault, not_mailed=fault)


def _spend(settings: WebSettings, throttle: Throttle, actor: Principal, known: KnownInvitation) -> None:
    """Count a mail for who causes it, for his team, and for who gets it. Raises TooMany, Forbidden."""
    if not actor.verified and not actor.administrates:
        raise Forbidden(
            "Confirm your own address before you invite others by mail; or invite without an address, and hand the "
            "link on yourself."
        )
    most = Rate("invitations", settings.invitations_per_day, 86400)
    enough = f"{settings.invitations_per_day} invitations were sent by mail within a day. Invite without an address."
    counted = [(most, f"account {actor.account_id}", enough)]
    if known.team_id is not None:
        counted.append((most, f"team {known.team_id}", enough))
    counted.append((TO_ONE_ADDRESS, known.email, "This address got invitations enough today. Hand a link on yourself."))
    for rate, whose, message in counted:
        throttle.check(rate, whose, message)
    for rate, whose, message in counted:
        throttle.spend(rate, whose, message)


def invitations_seen(
    connection: Connection,
    actor: Principal,
    *,
    team: str = "",
    campaign: str = "",
    before: int | None = None,
    limit: int = 50,
    open_only: bool = False,
) -> list[KnownInvitation]:
    """Invitations to a team that one leads, to a campaign that one organises, or (without either) one's own.

    Administrators see all. One more than the limit where there are more. Raises Forbidden, NotThere.
    """
    team_id = campaign_id = made_by = None
    if team:
        team_id = team_for(connection, actor, team).id
        if not leads(actor, team):
            raise Forbidden(f"Only those who lead the team {team} see its invitations.")
    if campaign:
        sight = read_sight(connection, actor, campaign)
        if not sight.organises:
            raise Forbidden("Only organisers of this campaign see its invitations.")
        campaign_id = sight.campaign_id
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


def withdraw(connection: Connection, actor: Principal, invitation_id: int) -> KnownInvitation:
    """Let an invitation be good no more. Raises NotThere, in the same words where it is not one's to withdraw."""
    known = read_invitation(connection, invitation_id)
    if not may_withdraw(actor, known) and not _organises(connection, actor, known):
        raise NotThere(f"There is no invitation {invitation_id} of yours.")
    withdraw_invitation(connection, actor, known)
    return known


def _organises(connection: Connection, actor: Principal, known: KnownInvitation) -> bool:
    if known.campaign_id is None:
        return False
    try:
        return read_sight_by_id(connection, actor, known.campaign_id).organises
    except NotThere:
        return False
