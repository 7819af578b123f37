"""`steelyard team`: which teams there are, who is in them, and where they take part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.accounts.account import opened
from cli.errors import UsageError
from cli.stored import add_database_option

if TYPE_CHECKING:
    import argparse


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`team` and its own verbs."""
    parser = verbs.add_parser(
        "team",
        help="make teams of the web service, and say who is in them",
        description="Teams of the web service. Outputs that were handed in under the name of a team before it was made "
        "become its own.",
    )
    ours = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    add = ours.add_parser("add", help="make a team")
    add.add_argument("team", metavar="NAME", help="its name, which never changes")
    add.add_argument("--lead", metavar="EMAIL", help="the address of the account that leads it")
    add.add_argument("--publication-name", default="", metavar="NAME", help="what the public reads (default: its name)")
    add.add_argument("--affiliation", default="", metavar="TEXT", help="where its people work")
    add_database_option(add)
    add.set_defaults(run=run_add)
    listing = ours.add_parser("list", help="show all teams, or one with its members")
    listing.add_argument("team", nargs="?", metavar="NAME")
    add_database_option(listing)
    listing.set_defaults(run=run_list)
    member = ours.add_parser("member", help="take an account into a team, say what it is there, or remove it")
    member.add_argument("team", metavar="NAME")
    member.add_argument("email", metavar="EMAIL")
    member.add_argument("--role", choices=("member", "lead"), help="what it is in the team (default: member)")
    member.add_argument("--remove", action="store_true", help="let it be in the team no more")
    add_database_option(member)
    member.set_defaults(run=run_member)
    join = ours.add_parser("join", help="let a team take part in a campaign")
    join.add_argument("team", metavar="NAME")
    join.add_argument("campaign", metavar="CAMPAIGN")
    add_database_option(join)
    join.set_defaults(run=run_join)


def run_add(options: argparse.Namespace) -> int:
    """Make a team."""
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.teams import found_team
    from models.database.session import writing

    _, engine = opened(options)
    with writing(engine, durable=True) as connection:
        lead = None if options.lead is None else find_account(connection, options.lead).id
        made = found_team(
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
    """Print all teams, or who is in one."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.teams import campaigns_of, members_of, read_team, teams_of
    from cli.terminal.columns import aligned
    from models.database.session import reading

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
    """Take somebody into a team, change what he is there, or remove him."""
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.teams import add_member, members_of, read_team, remove_member, set_member_role
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
            remove_member(connection, COMMAND_LINE, options.team, known.id)
        elif inside:
            set_member_role(connection, COMMAND_LINE, options.team, known.id, role)
        else:
            add_member(connection, COMMAND_LINE, options.team, known.id, role)
    print(f"{known.email}: {'not in' if options.remove else f'{role} of'} the team {team.name}.")
    return 0


def run_join(options: argparse.Namespace) -> int:
    """Let a team take part in a campaign."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import join
    from campaigns.permissions import read_sight
    from models.database.session import writing

    _, engine = opened(options)
    with writing(engine, durable=True) as connection:
        join(connection, COMMAND_LINE, options.campaign, options.team)
        sight = read_sight(connection, COMMAND_LINE, options.campaign)
    print(f"The team {options.team} takes part in {sight.name}, as number {sight.teams[options.team].number}.")
    return 0
