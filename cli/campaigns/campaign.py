"""`steelyard campaign`: campaigns, their rules, members and teams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.campaigns.changes import CAMPAIGN, changing, looking, print_campaign, to_change
from cli.commands import noun
from cli.decorators import database_option, yes_option
from cli.stored import settings_for
from cli.terminal.prompts import confirm
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import format_option, many, option, together
from steelyard.commands.parsing import Value
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from campaigns.rules import Rules
    from steelyard.commands.options import Decorator

campaign = noun(
    "campaign",
    "Create campaigns and manage their rules, members and teams in the database, as organisers do on the pages. Every "
    "change is recorded in the audit log as made by the command line.",
)


def rule_options() -> Decorator:
    """The rules of a campaign."""
    return together(
        option("--title", metavar="TEXT", help="title on the pages"),
        option("--description", metavar="TEXT", help="plain text; an empty line separates paragraphs"),
        option("--time-zone", metavar="ZONE", help="of its deadlines, e.g. Europe/Prague (default: UTC)"),
        option("--visibility", type=click.Choice(("public", "private")), help="who sees it (default: private)"),
        option("--joining", type=click.Choice(("open", "invited")), help="how teams join (default: invited)"),
        option("--anonymous/--no-anonymous", default=None, help="hide team names until the results are published"),
        option(
            "--verified-only/--no-verified-only",
            default=None,
            help="only accounts with a confirmed address can submit",
        ),
        option("--ranked-by", metavar="METRIC", help='the metric that ranks; "" for the first one'),
    )


@campaign.command(
    "create",
    help="Create a campaign.",
    example='steelyard campaign create wmt26 --title "WMT 2026" --visibility public --organiser mary@example.org',
)
@CAMPAIGN
@rule_options()
@option("--organiser", metavar="EMAIL", help="the account that organises it")
@database_option()
def create(campaign: str, organiser: str | None, database: str | None, **asked: Any) -> int:
    """Create a campaign."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import set_campaign_role
    from campaigns.rules import create_campaign
    from models.schema.roles import CampaignRole

    with changing(database, create=True) as connection:
        create_campaign(connection, COMMAND_LINE, campaign, _rules(asked))
        if organiser:
            set_campaign_role(connection, to_change(connection, campaign), organiser, CampaignRole.ORGANISER)
    return print_campaign(database, campaign)


@campaign.command("list", help="List all campaigns.", example="steelyard campaign list -f json")
@format_option()
@database_option()
def list_(format: str, database: str | None) -> int:  # noqa: A002 - the option's name
    """Print all campaigns."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.permissions import UnreadableCampaign, visible_campaigns

    with looking(database) as connection:
        unreadable: list[UnreadableCampaign] = []
        accesses = visible_campaigns(connection, COMMAND_LINE, unreadable=unreadable)
    note([f"The campaign {each.name!r} cannot be shown. {each.reason}" for each in unreadable])
    columns = [
        Column("name", "Campaign", Kind.NAME),
        Column("phase", "Phase", missing="-"),
        Column("open", "Open for submissions"),
        Column("visible_to", "Visible to"),
    ]
    rows = []
    for access in accesses:
        takes = "yes" if access.takes_submissions else "frozen" if access.frozen_at is not None else "no"
        seen_by = "everybody" if access.visibility == "public" else "members"
        rows.append([access.name, access.phase.name if access.phase else None, takes, seen_by])
    nothing = "There is no campaign. `steelyard campaign create` creates one."
    print(render([Table(columns, rows, empty=nothing)], format, "Campaigns"), end="")
    return 0


@campaign.command(
    "show",
    help="Show the rules of a campaign, its phases, test sets and corrections.",
    example="steelyard campaign show wmt26",
)
@CAMPAIGN
@format_option()
@database_option()
def show(campaign: str, format: str, database: str | None) -> int:  # noqa: A002
    """Print a campaign."""
    return print_campaign(database, campaign, format)


@campaign.command(
    "update",
    help="Change the rules of a campaign, its teams, organisers and viewers.",
    example="steelyard campaign update wmt26 --ranked-by chrf --add-team harbour --viewer zoe@example.org",
)
@CAMPAIGN
@rule_options()
@many("--add-team", "add_teams", metavar="TEAM...", help="teams that take part")
@many("--remove-team", "remove_teams", metavar="TEAM...", help="teams that leave; they must not have submissions")
@many("--organiser", "organisers", metavar="EMAIL...", help="accounts that organise it")
@many("--viewer", "viewers", metavar="EMAIL...", help="accounts that may view it")
@many("--remove-member", "remove_members", metavar="EMAIL...", help="accounts that lose their role in it")
@database_option()
def update(
    campaign: str,
    add_teams: Sequence[str],
    remove_teams: Sequence[str],
    organisers: Sequence[str],
    viewers: Sequence[str],
    remove_members: Sequence[str],
    database: str | None,
    **asked: Any,
) -> int:
    """Change the rules, the teams and the members."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import (
        campaign_members,
        join_with_team,
        leave_with_team,
        remove_from_campaign,
        set_campaign_role,
    )
    from campaigns.rules import Rules, set_rules
    from models.schema.roles import CampaignRole

    rules = _rules(asked)
    if rules == Rules() and not (add_teams or remove_teams or organisers or viewers or remove_members):
        raise UsageError("Say what to change: --title, --visibility, --ranked-by, --add-team or another rule.")
    with changing(database) as connection:
        access = to_change(connection, campaign)
        if rules != Rules():
            set_rules(connection, access, rules)
        for team in add_teams:
            join_with_team(connection, COMMAND_LINE, campaign, team)
        for team in remove_teams:
            leave_with_team(connection, COMMAND_LINE, campaign, team)
        for role, emails in ((CampaignRole.ORGANISER, organisers), (CampaignRole.VIEWER, viewers)):
            for email in emails:
                set_campaign_role(connection, access, email, role)
        accounts = {each.email: each.account_id for each in campaign_members(connection, access.campaign_id)}
        for email in remove_members:
            if email.casefold() not in accounts:
                raise CommandError(f"{email} is no member of {campaign}.")
            remove_from_campaign(connection, access, accounts[email.casefold()])
    return print_campaign(database, campaign)


@campaign.command(
    "teams", help="List the teams that take part in a campaign.", example="steelyard campaign teams wmt26 -f csv"
)
@CAMPAIGN
@format_option()
@database_option()
def teams(campaign: str, format: str, database: str | None) -> int:  # noqa: A002
    """Print the teams."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.permissions import read_access

    with looking(database) as connection:
        access = read_access(connection, COMMAND_LINE, campaign)
    columns = [
        Column("name", "Team", Kind.NAME),
        Column("publication_name", "Publication name"),
        Column("number", "Number", Kind.ID),
    ]
    rows = [[each.name, each.publication_name or each.name, each.number] for each in access.teams.values()]
    nothing = "No teams yet. As long as the list is empty, any team can submit."
    print(render([Table(columns, rows, empty=nothing)], format, f"Teams of {campaign}"), end="")
    return 0


@campaign.command(
    "members",
    help="List the organisers and viewers of a campaign.",
    example="steelyard campaign members wmt26",
)
@CAMPAIGN
@format_option()
@database_option()
def members(campaign: str, format: str, database: str | None) -> int:  # noqa: A002
    """Print the members."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import campaign_members
    from campaigns.permissions import read_access

    with looking(database) as connection:
        known = campaign_members(connection, read_access(connection, COMMAND_LINE, campaign).campaign_id)
    columns = [Column("email", "Account", Kind.NAME), Column("name", "Name"), Column("role", "Role")]
    rows = [[each.email, each.name, str(each.role)] for each in known]
    nothing = "Nobody organises it but administrators."
    print(render([Table(columns, rows, empty=nothing)], format, f"Members of {campaign}"), end="")
    return 0


@campaign.command(
    "freeze", help="Stop submissions, declarations and withdrawals.", example="steelyard campaign freeze wmt26"
)
@CAMPAIGN
@database_option()
def freeze(campaign: str, database: str | None) -> int:
    """Freeze a campaign."""
    return _freeze(database, campaign, True)


@campaign.command("unfreeze", help="Reopen a frozen campaign.", example="steelyard campaign unfreeze wmt26")
@CAMPAIGN
@database_option()
def unfreeze(campaign: str, database: str | None) -> int:
    """Reopen a campaign."""
    return _freeze(database, campaign, False)


@campaign.command("close", help="Close the current phase now.", example="steelyard campaign close wmt26 --yes")
@CAMPAIGN
@yes_option()
@database_option()
def close(campaign: str, yes: bool, database: str | None) -> int:
    """Close the current phase."""
    from campaigns.phases import close_now

    confirm(f"Close the current phase of {campaign} now?", yes=yes)
    with changing(database) as connection:
        close_now(connection, to_change(connection, campaign))
    return print_campaign(database, campaign)


@campaign.command(
    "publish", help="Publish the results of a campaign now.", example="steelyard campaign publish wmt26 --yes"
)
@CAMPAIGN
@yes_option()
@database_option()
def publish(campaign: str, yes: bool, database: str | None) -> int:
    """Publish the results."""
    from campaigns.phases import publish_now

    confirm(f"Publish the results of {campaign} now?", yes=yes)
    with changing(database) as connection:
        publish_now(connection, to_change(connection, campaign))
    return print_campaign(database, campaign)


@campaign.command(
    "export", help="Write everything of a campaign into a zip.", example="steelyard campaign export wmt26 wmt26.zip"
)
@CAMPAIGN
@click.argument("file", type=Value(Path), metavar="FILE", help="the zip; only you can read it")
@database_option()
def export(campaign: str, file: Path, database: str | None) -> int:
    """Write the zip."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.export import export_campaign
    from models.database.session import make_engine
    from runtime.private_files import write_privately

    engine = make_engine(settings_for(database).database_url, pooled=False)
    parts = export_campaign(engine, COMMAND_LINE, campaign)
    # It contains outputs and scores that are not public yet.
    with open(file, "wb", opener=write_privately) as written:
        written.writelines(parts)
    print(f"Written: {file}")
    return 0


def _freeze(database: str | None, name: str, frozen: bool) -> int:
    from campaigns.rules import set_frozen

    with changing(database) as connection:
        set_frozen(connection, to_change(connection, name), frozen)
    return print_campaign(database, name)


def _rules(asked: dict[str, Any]) -> Rules:
    from campaigns.rules import Rules
    from models.schema.roles import Joining, Visibility

    return Rules(
        title=asked["title"],
        description=asked["description"],
        time_zone=asked["time_zone"],
        visibility=Visibility(asked["visibility"]) if asked["visibility"] else None,
        joining=Joining(asked["joining"]) if asked["joining"] else None,
        anonymous=asked["anonymous"],
        verified_only=asked["verified_only"],
        ranked_by=asked["ranked_by"],
    )
