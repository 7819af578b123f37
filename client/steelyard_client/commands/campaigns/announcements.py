"""`steelyard campaign announce` and `announcements`: what organisers write to all teams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.commands.options import format_option, option
from steelyard.commands.parsing import Command
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.backend import backend
from steelyard_client.commands.campaigns.output import CAMPAIGN

if TYPE_CHECKING:
    from steelyard_client import Client


@click.command(
    "announce",
    cls=Command,
    help="Write to all teams of a campaign, its organisers and viewers, as organisers do; each gets it as they chose.",
    example='steelyard campaign announce wmt26 --subject "New deadline" --text "It is Friday now."',
)
@CAMPAIGN
@option("--subject", required=True, metavar="TEXT", help="what it is about, on one line")
@option("--text", required=True, metavar="TEXT", help="what is to be said, as plain text")
@backend()
def announce(client: Client, campaign: str, subject: str, text: str) -> int:
    """Send an announcement."""
    from steelyard_client.documents.accounts.notices import AnnouncementCreate

    made = client.create_announcement(campaign, AnnouncementCreate(subject=subject, text=text))
    print(f"Announced: {made.title}")
    return 0


@click.command(
    "announcements",
    cls=Command,
    help="List what the organisers wrote to all teams, newest first.",
    example="steelyard campaign announcements wmt26",
)
@CAMPAIGN
@format_option()
@backend()
def announcements(client: Client, campaign: str, format: str) -> int:  # noqa: A002 - the option's name
    """Print announcements."""
    columns = [Column("created_at", "Time", Kind.DATE), Column("title", "Subject"), Column("text", "Text")]
    rows = [[each.created_at.timestamp(), each.title, each.text] for each in client.list_announcements(campaign)]
    table = Table(columns, rows, empty="There are no announcements that you may read.")
    print(render([table], format, f"Announcements of {campaign}"), end="")
    return 0
