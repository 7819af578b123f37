"""`steelyard campaign`: what organisers do with their campaigns, beside the database."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from cli.campaigns.changes import changing, looking, show_campaign, to_change
from cli.campaigns.declare import add_submission_verbs
from cli.campaigns.phases import add_phase_verbs
from cli.campaigns.test_sets import add_test_set_verbs
from cli.errors import CommandError, UsageError
from cli.stored import add_database_option
from cli.terminal.columns import aligned

if TYPE_CHECKING:
    from campaigns.rules import Rules


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`campaign` and its own verbs."""
    parser = verbs.add_parser(
        "campaign",
        help="found campaigns, and say what holds in them",
        description="What organisers do on the pages of their campaigns, for whoever works beside the database. "
        "Everything is noted in the audit log, as done by the command line.",
    )
    ours = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    add = ours.add_parser("add", help="found a campaign")
    _add_rules(add)
    add.add_argument("--organiser", metavar="E-MAIL", help="the account that organises it")
    add.set_defaults(run=run_add)
    change = ours.add_parser("set", help="change the rules of a campaign")
    _add_rules(change)
    change.set_defaults(run=run_set)
    show = ours.add_parser("show", help="show a campaign, or which there are")
    show.add_argument("campaign", nargs="?", metavar="CAMPAIGN")
    add_database_option(show)
    show.set_defaults(run=run_show)
    add_phase_verbs(ours)
    add_test_set_verbs(ours)
    add_submission_verbs(ours)
    for verb, what in {
        "freeze": "let nothing be handed in, declared or withdrawn",
        "unfreeze": "let a frozen campaign go on",
        "close": "end the phase of now at this moment",
        "publish": "let the results be out from now on",
    }.items():
        state = ours.add_parser(verb, help=what)
        add_campaign(state)
        state.set_defaults(run=run_state, do=verb)
    teams = ours.add_parser("teams", help="show which teams take part, add some, or remove some")
    add_campaign(teams)
    teams.add_argument("--add", nargs="+", default=[], metavar="TEAM")
    teams.add_argument("--remove", nargs="+", default=[], metavar="TEAM", help="teams that have handed in nothing")
    teams.set_defaults(run=run_teams)
    members = ours.add_parser("members", help="show who organises a campaign or may look at it, or change that")
    add_campaign(members)
    members.add_argument("--organiser", nargs="+", default=[], metavar="E-MAIL", help="accounts that organise it")
    members.add_argument("--viewer", nargs="+", default=[], metavar="E-MAIL", help="accounts that may look at it")
    members.add_argument("--remove", nargs="+", default=[], metavar="E-MAIL", help="accounts that are neither any more")
    members.set_defaults(run=run_members)


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """CAMPAIGN and --database."""
    parser.add_argument("campaign", metavar="CAMPAIGN")
    add_database_option(parser)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    add_campaign(parser)
    parser.add_argument("--title", help="what pages call it")
    parser.add_argument("--description", metavar="TEXT", help="plain text; an empty line parts paragraphs")
    parser.add_argument("--time-zone", metavar="ZONE", help="of its deadlines, e.g. Europe/Prague (default: UTC)")
    parser.add_argument("--visibility", choices=("public", "private"), help="who sees it (default: private)")
    parser.add_argument("--joining", choices=("open", "invited"), help="how teams come in (default: invited)")
    parser.add_argument(
        "--anonymous", action=argparse.BooleanOptionalAction, default=None,
        help="whether other teams stand under numbers until the results are published",
    )  # fmt: skip
    parser.add_argument(
        "--verified-only", action=argparse.BooleanOptionalAction, default=None,
        help="whether only accounts with a confirmed address hand in",
    )  # fmt: skip
    parser.add_argument("--ranked-by", metavar="METRIC", help='the metric that ranks; "" for the first one')


def run_add(options: argparse.Namespace) -> int:
    """Found a campaign."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import set_member
    from campaigns.rules import found_campaign
    from models.schema.roles import CampaignRole

    with changing(options, create=True) as connection:
        found_campaign(connection, COMMAND_LINE, options.campaign, _rules(options))
        if options.organiser:
            set_member(connection, to_change(connection, options), options.organiser, CampaignRole.ORGANISER)
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
    from cli.options import note

    if options.campaign:
        return show_campaign(options)
    with looking(options) as connection:
        unreadable: list[UnreadableCampaign] = []
        sights = visible_campaigns(connection, COMMAND_LINE, unreadable=unreadable)
    note([f"The campaign {each.name!r} cannot be shown. {each.reason}" for each in unreadable])
    if not sights:
        print("There is no campaign. `steelyard campaign add` founds one.")
        return 0
    rows = [["Campaign", "Phase", "Takes submissions", "Seen by"]]
    for sight in sights:
        takes = "yes" if sight.takes_submissions else "frozen" if sight.frozen_at is not None else "no"
        seen_by = "everybody" if sight.visibility == "public" else "its people"
        rows.append([sight.name, sight.phase.name if sight.phase else "-", takes, seen_by])
    print(aligned(rows), end="")
    return 0


def run_state(options: argparse.Namespace) -> int:
    """Freeze, unfreeze, close or publish."""
    from campaigns.phases import close_now, publish_now
    from campaigns.rules import set_frozen

    with changing(options) as connection:
        sight = to_change(connection, options)
        if options.do in ("freeze", "unfreeze"):
            set_frozen(connection, sight, options.do == "freeze")
        else:
            (close_now if options.do == "close" else publish_now)(connection, sight)
    return show_campaign(options)


def run_teams(options: argparse.Namespace) -> int:
    """Change and print the teams."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import join, leave
    from campaigns.permissions import read_sight

    if options.add or options.remove:
        with changing(options) as connection:
            for team in options.add:
                join(connection, COMMAND_LINE, options.campaign, team)
            for team in options.remove:
                leave(connection, COMMAND_LINE, options.campaign, team)
    with looking(options) as connection:
        sight = read_sight(connection, COMMAND_LINE, options.campaign)
    if not sight.teams:
        print("No team takes part yet. As long as that is so, whoever has a team may hand in for it.")
        return 0
    rows = [["Team", "Published as", "Number"]]
    rows += [[each.name, each.publication_name or each.name, str(each.number)] for each in sight.teams.values()]
    print(aligned(rows), end="")
    return 0


def run_members(options: argparse.Namespace) -> int:
    """Change and print the members."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.participants import list_members, remove_member, set_member
    from campaigns.permissions import read_sight
    from models.schema.roles import CampaignRole

    if options.organiser or options.viewer or options.remove:
        with changing(options) as connection:
            sight = to_change(connection, options)
            for email in options.organiser:
                set_member(connection, sight, email, CampaignRole.ORGANISER)
            for email in options.viewer:
                set_member(connection, sight, email, CampaignRole.VIEWER)
            accounts = {each.email: each.account_id for each in list_members(connection, sight.campaign_id)}
            for email in options.remove:
                if email.casefold() not in accounts:
                    raise CommandError(f"{email} is no member of {options.campaign}.")
                remove_member(connection, sight, accounts[email.casefold()])
    with looking(options) as connection:
        members = list_members(connection, read_sight(connection, COMMAND_LINE, options.campaign).campaign_id)
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
