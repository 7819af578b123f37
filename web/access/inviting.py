"""To invite somebody: what pages, API and command line do alike around `web.access.invitations`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from web.access.invitations import KnownInvitation, list_invitations, may_withdraw, read_invitation, withdraw_invitation
from web.access.invitations import make_invitation as make
from web.access.letters import invitation_letter, invitation_link
from web.access.teams import leads, team_for
from web.errors import Forbidden, NotThere
from web.life.sight import read_sight, read_sight_by_id

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from models.roles import CampaignRole, SiteRole, TeamRole
    from web.access.mail import Letter
    from web.access.principal import Principal
    from web.settings import WebSettings


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation, and how it reaches whom it is for."""

    known: KnownInvitation
    link: str
    letter: Letter | None
    """To be sent, where mails are sent and it is known to whom."""


def invite(
    connection: Connection,
    settings: WebSettings,
    actor: Principal,
    *,
    email: str,
    role: SiteRole,
    team: str,
    team_role: TeamRole,
    campaign: str,
    campaign_role: CampaignRole | None,
) -> Invited:
    """Invite somebody. Raises BadRequest, Forbidden, NotThere."""
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
    by_mail = settings.mail_url is not None and known.email
    letter = invitation_letter(settings, known, secret) if by_mail else None
    return Invited(known, invitation_link(settings, secret), letter)


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
