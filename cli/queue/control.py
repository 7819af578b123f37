"""`steelyard submission cancel`, `retry` and `recompute`: administration of queued evaluations."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cli.commands import Options, ServerCommand, collected
from cli.decorators import processes_option
from cli.stored import read_settings, require_schema
from steelyard.commands.errors import UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import many, option, together, yes_option
from steelyard.commands.parsing import Value
from steelyard.commands.prompts import confirm
from steelyard.commands.values import whole_number
from steelyard_client.commands.backend import database_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from models.queue_status.evaluation_filters import EvaluationFilter
    from models.queue_status.progress import Progress
    from runtime.settings import Settings
    from scheduler.admin import Plan
    from steelyard.commands.options import Decorator

STATES = ("queued", "running", "reducing", "done", "failed", "cancelled")
CHOICE = (
    "Select evaluations by their numbers, or by options, all of which must match. The selection is shown before "
    "anything is done, and nothing else is changed."
)


def selection_options() -> Decorator:
    """Which evaluations, whether to ask, and the database."""
    return together(
        click.argument(
            "evaluations", nargs=-1, type=Value(whole_number), metavar="[ID...]", help="evaluations by their numbers"
        ),
        option("--campaign", metavar="NAME", help="evaluations of this campaign"),
        option("--system", metavar="NAME", help="evaluations of this system, NAME or TEAM/NAME"),
        option("--team", metavar="NAME", help="evaluations queued by this team"),
        many(
            "--state", parse=evaluation_state, metavar="STATE...",
            help=f"evaluations in these states: {', '.join(STATES)}",
        ),
        yes_option(),
        database_option(),
    )  # fmt: skip


def waiting_options() -> Decorator:
    """--wait and --processes."""
    return together(
        option(
            "--wait/--no-wait", default=None,
            help="wait until they are done (default: only where this command brings its own workers, without a broker)",
        ),
        processes_option(),
    )  # fmt: skip


def evaluation_state(text: str) -> str:
    """A state's name. Raises ValueError."""
    if text not in STATES:
        raise ValueError(f'"{text}" is no state; states are {", ".join(STATES)}')
    return text


@click.command(
    "cancel",
    cls=ServerCommand,
    help="Cancel queued or running evaluations. Running shards finish, and their results are discarded; results of "
    f"finished shards are kept for a `steelyard submission retry`. {CHOICE}",
    example="steelyard submission cancel --campaign wmt24 --state queued",
)
@selection_options()
@many(
    "--comparison",
    parse=whole_number,
    metavar="N...",
    help="comparisons that run, by their numbers (`steelyard status` shows them), in place of evaluations",
)
@option("--reason", metavar="TEXT", help="reason shown to the submitters")
@option(
    "--counts",
    is_flag=True,
    help="still count the submissions against the quotas of their teams (default: they are refunded)",
)
@collected
def cancel(options: Options) -> int:
    """Show the selection, ask, cancel; the exit status."""
    from models.database.session import make_engine
    from scheduler import admin

    # One line, because it is shown in tables.
    reason = " ".join((options.reason or "").split())
    if options.comparison:
        if options.evaluations or options.campaign or options.system or options.team or options.state:
            raise UsageError("Comparisons are named by their numbers alone: leave the choice of evaluations out.")
        settings = read_settings(options)
        require_schema(settings, create=False)
        numbers = dict.fromkeys(options.comparison)
        confirm(f"Cancel {_amount(len(numbers), 'comparison')}?", yes=options.yes)
        ended = admin.cancel_comparisons(make_engine(settings.database_url, pooled=False), list(numbers), reason)
        print(f"Cancelled: {_amount(len(ended), 'comparison')}.", flush=True)
        return 0
    engine, _, plan = _agreed(options, "cancel")
    cancelled = admin.cancel(engine, [each.id for each in plan.touched], reason, counts=options.counts)
    _tell("Cancelled", cancelled, plan, "ended by itself before it could be cancelled")
    return 0


@click.command(
    "retry",
    cls=ServerCommand,
    help=f"Queue failed and cancelled evaluations again; results of finished shards are kept. {CHOICE}",
    example="steelyard submission retry --state failed",
)
@selection_options()
@waiting_options()
@collected
def retry(options: Options) -> int:
    """Show the selection, ask, queue it again; with --wait wait for it; the exit status."""
    from scheduler import admin

    engine, settings, plan = _agreed(options, "retry")
    queued = admin.retry(engine, settings, [each.id for each in plan.touched], processes=options.processes or None)
    _tell("Queued again", queued, plan, "was queued again by somebody else")
    return _ended(_work_off(options, settings, queued))


@click.command(
    "recompute",
    cls=ServerCommand,
    help="Delete statistics, scores and randomization tests of ended evaluations and compute them again, for instance "
    "after a disk failure; then compare the new scores with the old ones bit by bit. Open evaluations are skipped: "
    f"cancel them first. Exit status 1 if an evaluation fails or a score differs. {CHOICE}",
    example="steelyard submission recompute 17 18 --wait",
)
@selection_options()
@waiting_options()
@collected
def recompute(options: Options) -> int:
    """Show the selection, ask, recompute it; with --wait compare the scores with the old ones; the exit status."""
    from cli.queue.control_output import compared
    from models.results.fingerprints import read_fingerprints
    from scheduler import admin
    from scheduler.embedded.wait import read_with_retries

    engine, settings, plan = _agreed(options, "recompute")
    done = admin.recompute(engine, settings, [each.id for each in plan.touched], processes=options.processes or None)
    _tell("Queued for recomputation", done.evaluations, plan, "was queued again by somebody else")
    if done.comparisons:
        print(f"Comparisons that read them have failed: {', '.join(map(str, done.comparisons))}. Compare again.")
    progress = _work_off(options, settings, done.evaluations)
    status = _ended(progress)
    if progress is None:
        return status
    now = read_with_retries(engine, lambda connection: read_fingerprints(connection, done.evaluations))
    text, same = compared(plan.touched, done.scores, now)
    print(text, end="")
    return status if same else 1


def _agreed(options: Options, verb: str) -> tuple[Engine, Settings, Plan]:
    """The selection, shown to and confirmed by the user.

    Raises UsageError, NotFound, NothingToDo, TooMany, and CommandError without a terminal or a confirmation.
    """
    from cli.queue.control_output import planned
    from models.database.session import make_engine, reading
    from scheduler.admin import Action, plan

    selection = _selection(options)
    settings = read_settings(options)
    require_schema(settings, create=False)
    # Workers are forked later and must not inherit a connection.
    engine = make_engine(settings.database_url, pooled=False)
    with reading(engine) as connection:
        found = plan(connection, Action(verb), selection)
    print(planned(verb, found), end="", flush=True)
    confirm(f"{verb.capitalize()} {_amount(len(found.touched))}?", yes=options.yes)
    return engine, settings, found


def _selection(options: Options) -> EvaluationFilter:
    from models.queue_status.evaluation_filters import EvaluationFilter
    from models.schema.states import EvaluationState

    selection = EvaluationFilter(
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
    """Print the number of changed evaluations, and of shown ones that were not changed."""
    print(f"{done}: {_amount(len(evaluations))}.", flush=True)
    if missed := len(plan.touched) - len(evaluations):
        note([f"{missed} {otherwise}"])


def _amount(number: int, what: str = "evaluation") -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _work_off(options: Options, settings: Settings, evaluations: Sequence[int]) -> Progress | None:
    """Wait until these evaluations have ended, if requested; their progress, None without waiting."""
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
