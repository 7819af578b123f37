"""`steelyard quota`: how many submissions teams may make, and how much of it they have used."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from cli.options import whole_number
from cli.stored import add_database_option, read_settings, require_schema
from steelyard.commands.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from campaigns.quotas.quotas import TeamQuotas
    from campaigns.quotas.rules import QuotaInfo, QuotaScope
    from campaigns.quotas.usage import QuotaUsage
    from models.schema.states import QuotaKind

KINDS = {
    "in_flight": "submissions with evaluations that are open",
    "per_day": "submissions of one calendar day",
    "per_phase": "submissions of one phase of the campaign, or of all of it where it has none",
}
"""As `models.schema.states.QuotaKind`."""


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`quota` and its own verbs."""
    parser = verbs.add_parser(
        "quota",
        help="limit how many submissions a team may make",
        description="Quotas limit submissions by `steelyard submit`. A quota applies to a team of a campaign, to every "
        "team of it, or to everything, optionally in one phase; of each kind the most specific one applies.",
    )
    ours = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    listing = ours.add_parser("list", help="show all quotas")
    add_database_option(listing)
    listing.set_defaults(run=run_list)
    setting = ours.add_parser("set", help="set limits: for a team, a campaign or everything")
    _add_scope(setting)
    for name, what in KINDS.items():
        setting.add_argument(f"--{name.replace('_', '-')}", type=_amount, metavar="N", help=f"the most {what}; or none")
    setting.add_argument(
        "--time-zone", metavar="ZONE",
        help="where days begin and end, e.g. Europe/Prague (default: as for the quota that held so far, else UTC)",
    )  # fmt: skip
    setting.set_defaults(run=run_set)
    remove = ours.add_parser("remove", help="remove the limits of a team, a campaign or everything")
    _add_scope(remove)
    for name in KINDS:
        remove.add_argument(f"--{name.replace('_', '-')}", action="store_true", help="only this one")
    remove.set_defaults(run=run_remove)
    show = ours.add_parser("show", help="show what a team has used, and when the next submission is possible")
    show.add_argument("team", metavar="TEAM")
    show.add_argument("--campaign", metavar="NAME", help="in this campaign (default: in all its campaigns)")
    add_database_option(show)
    show.set_defaults(run=run_show)
    phase = ours.add_parser("phase", help="set the phase of a campaign")
    phase.add_argument("campaign", metavar="CAMPAIGN")
    phase.add_argument("phase", metavar="PHASE", help='the name of the phase; "" ends the last one')
    add_database_option(phase)
    phase.set_defaults(run=run_phase)


def _add_scope(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--campaign", metavar="NAME", help="only in this campaign")
    parser.add_argument("--team", default="", metavar="NAME", help="only for this team of the campaign")
    parser.add_argument("--phase", default="", metavar="NAME", help="only in this phase of the campaign")
    add_database_option(parser)


def _amount(text: str) -> int | str:
    return text if text == "none" else whole_number(text)


def run_list(options: argparse.Namespace) -> int:
    """Print all quotas."""
    from campaigns.quotas.rules import list_quotas
    from models.database.session import reading
    from steelyard.tables.text import aligned

    with reading(_engine(options)) as connection:
        quotas = list_quotas(connection)
    if not quotas:
        print("There are no quotas: every team may submit as much as it likes. `steelyard quota set` sets them.")
        return 0
    rows = [["Campaign", "Team", "Phase", "Limit", "Most"]]
    for each in quotas:
        scope = each.scope
        rows.append(
            [each.campaign or "(all)", scope.team or "(all)", scope.phase or "(all)", _called(each), _most(each)]
        )
    print(aligned(rows), end="")
    return 0


def run_set(options: argparse.Namespace) -> int:
    """Set limits."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.quotas.errors import BadQuota
    from campaigns.quotas.organisers import set_limits
    from models.database.session import writing
    from models.schema.states import QuotaKind

    amounts: dict[QuotaKind, int | None] = {}
    for name in KINDS:
        amount = getattr(options, name)
        if amount is not None:
            amounts[QuotaKind(name)] = None if amount == "none" else amount
    if not amounts:
        raise UsageError("Which limit? Give --in-flight, --per-day or --per-phase.")
    try:
        with writing(_engine(options), durable=True) as connection:
            scope = _scope(connection, options)
            set_limits(connection, COMMAND_LINE, scope, options.campaign, amounts, options.time_zone)
    except BadQuota as error:
        raise UsageError(str(error)) from error
    return run_list(options)


def run_remove(options: argparse.Namespace) -> int:
    """Remove limits."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.quotas.organisers import remove_limits
    from models.database.session import writing
    from models.schema.states import QuotaKind

    kinds = [QuotaKind(name) for name in KINDS if getattr(options, name)]
    with writing(_engine(options), durable=True) as connection:
        removed = remove_limits(connection, COMMAND_LINE, _scope(connection, options), options.campaign, kinds)
    print("Removed: " + ", ".join(f"{_called(each)} ({_most(each)})" for each in removed) + ".")
    return 0


def run_show(options: argparse.Namespace) -> int:
    """Print the usage of a team's quotas."""
    from campaigns.quotas.quotas import read_team_quotas
    from models.database.session import reading

    with reading(_engine(options)) as connection:
        accounts = read_team_quotas(connection, options.team, options.campaign)
    print("\n".join(_account(each, options.team) for each in accounts), end="")
    return 0


def run_phase(options: argparse.Namespace) -> int:
    """Set the phase of a campaign."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.quotas.quotas import set_phase
    from models.database.session import writing

    with writing(_engine(options), durable=True) as connection:
        campaign_id = set_phase(connection, options.campaign, options.phase)
        subject = f"campaign {options.campaign}"
        COMMAND_LINE.audit(connection, "campaign.phase", subject, campaign_id=campaign_id, phase=options.phase)
    print(f"{options.campaign}: " + (f'the phase is "{options.phase}".' if options.phase else "no phase."))
    return 0


def _engine(options: argparse.Namespace) -> Engine:
    from models.database.session import make_engine

    settings = read_settings(options)
    require_schema(settings, create=False)
    return make_engine(settings.database_url, pooled=False)


def _scope(connection: Connection, options: argparse.Namespace) -> QuotaScope:
    from campaigns.quotas.rules import QuotaScope
    from models.corpus.campaign_protocols import find_campaign

    campaign = None if options.campaign is None else find_campaign(connection, options.campaign)
    return QuotaScope(campaign, options.team, options.phase)


def _called(quota: QuotaInfo) -> str:
    zone = f" ({quota.time_zone})" if quota.kind == "per_day" else ""
    return quota.kind.replace("_", " ") + zone


def _most(quota: QuotaInfo) -> str:
    return "no limit" if quota.amount is None else f"{quota.amount:,}"


def _account(account: TeamQuotas, team: str) -> str:
    from steelyard.tables.text import aligned
    from steelyard.text.wording import number_of

    phase = f', phase "{account.phase}"' if account.phase else ""
    rows = [["Limit", "Used", "Most", "Next possible"]]
    for each in account.usage:
        most = "no limit" if each.amount is None else f"{each.amount:,}"
        rows.append([each.of_what, f"{each.used:,}", most, _next(each)])
    lines = [f"Team {team} in {account.campaign}{phase}", aligned(rows)]
    for entry in account.given_back:
        lines.append(f"Submission {entry.submission_id} was given back: {entry.reason or 'it was cancelled'}\n")
    if account.given_back:
        lines.append(f"{number_of(len(account.given_back), 'submission')} given back in all.\n")
    return lines[0] + "\n" + "".join(lines[1:])


def _next(standing: QuotaUsage) -> str:
    from campaigns.quotas.quotas import clock_text

    if not standing.full:
        return "now"
    if standing.free_at is not None:
        return clock_text(standing.free_at, standing.day.time_zone)
    if not standing.amount:
        return "never"
    return "when one has ended" if standing.kind == "in_flight" else "in another phase"
