"""`steelyard cancel`, `retry` and `requeue`: what people do to the queue by hand."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.options import note, whole_number
from cli.stored import add_database_option, read_settings, require_schema
from cli.terminal.prompts import add_yes_option, confirm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from models.queue_status.evaluation_filters import Selection
    from models.queue_status.progress import Progress
    from runtime.settings import Settings
    from scheduler.admin import Plan

STATES = ("queued", "running", "reducing", "done", "failed", "cancelled")
CHOICE = (
    "Which evaluations are meant is said by their numbers, or by options, of which all must hold. What will be touched "
    "is shown with its numbers before anything is done, and nothing else ever is."
)


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`cancel`, `retry` and `requeue`."""
    cancel = verbs.add_parser(
        "cancel",
        help="cancel evaluations that are not done",
        description="Cancel evaluations that wait or run. Shards that run are finished, and their results dropped; "
        f"what was finished before is kept for a `steelyard retry`. {CHOICE}",
    )
    _add_selection(cancel)
    cancel.add_argument(
        "--comparison", nargs="+", type=whole_number, default=[], metavar="N",
        help="comparisons that run, by their numbers (`steelyard status` shows them), in place of evaluations",
    )  # fmt: skip
    cancel.add_argument("--reason", metavar="TEXT", help="what to tell those who wait for them")
    cancel.add_argument(
        "--counts", action="store_true",
        help="the submissions count against the quotas of their teams all the same (default: they are given back)",
    )  # fmt: skip
    cancel.set_defaults(run=run_cancel)
    retry = verbs.add_parser(
        "retry",
        help="queue evaluations again that failed or were cancelled",
        description=f"Queue failed and cancelled evaluations again; shards that were finished are kept. {CHOICE}",
    )
    _add_selection(retry)
    _add_waiting(retry)
    retry.set_defaults(run=run_retry)
    requeue = verbs.add_parser(
        "requeue",
        help="measure evaluations anew, from nothing",
        description="Drop statistics, scores and randomization tests of evaluations that have ended and measure them "
        "anew, where a disk or an installation is suspected; once they are done, say whether the new scores are the "
        "old ones to the bit. Open evaluations are left alone: cancel them first. Exit status 1 where an evaluation "
        f"fails, or a score differs. {CHOICE}",
    )
    _add_selection(requeue)
    _add_waiting(requeue)
    requeue.set_defaults(run=run_requeue)


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("evaluations", nargs="*", type=whole_number, metavar="ID", help="evaluations by their numbers")
    parser.add_argument("--campaign", metavar="NAME", help="those of this campaign")
    parser.add_argument("--system", metavar="NAME", help="those of this system, NAME or TEAM/NAME")
    parser.add_argument("--team", metavar="NAME", help="those that wait in the turn of this team")
    parser.add_argument(
        "--state", nargs="+", choices=STATES, metavar="STATE", help=f"those that are {', '.join(STATES)}"
    )
    add_yes_option(parser)
    add_database_option(parser)


def _add_waiting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wait", action=argparse.BooleanOptionalAction, default=None,
        help="wait until they are done (default: only where this command brings its own workers, without a broker)",
    )  # fmt: skip
    parser.add_argument("--processes", type=whole_number, metavar="N", help="worker processes (default: all cores)")


def run_cancel(options: argparse.Namespace) -> int:
    """Show, ask, cancel."""
    from models.database.session import make_engine
    from scheduler.admin import cancel, cancel_comparisons

    # It is shown in tables.
    reason = " ".join((options.reason or "").split())
    if options.comparison:
        if options.evaluations or options.campaign or options.system or options.team or options.state:
            raise UsageError("Comparisons are named by their numbers alone: leave the choice of evaluations out.")
        settings = read_settings(options)
        require_schema(settings, create=False)
        numbers = dict.fromkeys(options.comparison)
        confirm(f"Cancel {_amount(len(numbers), 'comparison')}?", yes=options.yes)
        ended = cancel_comparisons(make_engine(settings.database_url, pooled=False), list(numbers), reason)
        print(f"Cancelled: {_amount(len(ended), 'comparison')}.", flush=True)
        return 0
    engine, _, plan = _agreed(options, "cancel")
    cancelled = cancel(engine, [each.id for each in plan.touched], reason, counts=options.counts)
    _tell("Cancelled", cancelled, plan, "ended by itself before it could be cancelled")
    return 0


def run_retry(options: argparse.Namespace) -> int:
    """Show, ask, queue again, and wait where that is meant."""
    from scheduler.admin import retry

    engine, settings, plan = _agreed(options, "retry")
    queued = retry(engine, settings, [each.id for each in plan.touched], processes=options.processes or None)
    _tell("Queued again", queued, plan, "was queued again by somebody else")
    return _ended(_work_off(options, settings, queued))


def run_requeue(options: argparse.Namespace) -> int:
    """Show, ask, drop, queue anew, and where that is meant wait and compare the scores."""
    from cli.queue.control_output import compared
    from models.results.fingerprints import read_fingerprints
    from scheduler.admin import requeue
    from scheduler.embedded.wait import read_outliving

    engine, settings, plan = _agreed(options, "requeue")
    done = requeue(engine, settings, [each.id for each in plan.touched], processes=options.processes or None)
    _tell("Queued anew", done.evaluations, plan, "was queued again by somebody else")
    if done.comparisons:
        print(f"Comparisons that read them have failed: {', '.join(map(str, done.comparisons))}. Compare again.")
    progress = _work_off(options, settings, done.evaluations)
    status = _ended(progress)
    if progress is None:
        return status
    now = read_outliving(engine, lambda connection: read_fingerprints(connection, done.evaluations))
    text, same = compared(plan.touched, done.scores, now)
    print(text, end="")
    return status if same else 1


def _agreed(options: argparse.Namespace, verb: str) -> tuple[Engine, Settings, Plan]:
    """What will be touched, shown to the user, who has agreed.

    Raises UsageError, NotFound, NothingToDo, TooMany, and CommandError where there is nobody to ask or he says no.
    """
    from cli.queue.control_output import planned
    from models.database.session import make_engine, reading
    from scheduler.admin import Action, plan

    selection = _selection(options)
    settings = read_settings(options)
    require_schema(settings, create=False)
    # Workers are forked later, and take no connection along.
    engine = make_engine(settings.database_url, pooled=False)
    with reading(engine) as connection:
        found = plan(connection, Action(verb), selection)
    print(planned(verb, found), end="", flush=True)
    confirm(f"{verb.capitalize()} {_amount(len(found.touched))}?", yes=options.yes)
    return engine, settings, found


def _selection(options: argparse.Namespace) -> Selection:
    from models.queue_status.evaluation_filters import Selection
    from models.schema.states import EvaluationState

    selection = Selection(
        evaluations=tuple(dict.fromkeys(options.evaluations)),
        campaign=options.campaign,
        system=options.system,
        team=options.team,
        states=tuple(EvaluationState(state) for state in dict.fromkeys(options.state or ())),
    )
    if selection.everything:
        raise UsageError("Which evaluations? Give their numbers, --campaign, --system, --team or --state.")
    return selection


def _tell(done: str, evaluations: Sequence[int], plan: Plan, otherwise: str) -> None:
    """What was done, and to how many of those that were shown it was not."""
    print(f"{done}: {_amount(len(evaluations))}.", flush=True)
    if missed := len(plan.touched) - len(evaluations):
        note([f"{missed} {otherwise}"])


def _amount(number: int, what: str = "evaluation") -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _work_off(options: argparse.Namespace, settings: Settings, evaluations: Sequence[int]) -> Progress | None:
    """Wait until these evaluations have ended, where that is meant; what came of it, None where nobody waited."""
    if not evaluations:
        return None
    wait = settings.embedded if options.wait is None else options.wait
    if not wait:
        if settings.embedded:
            note(["`steelyard up`, or the next command that brings workers to this database, works on them"])
        return None
    from cli.campaigns.evaluate import working
    from cli.terminal.progress import shown_progress

    with working(settings, options.processes or None) as (_, until_done), shown_progress() as on_progress:
        return until_done(list(evaluations), on_progress)


def _ended(progress: Progress | None) -> int:
    """The exit status."""
    if progress is None:
        return 0
    print(f"Done: {progress.done}, failed: {progress.failed}, cancelled: {progress.cancelled}.")
    if progress.failed:
        print("steelyard: `steelyard status --failed` says why.", file=sys.stderr)
    return 1 if progress.failed or progress.cancelled else 0
