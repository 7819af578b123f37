"""`steelyard submission cancel`, `retry` and `recompute`: queued evaluations."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import many, option, together, yes_option
from steelyard.commands.parsing import Command, Value
from steelyard.commands.prompts import confirm
from steelyard.commands.values import whole_number
from steelyard.tables.text import aligned
from steelyard_client.commands.backend import backend, brings_workers, finish_evaluations
from steelyard_client.vocabulary import EvaluationState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard.commands.options import Decorator
    from steelyard_client import Client
    from steelyard_client.documents.submissions.evaluations import (
        EvaluationsChangeResponse,
        SelectedEvaluation,
        StoredScore,
    )

MOST_ROWS = 20
CHOICE = (
    "Select evaluations by their numbers, or by options, all of which must match. The selection is shown before "
    "anything is done, and nothing else is changed."
)


def evaluation_state(text: str) -> str:
    """A state's name. Raises ValueError."""
    states = [str(state) for state in EvaluationState]
    if text not in states:
        raise ValueError(f'"{text}" is no state; states are {", ".join(states)}')
    return text


def selection_options() -> Decorator:
    """Which evaluations, and whether to ask."""
    return together(
        click.argument(
            "evaluations", nargs=-1, type=Value(whole_number), metavar="[ID...]", help="evaluations by their numbers"
        ),
        option("--campaign", default="", metavar="NAME", help="evaluations of this campaign"),
        option("--system", default="", metavar="NAME", help="evaluations of this system, NAME or TEAM/NAME"),
        option("--team", default="", metavar="NAME", help="evaluations queued by this team"),
        many(
            "--state", "states", parse=evaluation_state, metavar="STATE...",
            help=f"evaluations in these states: {', '.join(EvaluationState)}",
        ),
        yes_option(),
    )  # fmt: skip


def waiting_option() -> Decorator:
    """--wait."""
    return option(
        "--wait/--no-wait", default=None,
        help="wait until they are done (default: only where this command brings its own workers to a database)",
    )  # fmt: skip


@click.command(
    "cancel",
    cls=Command,
    help="Cancel queued or running evaluations. Running shards finish, and their results are discarded; results of "
    f"finished shards are kept for a `steelyard submission retry`. {CHOICE}",
    example="steelyard submission cancel --campaign wmt24 --state queued",
)
@selection_options()
@many(
    "--comparison",
    "comparisons",
    parse=whole_number,
    metavar="N...",
    help="running comparisons of the campaign, by their numbers (`steelyard status` shows them), instead of "
    "evaluations",
)
@option("--reason", default="", metavar="TEXT", help="reason shown to the submitters")
@option(
    "--counts",
    is_flag=True,
    help="still count the submissions against the quotas of their teams (default: they are refunded)",
)
@backend()
def cancel(client: Client, *, yes: bool, comparisons: Sequence[int], reason: str, counts: bool, **selected: Any) -> int:
    """Show the selection, ask, cancel; the exit status."""
    from steelyard_client.documents.submissions.evaluations import EvaluationsCancel

    if comparisons:
        campaign = selected.pop("campaign")
        if any(selected.values()) or not campaign:
            raise UsageError("Comparisons are named by --campaign and their numbers alone.")
        numbers = list(dict.fromkeys(comparisons))
        confirm(f"Cancel {_amount(len(numbers), 'comparison')}?", yes=yes)
        for number in numbers:
            client.cancel_comparison(campaign, number, reason=reason)
        print(f"Cancelled: {_amount(len(numbers), 'comparison')}.", flush=True)
        return 0
    wanted = EvaluationsCancel(**_selected(selected), reason=reason, counts=counts)
    plan = _agreed("cancel", client.cancel_evaluations(wanted, dry_run=True), yes=yes)
    done = client.cancel_evaluations(EvaluationsCancel(evaluations=_ids(plan), reason=reason, counts=counts))
    _tell("Cancelled", done, plan, "ended by itself before it could be cancelled")
    return 0


@click.command(
    "retry",
    cls=Command,
    help=f"Queue failed and cancelled evaluations again; results of finished shards are kept. {CHOICE}",
    example="steelyard submission retry --state failed",
)
@selection_options()
@waiting_option()
@backend()
def retry(client: Client, *, yes: bool, wait: bool | None, **selected: Any) -> int:
    """Show the selection, ask, queue it again; with --wait wait for it; the exit status."""
    _, done = _queued_again("retry", client.retry_evaluations, selected, yes=yes)
    return _ended(_work_off(client, _ids(done), wait))


@click.command(
    "recompute",
    cls=Command,
    help="Delete statistics, scores and randomization tests of ended evaluations and compute them again, for instance "
    "after a disk failure; then compare the new scores with the old ones bit by bit. Open evaluations are skipped: "
    f"cancel them first. Exit status 1 if an evaluation fails or a score differs. {CHOICE}",
    example="steelyard submission recompute 17 18 --wait",
)
@selection_options()
@waiting_option()
@backend()
def recompute(client: Client, *, yes: bool, wait: bool | None, **selected: Any) -> int:
    """Show the selection, ask, recompute it; with --wait compare the scores with the old ones; the exit status."""
    plan, done = _queued_again("recompute", client.recompute_evaluations, selected, yes=yes)
    if done.comparisons:
        print(f"Comparisons that read them have failed: {', '.join(map(str, done.comparisons))}. Compare again.")
    ended = _work_off(client, _ids(done), wait)
    status = _ended(ended)
    if ended is None:
        return status
    text, same = compared(plan.evaluations, done.scores, client.read_evaluation_scores(_ids(done)).scores)
    print(text, end="")
    return status if same else 1


def _selected(given: dict[str, Any]) -> dict[str, Any]:
    """What was given of a selection. Raises UsageError where that is nothing."""
    found = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items() if value}
    if not found:
        raise UsageError("Which evaluations? Give their numbers, --campaign, --system, --team or --state.")
    return found


def _agreed(verb: str, plan: EvaluationsChangeResponse, *, yes: bool) -> EvaluationsChangeResponse:
    """The plan, shown to and confirmed by the user."""
    print(planned(verb, plan), end="", flush=True)
    confirm(f"{verb.capitalize()} {_amount(len(plan.evaluations))}?", yes=yes)
    return plan


def _queued_again(
    verb: str, change: Callable[..., EvaluationsChangeResponse], selected: dict[str, Any], *, yes: bool
) -> tuple[EvaluationsChangeResponse, EvaluationsChangeResponse]:
    """What was shown, and what of it was done."""
    from steelyard_client.documents.submissions.evaluations import EvaluationSelection

    plan = _agreed(verb, change(EvaluationSelection(**_selected(selected)), dry_run=True), yes=yes)
    # What has been shown alone, whatever else matches by now.
    done = change(EvaluationSelection(evaluations=_ids(plan)))
    said = {"retry": "Queued again", "recompute": "Queued for recomputation"}[verb]
    _tell(said, done, plan, "was queued again by somebody else")
    return plan, done


def _ids(said: EvaluationsChangeResponse) -> list[int]:
    return [each.id for each in said.evaluations]


def _tell(said: str, done: EvaluationsChangeResponse, plan: EvaluationsChangeResponse, otherwise: str) -> None:
    """Print the number of changed evaluations, and of shown ones that were not changed."""
    print(f"{said}: {_amount(len(done.evaluations))}.", flush=True)
    if missed := len(plan.evaluations) - len(done.evaluations):
        note([f"{missed} {otherwise}"])


def _amount(number: int, what: str = "evaluation") -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _work_off(client: Client, evaluations: Sequence[int], wait: bool | None) -> Counter[str] | None:
    """Wait until these evaluations have ended, if requested; how many are in each state, None without waiting."""
    if not evaluations:
        return None
    own = brings_workers(client)
    if own if wait is None else wait:
        return finish_evaluations(client, evaluations)
    if own:
        note(["`steelyard up`, or the next command that brings workers to this database, works on them"])
    return None


def _ended(states: Counter[str] | None) -> int:
    """The exit status."""
    if states is None:
        return 0
    print(f"Done: {states['done']}, failed: {states['failed']}, cancelled: {states['cancelled']}.")
    if states["failed"]:
        print("steelyard: `steelyard status --failed` says why.", file=sys.stderr)
    return 1 if states["failed"] or states["cancelled"] else 0


def called(each: SelectedEvaluation) -> str:
    """The system, with its team and run, if any."""
    system = f"{each.team}/{each.system}" if each.team else each.system
    return f"{system}, run {each.run}" if each.run else system


def measured(each: SelectedEvaluation) -> str:
    """Campaign, test set and references; each is named only if it adds information."""
    name = each.test_set if each.campaign == each.test_set else f"{each.campaign}: {each.test_set}"
    return f"{name} against {','.join(each.references)}"


def planned(verb: str, plan: EvaluationsChangeResponse) -> str:
    """The selected evaluations, and the number of skipped ones."""
    rows = [["Evaluation", "System", "Of", "State"]]
    rows += [[str(each.id), called(each), measured(each), each.state] for each in plan.evaluations[:MOST_ROWS]]
    text = f"To {verb}:\n{aligned(rows)}"
    if len(plan.evaluations) > MOST_ROWS:
        text += f"and {len(plan.evaluations) - MOST_ROWS:,} more\n"
    if plan.skipped:
        text += "Skipped: " + ", ".join(f"{amount:,} {state}" for state, amount in plan.skipped.items()) + ".\n"
    return text


def compared(
    evaluations: Sequence[SelectedEvaluation], before: Sequence[StoredScore], after: Sequence[StoredScore]
) -> tuple[str, bool]:
    """A comparison of recomputed scores with the old ones as text, and whether all are equal to the bit."""
    by_number = {each.id: each for each in evaluations}
    now = {(each.evaluation, each.position): each for each in after}
    both = [(old, now[old.evaluation, old.position]) for old in before if (old.evaluation, old.position) in now]
    if not before:
        return "There were no scores before to compare with.\n", True
    if not both:
        return "There are no new scores to compare with the old ones.\n", True
    changed = [(old, new) for old, new in both if old.digest != new.digest]
    if not changed:
        what = "The score is" if len(both) == 1 else f"All {len(both):,} scores are"
        return f"{what} the same to the bit as before.\n", True
    rows = [["Evaluation", "System", "Of", "Metric", "Before", "Now"]]
    for old, new in changed[:MOST_ROWS]:
        each = by_number[old.evaluation]
        rows.append([str(each.id), called(each), measured(each), new.title, _digits(old.score), _digits(new.score)])
    text = f"{len(changed):,} of {len(both):,} scores differ from those before:\n{aligned(rows)}"
    if len(changed) > MOST_ROWS:
        text += f"and {len(changed) - MOST_ROWS:,} more\n"
    if any(old.score == new.score for old, new in changed):
        text += "Where the score is the same, its sums or replicates differ.\n"
    if renamed := [(old, new) for old, new in changed if old.signature != new.signature]:
        was, is_now = renamed[0]
        text += f"{len(renamed):,} of them have another signature, such as {is_now.signature} instead of "
        text += f"{was.signature}.\n"
    return text, False


def _digits(score: float | None) -> str:
    """All digits, since they may differ in the last."""
    return "n/a" if score is None else repr(score)
