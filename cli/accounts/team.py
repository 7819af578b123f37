"""`steelyard team`: teams, their members and their campaigns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.accounts.account import opened
from cli.stored import add_database_option
from steelyard.commands.errors import UsageError

if TYPE_CHECKING:
    import argparse


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`team` and its own verbs."""
    parser = verbs.add_parser(
        "team",
        help="create teams of the web service and manage their members",
        description="Teams of the web service. A new team owns the outputs that were submitted under its name before.",
    )
    ours = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    add = ours.add_parser("add", help="create a team")
    add.add_argument("team", metavar="NAME", help="its name, which never changes")
    add.add_argument("--lead", metavar="EMAIL", help="the address of the account that leads it")
    add.add_argument(
        "--publication-name", default="", metavar="NAME", help="name in public results (default: its name)"
    )
    add.add_argument("--affiliation", default="", metavar="TEXT", help="institution of its members")
    add_database_option(add)
    add.set_defaults(run=run_add)
    listing = ours.add_parser("list", help="show all teams, or one with its members")
    listing.add_argument("team", nargs="?", metavar="NAME")
    add_database_option(listing)
    listing.set_defaults(run=run_list)
    member = ours.add_parser("member", help="add, change or remove a team member")
    member.add_argument("team", metavar="NAME")
    member.add_argument("email", metavar="EMAIL")
    member.add_argument("--role", choices=("member", "lead"), help="role in the team (default: member)")
    member.add_argument("--remove", action="store_true", help="remove the account from the team")
    add_database_option(member)
    member.set_defaults(run=run_member)
    join = ours.add_parser("join", help="add a team to a campaign")
    join.add_argument("team", metavar="NAME")
    join.add_argument("campaign", metavar="CAMPAIGN")
    add_database_option(join)
    join.set_defaults(run=run_join)


def run_add(options: argparse.Namespace) -> int:
    """Create a team."""
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.teams import create_team
    from models.database.session import writing

    _, engine = opened(options)
    with writing(engine, durable=True) as connection:
        lead = None if options.lead is None else find_account(connection, options.lead).id
        made = create_team(
            connection,
            COMMAND_LINE,
            options.team,
            publication_name=options.publication_name,
            affiliation=options.affiliation,
            lead=lead,
        )
    print(f"There is a team {made.name} now." + ("" if lead else " Nobody leads it yet: `steelyard team member`."))
    return 0


def run_list(options: argparse.Namespace) -> int:
    """Print all teams, or the members of one."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.teams import campaigns_of, members_of, read_team, teams_of
    from models.database.session import reading
    from steelyard.tables.text import aligned

    _, engine = opened(options)
    with reading(engine) as connection:
        if options.team is not None:
            known = read_team(connection, options.team)
            rows = [["Address", "Name", "Role"]]
            rows += [[each.email, each.name, each.role] for each in members_of(connection, known.id)]
            print(aligned(rows) if len(rows) > 1 else "Nobody is in the team.\n", end="")
            print(f"Takes part in: {', '.join(campaigns_of(connection, known.id)) or 'no campaign'}")
            return 0
        teams = teams_of(connection, COMMAND_LINE)
    if not teams:
        print("There are no teams. `steelyard team add` makes one.")
        return 0
    rows = [["Team", "Publication name", "Affiliation", "Members"]]
    rows += [[each.name, each.publication_name, each.affiliation, str(each.members)] for each in teams]
    print(aligned(rows), end="")
    return 0


def run_member(options: argparse.Namespace) -> int:
    """Add, change or remove a team member."""
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.teams import add_member, members_of, read_team, remove_from_team, set_member_role
    from models.database.session import writing
    from models.schema.roles import TeamRole

    if options.remove and options.role:
        raise UsageError("Either --role or --remove.")
    role = TeamRole(options.role or TeamRole.MEMBER)
    _, engine = opened(options)
    with writing(engine, durable=True) as connection:
        known, team = find_account(connection, options.email), read_team(connection, options.team)
        inside = any(each.account_id == known.id for each in members_of(connection, team.id))
        if options.remove:
            remove_from_team(connection, COMMAND_LINE, options.team, known.id)
        elif inside:
            set_member_role(connection, COMMAND_LINE, options.team, known.id, role)
        else:
            add_member(connection, COMMAND_LINE, options.team, known.id, role)
    print(f"{known.email}: {'not in' if options.remove else f'{role} of'} the team {team.name}.")
    return 0


def run_join(options: argparse.Namespace) -> int:
    """Add a team to a campaign."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import join_with_team
    from campaigns.permissions import read_access
    from models.database.session import writing

    _, engine = opened(options)
    with writing(engine, durable=True) as connection:
        join_with_team(connection, COMMAND_LINE, options.campaign, options.team)
        access = read_access(connection, COMMAND_LINE, options.campaign)
    print(f"The team {options.team} takes part in {access.name}, as number {access.teams[options.team].number}.")
    return 0
