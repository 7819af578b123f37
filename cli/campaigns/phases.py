"""`steelyard campaign phase` and `extend`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cli.errors import CommandError, UsageError
from cli.stored import add_database_option

if TYPE_CHECKING:
    from campaigns.permissions import Sight

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
        "2026-11-30T18:00, unless they have an offset: 2026-11-30T18:00+01:00. One that comes twice, or never, because "
        "clocks are changed, is asked back.",
    )
    phase.add_argument("campaign", metavar="CAMPAIGN")
    phase.add_argument("phase", metavar="PHASE", help="its name")
    phase.add_argument("--kind", choices=KINDS, help="what happens in it")
    phase.add_argument("--starts", metavar="TIME", help="when it begins (a new one without it begins now)")
    phase.add_argument("--ends", metavar="TIME", help='the deadline, the first moment that is too late; "" for none')
    phase.add_argument(
        "--grace", type=_hours, metavar="HOURS",
        help="how long after the deadline late submissions are taken, and flagged; 0 refuses them",
    )  # fmt: skip
    phase.add_argument(
        "--feedback", choices=FEEDBACK, help="what teams are told of their own scores in a blind phase (default: full)"
    )
    phase.add_argument("--step", type=_step, metavar="POINTS", help="of rounding, intervals, Ladder (default: 1)")
    phase.add_argument("--name", metavar="NAME", help="another name, before it begins")
    phase.add_argument("--remove", action="store_true", help="remove it; nothing may belong to it")
    add_database_option(phase)
    phase.set_defaults(run=run_phase)
    extend = verbs.add_parser("extend", help="give a phase a later deadline, also one that is over")
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
        sight = to_change(connection, options)
        there = options.phase in {each.name for each in sight.phases}
        if options.remove:
            remove_phase(connection, sight, find_phase(sight, options.phase))
        elif there:
            known = find_phase(sight, options.phase)
            change_phase(connection, sight, known, replace(rules_of(known), **_values(options, sight)))
        elif options.kind is None:
            raise CommandError(f'{options.campaign} has no phase "{options.phase}". To plan it, say its --kind.')
        else:
            rules = PhaseRules(options.phase, PhaseKind(options.kind), sight.at)
            add_phase(connection, sight, replace(rules, **_values(options, sight)))
    return show_campaign(options)


def run_extend(options: argparse.Namespace) -> int:
    """Give a phase a later deadline."""
    from campaigns.phases import extend_phase, find_phase
    from campaigns.times import read_moment
    from cli.campaigns.changes import changing, show_campaign, to_change

    with changing(options) as connection:
        sight = to_change(connection, options)
        extend_phase(connection, sight, find_phase(sight, options.phase), read_moment(options.ends, sight.time_zone))
    return show_campaign(options)


def _values(options: argparse.Namespace, sight: Sight) -> dict[str, Any]:
    """What the options say of a phase."""
    from campaigns.times import read_moment
    from models.schema.roles import Feedback, LateRule, PhaseKind

    values: dict[str, Any] = {}
    if options.kind is not None:
        values["kind"] = PhaseKind(options.kind)
    if options.starts is not None:
        values["starts_at"] = read_moment(options.starts, sight.time_zone)
    if options.ends is not None:
        values["ends_at"] = read_moment(options.ends, sight.time_zone) if options.ends else None
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
