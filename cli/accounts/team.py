"""`steelyard team`: teams, their members and their campaigns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.accounts.user import changed, opened
from cli.commands import noun
from cli.decorators import database_option
from steelyard.commands.errors import UsageError
from steelyard.commands.options import format_option, many, option
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from campaigns.accounts.teams import TeamInfo

team = noun(
    "team",
    "Create teams of the web service and manage their members. A new team owns the outputs that were submitted under "
    "its name before.",
)
NAME = click.argument("name", metavar="NAME", help="the team's name, which never changes")


@team.command("create", help="Create a team.", example="steelyard team create harbour --lead mary@example.org")
@NAME
@option("--lead", metavar="EMAIL", help="the address of the account that leads it")
@option("--publication-name", default="", metavar="NAME", help="name in public results (default: its name)")
@option("--affiliation", default="", metavar="TEXT", help="institution of its members")
@database_option()
def create(name: str, lead: str | None, publication_name: str, affiliation: str, database: str | None) -> int:
    """Create a team."""
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.teams import create_team

    with changed(database) as connection:
        leader = None if lead is None else find_account(connection, lead).id
        made = create_team(
            connection, COMMAND_LINE, name, publication_name=publication_name, affiliation=affiliation, lead=leader
        )
    nobody = "" if lead else " Nobody leads it yet: `steelyard team update NAME --lead EMAIL`."
    print(f"The team {made.name} is created.{nobody}")
    return 0


@team.command("list", help="List all teams.", example="steelyard team list -f csv")
@format_option()
@database_option()
def list_(format: str, database: str | None) -> int:  # noqa: A002 - the option's name
    """Print all teams."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.teams import teams_of
    from models.database.session import reading

    _, engine = opened(database)
    with reading(engine) as connection:
        known = teams_of(connection, COMMAND_LINE)
    print(render([_table(known)], format, "Teams"), end="")
    return 0


@team.command("show", help="Show a team with its members and campaigns.", example="steelyard team show harbour")
@NAME
@format_option()
@database_option()
def show(name: str, format: str, database: str | None) -> int:  # noqa: A002
    """Print a team, its members, and the campaigns in which it takes part."""
    from campaigns.accounts.teams import campaigns_of, members_of, read_team
    from models.database.session import reading

    _, engine = opened(database)
    with reading(engine) as connection:
        known = read_team(connection, name)
        members, campaigns = members_of(connection, known.id), campaigns_of(connection, known.id)
    columns = [Column("email", "Address", Kind.NAME), Column("name", "Name"), Column("role", "Role")]
    rows = [[each.email, each.name, str(each.role)] for each in members]
    tables = [
        _table([known]),
        Table(columns, rows, "Members", key="members", empty="Nobody is in the team."),
        Table(
            [Column("campaign", "Campaign", Kind.NAME)],
            [[each] for each in campaigns],
            "Takes part in",
            key="campaigns",
            empty="no campaign",
        ),
    ]
    print(render(tables, format, known.name), end="")
    return 0


@team.command(
    "update",
    help="Add members and leads to a team, change their roles, or remove them; change what is published of it. A team "
    "always keeps a lead.",
    example="steelyard team update harbour --member zoe@example.org --lead mary@example.org",
)
@NAME
@many("--member", "members", metavar="EMAIL...", help="accounts that become plain members")
@many("--lead", "leads", metavar="EMAIL...", help="accounts that lead it")
@many("--remove", metavar="EMAIL...", help="accounts that leave it")
@option("--publication-name", metavar="NAME", help="name in public results")
@option("--affiliation", metavar="TEXT", help="institution of its members")
@database_option()
def update(
    name: str,
    members: Sequence[str],
    leads: Sequence[str],
    remove: Sequence[str],
    publication_name: str | None,
    affiliation: str | None,
    database: str | None,
) -> int:
    """Add, change or remove members."""
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.teams import (
        add_member,
        change_team,
        members_of,
        read_team,
        remove_from_team,
        set_member_role,
    )
    from models.schema.roles import TeamRole

    described = publication_name is not None or affiliation is not None
    if not (members or leads or remove or described):
        raise UsageError("Say what to change: --member, --lead, --remove, --publication-name or --affiliation.")
    told = []
    with changed(database) as connection:
        known = read_team(connection, name)
        # Leads first: the last one can only leave once there is another.
        for role, emails in ((TeamRole.LEAD, leads), (TeamRole.MEMBER, members)):
            for email in emails:
                account = find_account(connection, email)
                inside = any(each.account_id == account.id for each in members_of(connection, known.id))
                (set_member_role if inside else add_member)(connection, COMMAND_LINE, name, account.id, role)
                told.append(f"{account.email}: {role} of the team {known.name}.")
        if described:
            change_team(connection, COMMAND_LINE, name, publication_name=publication_name, affiliation=affiliation)
            told.append(f"The team {known.name} is changed.")
        for email in remove:
            account = find_account(connection, email)
            remove_from_team(connection, COMMAND_LINE, name, account.id)
            told.append(f"{account.email}: not in the team {known.name}.")
    print("\n".join(told))
    return 0


@team.command("join", help="Add a team to a campaign.", example="steelyard team join harbour wmt26")
@NAME
@click.argument("campaign", metavar="CAMPAIGN", help="the campaign's name")
@database_option()
def join(name: str, campaign: str, database: str | None) -> int:
    """Add a team to a campaign."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import join_with_team
    from campaigns.permissions import read_access

    with changed(database) as connection:
        join_with_team(connection, COMMAND_LINE, campaign, name)
        access = read_access(connection, COMMAND_LINE, campaign)
    print(f"The team {name} takes part in {access.name}, as number {access.teams[name].number}.")
    return 0


def _table(known: Sequence[TeamInfo]) -> Table:
    columns = [
        Column("name", "Team", Kind.NAME),
        Column("publication_name", "Publication name"),
        Column("affiliation", "Affiliation"),
        Column("members", "Members", Kind.COUNT),
    ]
    rows = [[each.name, each.publication_name, each.affiliation, each.members] for each in known]
    return Table(columns, rows, key="team", empty="There are no teams. `steelyard team create` makes one.")
