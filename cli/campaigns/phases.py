"""`steelyard campaign phase` and `extend`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cli.stored import add_database_option
from steelyard.commands.errors import CommandError, UsageError

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess

KINDS = ("open", "blind", "closed", "published")
FEEDBACK = ("full", "rounded", "interval", "ladder", "none")
"""As `models.schema.roles` has them."""
CHANGES = ("kind", "starts", "ends", "grace", "feedback", "step", "name")


def add_phase_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`phase` and `extend`."""
    phase = verbs.add_parser(
        "phase",
        help="plan a phase of a campaign, change one, or remove it",
        description="Plan a phase, or change the one of that name. Times are those of the campaign's time zone, e.g. "
        "2026-11-30T18:00, unless they have an offset: 2026-11-30T18:00+01:00. Ambiguous or non-existent local times "
        "(daylight saving) are rejected; add a UTC offset.",
    )
    phase.add_argument("campaign", metavar="CAMPAIGN")
    phase.add_argument("phase", metavar="PHASE", help="its name")
    phase.add_argument("--kind", choices=KINDS, help="what happens in it")
    phase.add_argument("--starts", metavar="TIME", help="when it begins (a new one without it begins now)")
    phase.add_argument("--ends", metavar="TIME", help='the deadline: submissions close at this time; "" for none')
    phase.add_argument(
        "--grace", type=_hours, metavar="HOURS",
        help="how long after the deadline late submissions are accepted and marked as late; 0 rejects them",
    )  # fmt: skip
    phase.add_argument(
        "--feedback", choices=FEEDBACK, help="feedback on a team's own scores in a blind phase (default: full)"
    )
    phase.add_argument("--step", type=_step, metavar="POINTS", help="of rounding, intervals, Ladder (default: 1)")
    phase.add_argument("--name", metavar="NAME", help="new name, before it begins")
    phase.add_argument("--remove", action="store_true", help="remove the phase; it must be empty")
    add_database_option(phase)
    phase.set_defaults(run=run_phase)
    extend = verbs.add_parser("extend", help="move the deadline of a phase, even after it has passed")
    extend.add_argument("campaign", metavar="CAMPAIGN")
    extend.add_argument("phase", metavar="PHASE")
    extend.add_argument("ends", metavar="TIME", help="the new deadline")
    add_database_option(extend)
    extend.set_defaults(run=run_extend)


def run_phase(options: argparse.Namespace) -> int:
    """Plan, change or remove a phase."""
    from campaigns.phases import PhaseRules, add_phase, change_phase, find_phase, remove_phase, rules_of
    from cli.campaigns.changes import changing, show_campaign, to_change
    from models.schema.roles import PhaseKind

    said = any(getattr(options, name) is not None for name in CHANGES)
    if options.remove and said:
        raise UsageError("--remove goes with the name alone: it removes the phase.")
    if not said and not options.remove:
        raise UsageError("Say what: --kind and --starts for a new phase, what to change of one, or --remove.")
    with changing(options) as connection:
        access = to_change(connection, options)
        there = options.phase in {each.name for each in access.phases}
        if options.remove:
            remove_phase(connection, access, find_phase(access, options.phase))
        elif there:
            known = find_phase(access, options.phase)
            change_phase(connection, access, known, replace(rules_of(known), **_values(options, access)))
        elif options.kind is None:
            raise CommandError(f'{options.campaign} has no phase "{options.phase}". To plan it, say its --kind.')
        else:
            rules = PhaseRules(options.phase, PhaseKind(options.kind), access.at)
            add_phase(connection, access, replace(rules, **_values(options, access)))
    return show_campaign(options)


def run_extend(options: argparse.Namespace) -> int:
    """Move the deadline of a phase."""
    from campaigns.phases import extend_phase, find_phase
    from campaigns.times import parse_local_time
    from cli.campaigns.changes import changing, show_campaign, to_change

    with changing(options) as connection:
        access = to_change(connection, options)
        extend_phase(
            connection, access, find_phase(access, options.phase), parse_local_time(options.ends, access.time_zone)
        )
    return show_campaign(options)


def _values(options: argparse.Namespace, access: CampaignAccess) -> dict[str, Any]:
    """The rules of a phase that the options set, by field."""
    from campaigns.times import parse_local_time
    from models.schema.roles import Feedback, LateRule, PhaseKind

    values: dict[str, Any] = {}
    if options.kind is not None:
        values["kind"] = PhaseKind(options.kind)
    if options.starts is not None:
        values["starts_at"] = parse_local_time(options.starts, access.time_zone)
    if options.ends is not None:
        values["ends_at"] = parse_local_time(options.ends, access.time_zone) if options.ends else None
    if options.grace is not None:
        late = LateRule.FLAG if options.grace else LateRule.REFUSE
        values |= {"grace_seconds": options.grace * 3600.0, "late": late}
    if options.feedback is not None:
        values["feedback"] = Feedback(options.feedback)
    if options.step is not None:
        values["feedback_step"] = options.step
    if options.name is not None:
        values["name"] = options.name
    return values


def _hours(text: str) -> float:
    return _number(text, "a number of hours")


def _step(text: str) -> float:
    return _number(text, "a number of points")


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f'"{text}" is not {what}') from error
