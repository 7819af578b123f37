"""`steelyard team`: teams, their members and their campaigns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import format_option, many, option, yes_option
from steelyard.commands.parsing import Noun
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.backend import backend

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard_client import Client
    from steelyard_client.documents.accounts.teams import TeamResponse

team = Noun(
    "team",
    help="Create teams and manage their members. A new team owns the outputs that were submitted under its name "
    "before.",
)
NAME = click.argument("name", metavar="NAME", help="the team's name, which never changes")


@team.command(
    "create",
    help="Create a team. On a server you lead it; on a database it has no lead until you name one.",
    example="steelyard team create harbour --lead mary@example.org",
)
@NAME
@option("--lead", default="", metavar="EMAIL", help="the address of the account that leads it; for administrators")
@option("--publication-name", default="", metavar="NAME", help="name in public results (default: its name)")
@option("--affiliation", default="", metavar="TEXT", help="institution of its members")
@backend()
def create(client: Client, name: str, lead: str, publication_name: str, affiliation: str) -> int:
    """Create a team."""
    from steelyard_client.documents.accounts.teams import TeamCreate

    made = client.create_team(
        TeamCreate(name=name, publication_name=publication_name, affiliation=affiliation, lead=lead)
    )
    nobody = "" if made.members else " Nobody leads it yet: `steelyard team update NAME --lead EMAIL`."
    print(f"The team {made.name} is created.{nobody}")
    return 0


@team.command("list", help="List your teams; administrators see all.", example="steelyard team list -f csv")
@format_option()
@backend()
def list_(client: Client, format: str) -> int:  # noqa: A002 - the option's name
    """Print all teams."""
    print(render([_table(client.list_own_teams())], format, "Teams"), end="")
    return 0


@team.command("show", help="Show a team with its members and campaigns.", example="steelyard team show harbour")
@NAME
@format_option()
@backend()
def show(client: Client, name: str, format: str) -> int:  # noqa: A002
    """Print a team, its members, and the campaigns in which it takes part."""
    known = client.read_team(name)
    columns = [Column("email", "Address", Kind.NAME), Column("name", "Name"), Column("role", "Role")]
    rows = [[each.email, each.name, str(each.role)] for each in known.people]
    tables = [
        _table([known]),
        Table(columns, rows, "Members", key="members", empty="Nobody is in the team."),
        Table(
            [Column("campaign", "Campaign", Kind.NAME)],
            [[each] for each in known.campaigns],
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
@backend()
def update(
    client: Client,
    name: str,
    members: Sequence[str],
    leads: Sequence[str],
    remove: Sequence[str],
    publication_name: str | None,
    affiliation: str | None,
) -> int:
    """Add, change or remove members."""
    from steelyard_client.documents.accounts.teams import TeamMemberCreate, TeamMemberUpdate, TeamUpdate
    from steelyard_client.vocabulary import TeamRole

    described = publication_name is not None or affiliation is not None
    if not (members or leads or remove or described):
        raise UsageError("Say what to change: --member, --lead, --remove, --publication-name or --affiliation.")
    numbers = {each.email: each.account_id for each in client.read_team(name).people}
    # Leads first: the last one can only leave once there is another.
    for role, emails in ((TeamRole.LEAD, leads), (TeamRole.MEMBER, members)):
        for email in emails:
            if (number := numbers.get(email.casefold())) is not None:
                client.update_team_member(name, number, TeamMemberUpdate(role=role))
            else:
                client.add_team_member(name, TeamMemberCreate(email=email, role=role))
            print(f"{email.casefold()}: {role} of the team {name}.")
    if described:
        given = {"publication_name": publication_name, "affiliation": affiliation}
        client.update_team(name, TeamUpdate(**{key: value for key, value in given.items() if value is not None}))
        print(f"The team {name} is changed.")
    for email in remove:
        if (number := numbers.get(email.casefold())) is None:
            raise CommandError(f"{email} is not in the team {name}.")
        client.remove_team_member(name, number)
        print(f"{email.casefold()}: not in the team {name}.")
    return 0


@team.command(
    "delete",
    help="Delete a team with its submissions in all campaigns, after showing how many there are. For administrators.",
    example="steelyard team delete harbour",
)
@NAME
@yes_option()
@backend()
def delete(client: Client, name: str, yes: bool) -> int:
    """Delete a team."""
    from steelyard_client.commands.deleting import delete_after_question

    return delete_after_question(lambda dry: client.delete_team(name, dry_run=dry), yes=yes)


@team.command("join", help="Add a team to a campaign.", example="steelyard team join harbour wmt26")
@NAME
@click.argument("campaign", metavar="CAMPAIGN", help="the campaign's name")
@backend()
def join(client: Client, name: str, campaign: str) -> int:
    """Add a team to a campaign."""
    joined = client.join_campaign(campaign, name)
    print(f"The team {name} takes part in {campaign}, as number {joined.number}.")
    return 0


def _table(known: Iterable[TeamResponse]) -> Table:
    columns = [
        Column("name", "Team", Kind.NAME),
        Column("publication_name", "Publication name"),
        Column("affiliation", "Affiliation"),
        Column("members", "Members", Kind.COUNT),
    ]
    rows = [[each.name, each.publication_name, each.affiliation, each.members] for each in known]
    return Table(columns, rows, key="team", empty="There are no teams. `steelyard team create` makes one.")
