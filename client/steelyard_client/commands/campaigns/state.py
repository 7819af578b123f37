"""Verbs of `steelyard campaign` that begin and end things: `freeze`, `unfreeze`, `close`, `publish`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.commands.options import option, yes_option
from steelyard.commands.parsing import Command
from steelyard.commands.prompts import confirm
from steelyard_client.commands.backend import backend
from steelyard_client.commands.campaigns.output import CAMPAIGN, print_campaign

if TYPE_CHECKING:
    from steelyard_client import Client


@click.command(
    "freeze",
    cls=Command,
    help="Stop submissions, declarations and withdrawals.",
    example="steelyard campaign freeze wmt26",
)
@CAMPAIGN
@backend()
def freeze(client: Client, campaign: str) -> int:
    """Freeze a campaign."""
    client.freeze_campaign(campaign)
    return print_campaign(client, campaign)


@click.command("unfreeze", cls=Command, help="Reopen a frozen campaign.", example="steelyard campaign unfreeze wmt26")
@CAMPAIGN
@backend()
def unfreeze(client: Client, campaign: str) -> int:
    """Reopen a campaign."""
    client.unfreeze_campaign(campaign)
    return print_campaign(client, campaign)


@click.command(
    "close", cls=Command, help="Close the current phase now.", example="steelyard campaign close wmt26 --yes"
)
@CAMPAIGN
@yes_option()
@backend()
def close(client: Client, campaign: str, yes: bool) -> int:
    """Close the current phase."""
    confirm(f"Close the current phase of {campaign} now?", yes=yes)
    client.close_campaign(campaign)
    return print_campaign(client, campaign)


@click.command(
    "publish",
    cls=Command,
    help="Publish the results of a campaign now.",
    example="steelyard campaign publish wmt26 --yes",
)
@CAMPAIGN
@option("--delete-later", is_flag=True, help="delete the phases that are planned before publication")
@yes_option()
@backend()
def publish(client: Client, campaign: str, delete_later: bool, yes: bool) -> int:
    """Publish the results."""
    from steelyard_client.errors import Conflict

    confirm(f"Publish the results of {campaign} now?", yes=yes)
    try:
        client.publish_campaign(campaign, delete_later=delete_later)
    except Conflict as refusal:
        # A "yes" of before was not about phases.
        if yes or delete_later:
            raise
        confirm(f"{refusal}\nDelete and publish?", yes=False)
        client.publish_campaign(campaign, delete_later=True)
    return print_campaign(client, campaign)
