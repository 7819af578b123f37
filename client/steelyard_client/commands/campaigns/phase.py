"""`steelyard phase`: the phases of campaigns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import format_option, option, together, yes_option
from steelyard.commands.parsing import Noun, Value
from steelyard.commands.prompts import confirm
from steelyard.tables.rendering import render
from steelyard_client.commands.backend import backend
from steelyard_client.commands.campaigns.output import CAMPAIGN, phase_table, print_campaign

if TYPE_CHECKING:
    from steelyard.commands.options import Decorator
    from steelyard_client import Client

KINDS = ("open", "blind", "closed", "published")
FEEDBACK = ("full", "rounded", "interval", "ladder", "none")
"""As `vocabulary` has them."""

phase = Noun(
    "phase",
    help="Plan the phases of a campaign. Times are those of the campaign's time zone, e.g. 2026-11-30T18:00, unless "
    "they have an offset: 2026-11-30T18:00+01:00. Ambiguous or non-existent local times (daylight saving) are "
    "rejected; add a UTC offset.",
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
        option("--starts", metavar="TIME", help="when it begins (default for a new phase: now)"),
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
@backend()
def create(client: Client, campaign: str, phase: str, **asked: Any) -> int:
    """Plan a phase."""
    from steelyard_client.documents.campaigns.phases import PhaseCreate

    values = _values(asked)
    if "starts" not in values:
        values["starts"] = client.read_campaign(campaign).at.isoformat()
    client.create_phase(campaign, PhaseCreate(name=phase, **values))
    return print_campaign(client, campaign)


@phase.command("list", help="List the phases of a campaign.", example="steelyard phase list wmt26 -f json")
@CAMPAIGN
@format_option()
@backend()
def list_(client: Client, campaign: str, format: str) -> int:  # noqa: A002 - the option's name
    """Print the phases."""
    zone = client.read_campaign(campaign).time_zone
    table = phase_table(list(client.list_phases(campaign)), zone)
    print(render([table], format, f"Phases of {campaign}"), end="")
    return 0


@phase.command(
    "update",
    help="Change a phase. Once it has begun, fewer settings can be changed.",
    example="steelyard phase update wmt26 blind --feedback rounded --step 0.5",
)
@CAMPAIGN
@PHASE
@option("--kind", type=click.Choice(KINDS), help="what happens in it")
@option("--name", metavar="NAME", help="new name, before it begins")
@rule_options()
@backend()
def update(client: Client, campaign: str, phase: str, **asked: Any) -> int:
    """Change a phase."""
    from steelyard_client.documents.campaigns.phases import PhaseUpdate

    values = _values(asked)
    if not values:
        raise UsageError("Say what to change: --kind, --starts, --ends, --grace, --feedback, --step or --name.")
    client.update_phase(campaign, _number_of(client, campaign, phase), PhaseUpdate(**values))
    return print_campaign(client, campaign)


@phase.command(
    "extend",
    help="Move the deadline of a phase, even after it has passed.",
    example="steelyard phase extend wmt26 blind 2026-12-02T18:00",
)
@CAMPAIGN
@PHASE
@click.argument("ends", metavar="TIME", help="the new deadline")
@backend()
def extend(client: Client, campaign: str, phase: str, ends: str) -> int:
    """Move the deadline of a phase."""
    from steelyard_client.documents.campaigns.phases import PhaseExtend

    client.extend_phase(campaign, _number_of(client, campaign, phase), PhaseExtend(ends=ends))
    return print_campaign(client, campaign)


@phase.command(
    "delete", help="Delete a phase; it must be empty.", example="steelyard phase delete wmt26 rehearsal --yes"
)
@CAMPAIGN
@PHASE
@yes_option()
@backend()
def delete(client: Client, campaign: str, phase: str, yes: bool) -> int:
    """Delete a phase."""
    confirm(f'Delete the phase "{phase}" of {campaign}?', yes=yes)
    client.delete_phase(campaign, _number_of(client, campaign, phase))
    return print_campaign(client, campaign)


def _number_of(client: Client, campaign: str, phase: str) -> int:
    known = list(client.list_phases(campaign))
    for each in known:
        if each.name == phase:
            return each.id
    there = f"There are: {', '.join(each.name for each in known)}." if known else "It has none yet."
    raise CommandError(f'The campaign {campaign} has no phase "{phase}". {there}')


def _values(asked: dict[str, Any]) -> dict[str, Any]:
    """The rules of a phase that the options set, by field of the document."""
    given = {name: value for name, value in asked.items() if value is not None}
    if "grace" in given:
        hours = given.pop("grace")
        given |= {"grace_seconds": hours * 3600.0, "late": "flag" if hours else "refuse"}
    if "step" in given:
        given["feedback_step"] = given.pop("step")
    return given
