"""`steelyard phase`: the phases of campaigns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from cli.campaigns.changes import CAMPAIGN, changing, looking, print_campaign, to_change
from cli.campaigns.output import phase_table
from cli.commands import noun
from cli.decorators import database_option, yes_option
from cli.terminal.prompts import confirm
from steelyard.commands.errors import UsageError
from steelyard.commands.options import format_option, option, together
from steelyard.commands.parsing import Value
from steelyard.tables.rendering import render

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess
    from steelyard.commands.options import Decorator

KINDS = ("open", "blind", "closed", "published")
FEEDBACK = ("full", "rounded", "interval", "ladder", "none")
"""As `models.schema.roles` has them."""

phase = noun(
    "phase",
    "Plan the phases of a campaign. Times are those of the campaign's time zone, e.g. 2026-11-30T18:00, unless they "
    "have an offset: 2026-11-30T18:00+01:00. Ambiguous or non-existent local times (daylight saving) are rejected; add "
    "a UTC offset.",
)
PHASE = click.argument("phase", metavar="PHASE", help="name of the phase")


def _hours(text: str) -> float:
    return _number(text, "a number of hours")


def _step(text: str) -> float:
    return _number(text, "a number of points")


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(f'"{text}" is not {what}') from error


def rule_options() -> Decorator:
    """The rules of a phase but its kind."""
    return together(
        option("--starts", metavar="TIME", help="when it begins (a new one without it begins now)"),
        option("--ends", metavar="TIME", help='the deadline: submissions close at this time; "" for none'),
        option(
            "--grace",
            type=Value(_hours),
            metavar="HOURS",
            help="how long after the deadline late submissions are accepted and marked as late; 0 rejects them",
        ),
        option(
            "--feedback",
            type=click.Choice(FEEDBACK),
            help="feedback on a team's own scores in a blind phase (default: full)",
        ),
        option("--step", type=Value(_step), metavar="POINTS", help="of rounding, intervals, Ladder (default: 1)"),
        database_option(),
    )


@phase.command(
    "create",
    help="Plan a phase.",
    example="steelyard phase create wmt26 blind --kind blind --starts 2026-11-01T00:00 --ends 2026-11-30T18:00",
)
@CAMPAIGN
@PHASE
@option("--kind", type=click.Choice(KINDS), required=True, help="what happens in it")
@rule_options()
def create(campaign: str, phase: str, kind: str, database: str | None, **asked: Any) -> int:
    """Plan a phase."""
    from campaigns.phases import PhaseRules, add_phase
    from models.schema.roles import PhaseKind

    with changing(database) as connection:
        access = to_change(connection, campaign)
        rules = PhaseRules(phase, PhaseKind(kind), access.at)
        add_phase(connection, access, replace(rules, **_values(asked, access)))
    return print_campaign(database, campaign)


@phase.command("list", help="List the phases of a campaign.", example="steelyard phase list wmt26 -f json")
@CAMPAIGN
@format_option()
@database_option()
def list_(campaign: str, format: str, database: str | None) -> int:  # noqa: A002 - the option's name
    """Print the phases."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.permissions import read_access

    with looking(database) as connection:
        access = read_access(connection, COMMAND_LINE, campaign)
    print(render([phase_table(access)], format, f"Phases of {campaign}"), end="")
    return 0


@phase.command(
    "update",
    help="Change a phase: what has begun can change less than what is planned.",
    example="steelyard phase update wmt26 blind --feedback rounded --step 0.5",
)
@CAMPAIGN
@PHASE
@option("--kind", type=click.Choice(KINDS), help="what happens in it")
@option("--name", metavar="NAME", help="new name, before it begins")
@rule_options()
def update(campaign: str, phase: str, database: str | None, **asked: Any) -> int:
    """Change a phase."""
    from campaigns.phases import change_phase, find_phase, rules_of

    if all(value is None for value in asked.values()):
        raise UsageError("Say what to change: --kind, --starts, --ends, --grace, --feedback, --step or --name.")
    with changing(database) as connection:
        access = to_change(connection, campaign)
        known = find_phase(access, phase)
        change_phase(connection, access, known, replace(rules_of(known), **_values(asked, access)))
    return print_campaign(database, campaign)


@phase.command(
    "extend",
    help="Move the deadline of a phase, even after it has passed.",
    example="steelyard phase extend wmt26 blind 2026-12-02T18:00",
)
@CAMPAIGN
@PHASE
@click.argument("ends", metavar="TIME", help="the new deadline")
@database_option()
def extend(campaign: str, phase: str, ends: str, database: str | None) -> int:
    """Move the deadline of a phase."""
    from campaigns.phases import extend_phase, find_phase
    from campaigns.times import parse_local_time

    with changing(database) as connection:
        access = to_change(connection, campaign)
        extend_phase(connection, access, find_phase(access, phase), parse_local_time(ends, access.time_zone))
    return print_campaign(database, campaign)


@phase.command(
    "delete", help="Delete a phase; it must be empty.", example="steelyard phase delete wmt26 rehearsal --yes"
)
@CAMPAIGN
@PHASE
@yes_option()
@database_option()
def delete(campaign: str, phase: str, yes: bool, database: str | None) -> int:
    """Delete a phase."""
    from campaigns.phases import find_phase, remove_phase

    confirm(f'Delete the phase "{phase}" of {campaign}?', yes=yes)
    with changing(database) as connection:
        access = to_change(connection, campaign)
        remove_phase(connection, access, find_phase(access, phase))
    return print_campaign(database, campaign)


def _values(asked: dict[str, Any], access: CampaignAccess) -> dict[str, Any]:
    """The rules of a phase that the options set, by field."""
    from campaigns.times import parse_local_time
    from models.schema.roles import Feedback, LateRule, PhaseKind

    given = {name: value for name, value in asked.items() if value is not None}
    values: dict[str, Any] = {name: given[name] for name in ("name",) if name in given}
    if "kind" in given:
        values["kind"] = PhaseKind(given["kind"])
    if "starts" in given:
        values["starts_at"] = parse_local_time(given["starts"], access.time_zone)
    if "ends" in given:
        values["ends_at"] = parse_local_time(given["ends"], access.time_zone) if given["ends"] else None
    if "grace" in given:
        late = LateRule.FLAG if given["grace"] else LateRule.REFUSE
        values |= {"grace_seconds": given["grace"] * 3600.0, "late": late}
    if "feedback" in given:
        values["feedback"] = Feedback(given["feedback"])
    if "step" in given:
        values["feedback_step"] = given["step"]
    return values
