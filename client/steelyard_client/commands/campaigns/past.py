"""Verbs of `steelyard campaign` about past campaigns: `archive`, `cite`, `clone`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.commands.options import format_option, option
from steelyard.commands.parsing import Command
from steelyard.tables.rendering import render_document
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.backend import backend
from steelyard_client.commands.campaigns.output import CAMPAIGN, print_campaign

if TYPE_CHECKING:
    from steelyard.tables.delimited import Cell
    from steelyard_client import Client


@click.command(
    "archive",
    cls=Command,
    help="List the campaigns whose results are published, newest first, with years, language pairs and winners.",
    example="steelyard campaign archive -f csv",
)
@format_option()
@backend()
def archive(client: Client, format: str) -> int:  # noqa: A002 - the option's name
    """Print past campaigns: a row for each test set."""
    found = list(client.list_past_campaigns())
    columns = [
        Column("campaign", "Campaign", Kind.NAME),
        Column("year", "Year", Kind.ID),
        Column("teams", "Teams", Kind.COUNT),
        Column("test_set", "Test set", missing="-"),
        Column("ranked_by", "Ranked by", missing="-"),
        Column("winners", "Winners", missing="-"),
    ]
    rows: list[list[Cell]] = [
        [each.name, each.year, each.teams, of.test_set, of.ranked_by, ", ".join(of.systems)]
        for each in found
        for of in each.winners
    ]
    rows += [[each.name, each.year, each.teams, None, None, None] for each in found if not each.winners]
    table = Table(columns, rows, empty="No campaign has published its results yet.")
    print(
        render_document(
            format,
            document=lambda: [each.model_dump(mode="json") for each in found],
            data=lambda: ([each.key for each in columns], rows),
            tables=lambda: [table],
            title="Archive",
        ),
        end="",
    )
    return 0


@click.command(
    "cite", cls=Command, help="Print BibTeX for the results of a campaign.", example="steelyard campaign cite wmt26"
)
@CAMPAIGN
@backend()
def cite(client: Client, campaign: str) -> int:
    """Print BibTeX."""
    print(client.cite_campaign(campaign).decode(), end="")
    return 0


@click.command(
    "clone",
    cls=Command,
    help="Create a campaign with the rules, phases, quotas, terms and test sets of another one, for the next year: "
    "private, without submissions, and with references that are not released.",
    example="steelyard campaign clone wmt26 wmt27 --title WMT27 --starts 2027-06-28T00:00 --teams",
)
@CAMPAIGN
@click.argument("new", metavar="NEW", help="name of the new campaign")
@option("--title", metavar="TEXT", help="its title (default: that of the old one)")
@option(
    "--starts",
    default="",
    metavar="TIME",
    help="when its first phase begins; the others keep their distances (default: 52 weeks later, or as many years as "
    "it takes to be ahead)",
)
@option("--test-sets/--no-test-sets", default=True, help="with the test sets and their metrics (default: with them)")
@option("--teams", is_flag=True, help="with the teams: invited, or added by administrators")
@backend()
def clone(client: Client, campaign: str, new: str, title: str | None, starts: str, test_sets: bool, teams: bool) -> int:
    """Clone a campaign, and print the new one."""
    from steelyard_client.documents.campaigns.past_campaigns import CampaignClone

    client.clone_campaign(
        campaign, CampaignClone(name=new, title=title, starts=starts, test_sets=test_sets, teams=teams)
    )
    return print_campaign(client, new)
