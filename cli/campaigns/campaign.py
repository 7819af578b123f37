"""`steelyard campaign`: create and manage campaigns in the database."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from cli.campaigns.changes import changing, looking, show_campaign, to_change
from cli.campaigns.declare import add_submission_verbs
from cli.campaigns.phases import add_phase_verbs
from cli.campaigns.test_sets import add_test_set_verbs
from cli.stored import add_database_option
from steelyard.commands.errors import CommandError, UsageError
from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from campaigns.rules import Rules


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`campaign` and its own verbs."""
    parser = verbs.add_parser(
        "campaign",
        help="create campaigns and manage their rules",
        description="Manage campaigns directly in the database, as organisers do on the pages. Every change is "
        "recorded in the audit log as made by the command line.",
    )
    ours = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    add = ours.add_parser("add", help="create a campaign")
    _add_rules(add)
    add.add_argument("--organiser", metavar="E-MAIL", help="the account that organises it")
    add.set_defaults(run=run_add)
    change = ours.add_parser("set", help="change the rules of a campaign")
    _add_rules(change)
    change.set_defaults(run=run_set)
    show = ours.add_parser("show", help="show one campaign, or list all")
    show.add_argument("campaign", nargs="?", metavar="CAMPAIGN")
    add_database_option(show)
    show.set_defaults(run=run_show)
    add_phase_verbs(ours)
    add_test_set_verbs(ours)
    add_submission_verbs(ours)
    for verb, what in {
        "freeze": "stop submissions, declarations and withdrawals",
        "unfreeze": "reopen a frozen campaign",
        "close": "close the current phase now",
        "publish": "publish the results now",
    }.items():
        state = ours.add_parser(verb, help=what)
        add_campaign(state)
        state.set_defaults(run=run_state, do=verb)
    teams = ours.add_parser("teams", help="show which teams take part, add some, or remove some")
    add_campaign(teams)
    teams.add_argument("--add", nargs="+", default=[], metavar="TEAM")
    teams.add_argument("--remove", nargs="+", default=[], metavar="TEAM", help="teams without submissions")
    teams.set_defaults(run=run_teams)
    members = ours.add_parser("members", help="show or change the organisers and viewers of a campaign")
    add_campaign(members)
    members.add_argument("--organiser", nargs="+", default=[], metavar="E-MAIL", help="accounts that organise it")
    members.add_argument("--viewer", nargs="+", default=[], metavar="E-MAIL", help="accounts that may view it")
    members.add_argument("--remove", nargs="+", default=[], metavar="E-MAIL", help="accounts that lose their role")
    members.set_defaults(run=run_members)


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """CAMPAIGN and --database."""
    parser.add_argument("campaign", metavar="CAMPAIGN")
    add_database_option(parser)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    add_campaign(parser)
    parser.add_argument("--title", help="title on the pages")
    parser.add_argument("--description", metavar="TEXT", help="plain text; an empty line separates paragraphs")
    parser.add_argument("--time-zone", metavar="ZONE", help="of its deadlines, e.g. Europe/Prague (default: UTC)")
    parser.add_argument("--visibility", choices=("public", "private"), help="who sees it (default: private)")
    parser.add_argument("--joining", choices=("open", "invited"), help="how teams join (default: invited)")
    parser.add_argument(
        "--anonymous", action=argparse.BooleanOptionalAction, default=None,
        help="hide team names until the results are published",
    )  # fmt: skip
    parser.add_argument(
        "--verified-only", action=argparse.BooleanOptionalAction, default=None,
        help="only accounts with a confirmed address can submit",
    )  # fmt: skip
    parser.add_argument("--ranked-by", metavar="METRIC", help='the metric that ranks; "" for the first one')


def run_add(options: argparse.Namespace) -> int:
    """Create a campaign."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import set_campaign_role
    from campaigns.rules import create_campaign
    from models.schema.roles import CampaignRole

    with changing(options, create=True) as connection:
        create_campaign(connection, COMMAND_LINE, options.campaign, _rules(options))
        if options.organiser:
            set_campaign_role(connection, to_change(connection, options), options.organiser, CampaignRole.ORGANISER)
    return show_campaign(options)


def run_set(options: argparse.Namespace) -> int:
    """Change the rules."""
    from campaigns.rules import Rules, set_rules

    rules = _rules(options)
    if rules == Rules():
        raise UsageError("Say what to change: --title, --visibility, --ranked-by or another rule.")
    with changing(options) as connection:
        set_rules(connection, to_change(connection, options), rules)
    return show_campaign(options)


def run_show(options: argparse.Namespace) -> int:
    """Print a campaign, or a list of all."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.permissions import UnreadableCampaign, visible_campaigns
    from steelyard.commands.notices import note

    if options.campaign:
        return show_campaign(options)
    with looking(options) as connection:
        unreadable: list[UnreadableCampaign] = []
        accesses = visible_campaigns(connection, COMMAND_LINE, unreadable=unreadable)
    note([f"The campaign {each.name!r} cannot be shown. {each.reason}" for each in unreadable])
    if not accesses:
        print("There is no campaign. `steelyard campaign add` creates one.")
        return 0
    rows = [["Campaign", "Phase", "Open for submissions", "Visible to"]]
    for access in accesses:
        takes = "yes" if access.takes_submissions else "frozen" if access.frozen_at is not None else "no"
        seen_by = "everybody" if access.visibility == "public" else "members"
        rows.append([access.name, access.phase.name if access.phase else "-", takes, seen_by])
    print(aligned(rows), end="")
    return 0


def run_state(options: argparse.Namespace) -> int:
    """Freeze, unfreeze, close or publish."""
    from campaigns.phases import close_now, publish_now
    from campaigns.rules import set_frozen

    with changing(options) as connection:
        access = to_change(connection, options)
        if options.do in ("freeze", "unfreeze"):
            set_frozen(connection, access, options.do == "freeze")
        else:
            (close_now if options.do == "close" else publish_now)(connection, access)
    return show_campaign(options)


def run_teams(options: argparse.Namespace) -> int:
    """Change and print the teams."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import join_with_team, leave_with_team
    from campaigns.permissions import read_access

    if options.add or options.remove:
        with changing(options) as connection:
            for team in options.add:
                join_with_team(connection, COMMAND_LINE, options.campaign, team)
            for team in options.remove:
                leave_with_team(connection, COMMAND_LINE, options.campaign, team)
    with looking(options) as connection:
        access = read_access(connection, COMMAND_LINE, options.campaign)
    if not access.teams:
        print("No teams yet. As long as the list is empty, any team can submit.")
        return 0
    rows = [["Team", "Publication name", "Number"]]
    rows += [[each.name, each.publication_name or each.name, str(each.number)] for each in access.teams.values()]
    print(aligned(rows), end="")
    return 0


def run_members(options: argparse.Namespace) -> int:
    """Change and print the members."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import campaign_members, remove_from_campaign, set_campaign_role
    from campaigns.permissions import read_access
    from models.schema.roles import CampaignRole

    if options.organiser or options.viewer or options.remove:
        with changing(options) as connection:
            access = to_change(connection, options)
            for email in options.organiser:
                set_campaign_role(connection, access, email, CampaignRole.ORGANISER)
            for email in options.viewer:
                set_campaign_role(connection, access, email, CampaignRole.VIEWER)
            accounts = {each.email: each.account_id for each in campaign_members(connection, access.campaign_id)}
            for email in options.remove:
                if email.casefold() not in accounts:
                    raise CommandError(f"{email} is no member of {options.campaign}.")
                remove_from_campaign(connection, access, accounts[email.casefold()])
    with looking(options) as connection:
        members = campaign_members(connection, read_access(connection, COMMAND_LINE, options.campaign).campaign_id)
    rows = [["Account", "Name", "Role"], *([each.email, each.name, each.role] for each in members)]
    print(aligned(rows) if members else "Nobody organises it but administrators.\n", end="")
    return 0


def _rules(options: argparse.Namespace) -> Rules:
    from campaigns.rules import Rules
    from models.schema.roles import Joining, Visibility

    return Rules(
        title=options.title,
        description=options.description,
        time_zone=options.time_zone,
        visibility=Visibility(options.visibility) if options.visibility else None,
        joining=Joining(options.joining) if options.joining else None,
        anonymous=options.anonymous,
        verified_only=options.verified_only,
        ranked_by=options.ranked_by,
    )
