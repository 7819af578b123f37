"""`steelyard invitation`: links with which people join the server, a team or a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.commands.errors import UsageError
from steelyard.commands.options import format_option, option, yes_option
from steelyard.commands.parsing import Noun, Value
from steelyard.commands.prompts import confirm
from steelyard.commands.values import whole_number
from steelyard.tables.formatting import date_time
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.accounts.accounts import ROLES
from steelyard_client.commands.backend import backend

if TYPE_CHECKING:
    from steelyard_client import Client
    from steelyard_client.documents.accounts.invitations import InvitationResponse

invitation = Noun(
    "invitation", help="Invite people to the server, to a team or to a campaign. A link works once, for one person."
)


@invitation.command(
    "create",
    help="Print a link with which one person can create an account, or join with their own. With an address it is sent "
    "there, too, where the server sends mails.",
    example="steelyard invitation create --email mary@example.org --team harbour --lead",
)
@option("--email", default="", metavar="EMAIL", help="only this address can use the link")
@option("--role", type=click.Choice(ROLES), default="participant", help="of the account (default: participant)")
@option("--team", default="", metavar="NAME", help="and to join this team")
@option("--lead", is_flag=True, help="and to lead it")
@option("--campaign", default="", metavar="NAME", help="or to join this campaign with a team")
@option(
    "--campaign-role", type=click.Choice(("organiser", "viewer")), help="or to join it in this role, without a team"
)
@backend()
def create(
    client: Client, email: str, role: str, team: str, lead: bool, campaign: str, campaign_role: str | None
) -> int:
    """Print the link of a new invitation."""
    from steelyard_client.documents.accounts.invitations import InvitationCreate
    from steelyard_client.vocabulary import CampaignRole, SiteRole, TeamRole

    if lead and not team:
        raise UsageError("--lead is for --team NAME.")
    if campaign_role and not campaign:
        raise UsageError("--campaign-role is for --campaign NAME.")
    made = client.create_invitation(
        InvitationCreate(
            email=email,
            role=SiteRole(role),
            team=team,
            team_role=TeamRole.LEAD if lead else TeamRole.MEMBER,
            campaign=campaign,
            campaign_role=CampaignRole(campaign_role) if campaign_role else None,
        )
    )
    if team:
        what = f"to {'lead' if lead else 'join'} the team {team}"
    elif campaign_role:
        what = f"to {'organise' if campaign_role == 'organiser' else 'view'} the campaign {campaign}"
    else:
        what = f"to take part in the campaign {campaign}" if campaign else f"to create an account ({role})"
    until = date_time(made.expires_at.timestamp())
    print(f"Invites {email or 'anyone with the link'} {what}, once, until {until}:\n{made.link}")
    if email:
        print("The link was sent to the address, too." if made.mailed else f"No mail was sent: {made.not_mailed}")
    return 0


@invitation.command(
    "list",
    help="List the invitations that you made, and those to teams that you lead and campaigns that you organise.",
    example="steelyard invitation list --team harbour",
)
@option("--team", default="", metavar="NAME", help="only those to this team")
@option("--campaign", default="", metavar="NAME", help="only those to this campaign")
@format_option()
@backend()
def list_(client: Client, team: str, campaign: str, format: str) -> int:  # noqa: A002 - the option's name
    """Print invitations."""
    columns = [
        Column("id", "Id", Kind.ID),
        Column("email", "Address", Kind.NAME, missing="(anyone)"),
        Column("what", "To"),
        Column("made_by", "Made by", missing="-"),
        Column("expires_at", "Expires", Kind.DATE),
        Column("state", "State"),
    ]
    rows = [
        [each.id, each.email or None, _what(each), each.made_by, each.expires_at.timestamp(), _state(each)]
        for each in client.list_invitations(team=team, campaign=campaign)
    ]
    print(render([Table(columns, rows, empty="There are no invitations.")], format, "Invitations"), end="")
    return 0


@invitation.command(
    "delete", help="Revoke an invitation: its link no longer works.", example="steelyard invitation delete 3 --yes"
)
@click.argument("number", type=Value(whole_number), metavar="ID", help="its number in `steelyard invitation list`")
@yes_option()
@backend()
def delete(client: Client, number: int, yes: bool) -> int:
    """Revoke an invitation."""
    confirm(f"Revoke invitation {number}?", yes=yes)
    client.withdraw_invitation(number)
    print(f"Invitation {number} is revoked.")
    return 0


def _what(known: InvitationResponse) -> str:
    parts = [f"team {known.team} ({known.team_role})"] if known.team is not None else []
    if known.campaign is not None:
        parts.append(f"campaign {known.campaign} ({known.campaign_role or 'with a team'})")
    return ", ".join(parts) or f"account ({known.role})"


def _state(known: InvitationResponse) -> str:
    if known.used_at is not None:
        return "accepted" if known.used_by is None else f"accepted by {known.used_by}"
    return "good" if known.alive else "ended"
