"""`steelyard quota`: how many submissions a team may make."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from cli.commands import noun
from cli.decorators import database_option, yes_option
from cli.stored import require_schema, settings_for
from cli.terminal.prompts import confirm
from steelyard.commands.errors import UsageError
from steelyard.commands.options import format_option, option, together
from steelyard.commands.parsing import Value
from steelyard.commands.values import whole_number
from steelyard.tables.formatting import count
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from campaigns.quotas.quotas import TeamQuotas
    from campaigns.quotas.rules import QuotaInfo, QuotaScope
    from campaigns.quotas.usage import QuotaUsage
    from models.schema.states import QuotaKind
    from steelyard.commands.options import Decorator

KINDS = {
    "in_flight": "submissions with evaluations that are open",
    "per_day": "submissions of one calendar day",
    "per_phase": "submissions of one phase of the campaign, or of all of it where it has none",
}
"""As `models.schema.states.QuotaKind`."""
NO_LIMIT = "no limit"

quota = noun(
    "quota",
    "Limit how many submissions a team may make. A quota applies to a team of a campaign, to every team of it, or to "
    "everything, optionally in one phase; of each kind the most specific one applies.",
)


def _amount(text: str) -> int | str:
    return text if text == "none" else whole_number(text)


def scope_options() -> Decorator:
    """--campaign, --team, --phase, --database."""
    return together(
        option("--campaign", metavar="NAME", help="only in this campaign"),
        option("--team", default="", metavar="NAME", help="only for this team of the campaign"),
        option("--phase", default="", metavar="NAME", help="only in this phase of the campaign"),
        database_option(),
    )


@quota.command("list", help="List all quotas.", example="steelyard quota list -f json")
@format_option()
@database_option()
def list_(format: str, database: str | None) -> int:  # noqa: A002 - the option's name
    """Print all quotas."""
    print_quotas(database, format)
    return 0


@quota.command(
    "show",
    help="Show what a team has used, and when the next submission is possible.",
    example="steelyard quota show harbour --campaign wmt26",
)
@click.argument("team", metavar="TEAM", help="the team's name")
@option("--campaign", metavar="NAME", help="in this campaign (default: in all its campaigns)")
@format_option()
@database_option()
def show(team: str, campaign: str | None, format: str, database: str | None) -> int:  # noqa: A002
    """Print the usage of a team's quotas."""
    from campaigns.quotas.quotas import read_team_quotas

    with transaction(database, write=False) as connection:
        found = read_team_quotas(connection, team, campaign)
    print(render([_usage(each, team) for each in found], format, f"Quotas of {team}"), end="")
    return 0


@quota.command(
    "update",
    help="Set limits for a team, a campaign or everything; limits of other kinds stay as they are.",
    example="steelyard quota update --campaign wmt26 --per-day 5 --in-flight 2 --time-zone Europe/Prague",
)
@together(
    *(
        option(f"--{name.replace('_', '-')}", type=Value(_amount), metavar="N", help=f"the most {what}; or none")
        for name, what in KINDS.items()
    )
)
@option(
    "--time-zone",
    metavar="ZONE",
    help="where days begin and end, e.g. Europe/Prague (default: as for the quota that held so far, else UTC)",
)
@scope_options()
def update(
    campaign: str | None, team: str, phase: str, time_zone: str | None, database: str | None, **asked: Any
) -> int:
    """Set limits."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.quotas.errors import BadQuota
    from campaigns.quotas.organisers import set_limits
    from models.schema.states import QuotaKind

    amounts: dict[QuotaKind, int | None] = {
        QuotaKind(name): None if amount == "none" else amount for name, amount in asked.items() if amount is not None
    }
    if not amounts:
        raise UsageError("Which limit? Give --in-flight, --per-day or --per-phase.")
    try:
        with transaction(database, write=True) as connection:
            scope = _scope(connection, campaign, team, phase)
            set_limits(connection, COMMAND_LINE, scope, campaign, amounts, time_zone)
    except BadQuota as error:
        raise UsageError(str(error)) from error
    print_quotas(database, "text")
    return 0


@quota.command(
    "delete",
    help="Delete the limits of a team, a campaign or everything: all of them, or those that are named.",
    example="steelyard quota delete --campaign wmt26 --per-day",
)
@together(
    *(option(f"--{name.replace('_', '-')}", is_flag=True, help=f"only that of {what}") for name, what in KINDS.items())
)
@yes_option()
@scope_options()
def delete(campaign: str | None, team: str, phase: str, yes: bool, database: str | None, **asked: bool) -> int:
    """Delete limits."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.quotas.organisers import remove_limits
    from models.schema.states import QuotaKind

    kinds = [QuotaKind(name) for name, given in asked.items() if given]
    named = ", ".join(kind.replace("_", " ") for kind in kinds) or "all"
    place = ", ".join(part for part in (campaign or "every campaign", team and f"team {team}", phase) if part)
    confirm(f"Delete the limits ({named}) of {place}?", yes=yes)
    with transaction(database, write=True) as connection:
        removed = remove_limits(connection, COMMAND_LINE, _scope(connection, campaign, team, phase), campaign, kinds)
    print("Deleted: " + ", ".join(f"{_called(each)} ({_most(each)})" for each in removed) + ".")
    return 0


@quota.command(
    "phase",
    help="Set the phase that quotas count by, of a campaign that plans no phases.",
    example="steelyard quota phase wmt26 final",
)
@click.argument("campaign", metavar="CAMPAIGN", help="the campaign's name")
@click.argument("phase", metavar="PHASE", help='the name of the phase; "" ends the last one')
@database_option()
def phase(campaign: str, phase: str, database: str | None) -> int:
    """Set the phase of a campaign."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.quotas.quotas import set_phase

    with transaction(database, write=True) as connection:
        campaign_id = set_phase(connection, campaign, phase)
        subject = f"campaign {campaign}"
        COMMAND_LINE.audit(connection, "campaign.phase", subject, campaign_id=campaign_id, phase=phase)
    print(f"{campaign}: " + (f'the phase is "{phase}".' if phase else "no phase."))
    return 0


@contextmanager
def transaction(database: str | None, *, write: bool) -> Iterator[Connection]:
    """A transaction on a database whose tables are there."""
    from models.database.session import make_engine, reading, writing

    settings = settings_for(database)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url, pooled=False)
    with writing(engine, durable=True) if write else reading(engine) as connection:
        yield connection


def print_quotas(database: str | None, form: str) -> None:
    """Print all quotas."""
    from campaigns.quotas.rules import list_quotas

    with transaction(database, write=False) as connection:
        quotas = list_quotas(connection)
    columns = [
        Column("campaign", "Campaign", Kind.NAME, missing="(all)"),
        Column("team", "Team", Kind.NAME, missing="(all)"),
        Column("phase", "Phase", Kind.NAME, missing="(all)"),
        Column("limit", "Limit"),
        Column("amount", "Most", Kind.COUNT, missing=NO_LIMIT),
    ]
    rows = [
        [each.campaign or None, each.scope.team or None, each.scope.phase or None, _called(each), each.amount]
        for each in quotas
    ]
    nothing = "There are no quotas: every team may submit as much as it likes. `steelyard quota update` sets them."
    print(render([Table(columns, rows, empty=nothing)], form, "Quotas"), end="")


def _scope(connection: Connection, campaign: str | None, team: str, phase: str) -> QuotaScope:
    from campaigns.quotas.rules import QuotaScope
    from models.corpus.campaign_protocols import find_campaign

    return QuotaScope(None if campaign is None else find_campaign(connection, campaign), team, phase)


def _called(known: QuotaInfo) -> str:
    zone = f" ({known.time_zone})" if known.kind == "per_day" else ""
    return known.kind.replace("_", " ") + zone


def _most(known: QuotaInfo) -> str:
    return NO_LIMIT if known.amount is None else count(known.amount)


def _usage(account: TeamQuotas, team: str) -> Table:
    from steelyard.text.wording import number_of

    phase = f', phase "{account.phase}"' if account.phase else ""
    columns = [
        Column("limit", "Limit", Kind.NAME),
        Column("used", "Used", Kind.COUNT),
        Column("amount", "Most", Kind.COUNT, missing=NO_LIMIT),
        Column("next", "Next possible"),
    ]
    rows = [[each.of_what, each.used, each.amount, _next(each)] for each in account.usage]
    notes = [
        f"Submission {entry.submission_id} was given back: {entry.reason or 'it was cancelled'}"
        for entry in account.given_back
    ]
    notes += [f"{number_of(len(notes), 'submission')} given back in all."] if notes else []
    title = f"Team {team} in {account.campaign}{phase}"
    return Table(columns, rows, title, key=account.campaign, notes=notes, empty="There are no quotas.")


def _next(usage: QuotaUsage) -> str:
    from campaigns.quotas.quotas import clock_text

    if not usage.full:
        return "now"
    if usage.free_at is not None:
        return clock_text(usage.free_at, usage.day.time_zone)
    if not usage.amount:
        return "never"
    return "when one has ended" if usage.kind == "in_flight" else "in another phase"
