"""What people do to the queue by hand: cancel evaluations, try them again, do them anew.

Each is one transaction. It is done to those of the evaluations that are in a fitting state at that moment, whatever
they were when somebody looked, and never to others. Locks are taken in the order comparison, then evaluations by id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Engine, select, update

from metrics.base import EDITION
from models.audit import COMMAND_LINE, write_audit
from models.database.session import writing
from models.queue.evaluation_end import cancel_evaluations, lock_evaluations
from models.queue.kinds.comparisons import end_comparisons, end_comparisons_of
from models.queue_status.evaluation_filters import EvaluationFilter, EvaluationSummary, check_names, read_evaluations
from models.results.deletion import delete_results
from models.results.fingerprints import Fingerprint, read_fingerprints
from models.schema.corpus import Submission
from models.schema.queue import Evaluation
from models.schema.states import OPEN, EvaluationState, QueueClass
from runtime.settings import Settings
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.errors import NothingToDo, TooMany

UNFINISHED = (EvaluationState.FAILED, EvaluationState.CANCELLED)
ENDED = (EvaluationState.DONE, *UNFINISHED)

MOST = 20_000
"""Evaluations that one action is done to: databases limit what one statement may name."""

MOST_NAMED = 100
"""Evaluations whose numbers an entry of the audit log holds."""

CANCELLED = "Cancelled by command."
"""The reason, where none is given."""


class Action(StrEnum):
    """What can be done to evaluations."""

    CANCEL = "cancel"
    RETRY = "retry"
    REQUEUE = "requeue"

    @property
    def states(self) -> tuple[EvaluationState, ...]:
        """The states in which it can be done."""
        return {Action.CANCEL: OPEN, Action.RETRY: UNFINISHED, Action.REQUEUE: ENDED}[self]


@dataclass(frozen=True, slots=True)
class Plan:
    """What an action would be done to."""

    touched: tuple[EvaluationSummary, ...]
    left: tuple[EvaluationSummary, ...]
    """Those that were asked for, too, and are in a state in which it cannot be done."""


@dataclass(frozen=True, slots=True)
class Requeued:
    """What was queued from nothing."""

    evaluations: tuple[int, ...]
    scores: dict[tuple[int, int], Fingerprint]
    """The scores that were dropped: (evaluation, position of the metric) -> fingerprint."""
    comparisons: tuple[int, ...]
    """Those that were under way and rested on the evaluations, and failed for that."""


def plan(connection: Connection, action: Action, selection: EvaluationFilter) -> Plan:
    """What the action would be done to. Raises NotFound, NothingToDo, TooMany."""
    check_names(connection, selection)
    chosen = read_evaluations(connection, selection)
    touched = tuple(each for each in chosen if each.state in action.states)
    if not touched:
        raise NothingToDo(_nothing(action, chosen))
    if len(touched) > MOST:
        raise TooMany(f"These are {len(touched):,} evaluations, and {MOST:,} is the most at once. Choose fewer.")
    return Plan(touched, tuple(each for each in chosen if each.state not in action.states))


def cancel(engine: Engine, evaluations: Sequence[int], reason: str | None = None, *, counts: bool = False) -> list[int]:
    """Cancel those of the evaluations that are still open, with a reason; which they were.

    A shard that runs for them is finished, and what comes of it for them is dropped. Unless they are to count, the
    attempts of teams that submitted them are given back.
    """
    with writing(engine, durable=True) as connection:
        cancelled = cancel_evaluations(connection, evaluations, reason or CANCELLED, counts=counts)
        _audit(connection, Action.CANCEL, cancelled, reason=reason or CANCELLED, counts=counts)
    return cancelled


def cancel_comparisons(engine: Engine, comparisons: Sequence[int], reason: str | None = None) -> list[int]:
    """End those of the comparisons that run, with a reason; which they were. Raises NothingToDo where none does.

    Trials that are being made are finished and dropped. Whoever asks for the same tests again has them made anew.
    """
    with writing(engine, durable=True) as connection:
        ended = end_comparisons(connection, comparisons, reason or CANCELLED)
        for each in ended:
            write_audit(
                connection,
                actor=COMMAND_LINE,
                action="comparison.cancel",
                subject=f"comparison {each}",
                reason=reason or CANCELLED,
            )
    if not ended:
        raise NothingToDo("None of these comparisons runs. `steelyard status` shows those that do, with their numbers.")
    return ended


def retry(engine: Engine, settings: Settings, evaluations: Sequence[int], *, processes: int | None = None) -> list[int]:
    """Queue those of the evaluations again that failed or were cancelled; which they were.

    What their finished shards stored is kept, and so are class, team and due date. `processes` says over how many pool
    processes the work may be spread.
    """
    with writing(engine, durable=True) as connection:
        held = lock_evaluations(connection, evaluations, UNFINISHED)
        queue_again(connection, settings, held, processes)
        _audit(connection, Action.RETRY, held)
    return held


def requeue(
    engine: Engine, settings: Settings, evaluations: Sequence[int], *, processes: int | None = None
) -> Requeued:
    """Drop all that was measured for those of the evaluations that have ended, and queue them anew.

    With the statistics and scores go the randomization tests that rest on them; comparisons that read them right now
    fail. Open evaluations are left alone.
    """
    with writing(engine, durable=True) as connection:
        # They rest on evaluations that are done, so none of one that is open is among them.
        reason = "What it compares was queued anew. Compare again when that is done."
        comparisons = end_comparisons_of(connection, evaluations, reason)
        held = lock_evaluations(connection, evaluations, ENDED)
        scores = read_fingerprints(connection, held)
        delete_results(connection, held)
        # As if they had been cancelled before anything was done.
        connection.execute(
            update(Evaluation).where(Evaluation.id.in_(held)).values(state=EvaluationState.CANCELLED, edition=EDITION)
        )
        queue_again(connection, settings, held, processes, anew=True)
        _audit(connection, Action.REQUEUE, held)
    return Requeued(tuple(held), scores, tuple(comparisons))


def queue_again(
    connection: Connection, settings: Settings, held: Sequence[int], processes: int | None, *, anew: bool = False
) -> None:
    """Queue evaluations that failed or were cancelled, each as it was queued before. Only for who holds them.

    With `anew` nothing is copied from others that were measured before.
    """
    if not held:
        return
    connection.execute(update(Evaluation).where(Evaluation.id.in_(held)).values(fault=None))
    columns = (Evaluation.protocol_id, Evaluation.queue_class, Evaluation.team, Evaluation.due_at)
    rows = connection.execute(
        select(*columns, Evaluation.submission_id).where(Evaluation.id.in_(held)).order_by(*columns, Evaluation.id)
    )
    for (protocol, queue_class, team, due_at), group in groupby(rows, key=lambda row: tuple(row[:4])):
        enqueue_evaluations(
            connection,
            settings,
            protocol,
            [row.submission_id for row in group],
            queue_class=QueueClass(queue_class),
            team=team,
            processes=processes,
            anew=anew,
            due_at=due_at,
        )


def _audit(connection: Connection, action: Action, evaluations: Sequence[int], **details: Any) -> None:
    """One entry for each campaign, where its organisers look; it names the evaluations."""
    of_campaign = connection.execute(
        select(Submission.campaign_id, Evaluation.id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Evaluation.id.in_(evaluations))
        .order_by(Submission.campaign_id, Evaluation.id)
    )
    for campaign_id, rows in groupby(of_campaign, key=lambda row: row.campaign_id):
        ids = [row.id for row in rows]
        subject = f"evaluation {ids[0]}" if len(ids) == 1 else f"{len(ids):,} evaluations"
        write_audit(
            connection,
            actor=COMMAND_LINE,
            action=f"evaluation.{action}",
            subject=subject,
            campaign_id=campaign_id,
            evaluations=ids[:MOST_NAMED],
            **details,
        )


def _nothing(action: Action, chosen: Sequence[EvaluationSummary]) -> str:
    """Why nothing can be done, and what there is."""
    if not chosen:
        return "No evaluation is all of that at once. `steelyard status` shows what there is."
    amounts = {state: sum(each.state == state for each in chosen) for state in EvaluationState}
    found = ", ".join(f"{amount} {state}" for state, amount in amounts.items() if amount)
    number = "The evaluation is" if len(chosen) == 1 else f"None of the {len(chosen)} evaluations is"
    why = {
        Action.CANCEL: "Only open ones (queued, running, reducing) can be cancelled.",
        Action.RETRY: "Only failed and cancelled ones can be tried again; `requeue` does those that are done anew.",
        Action.REQUEUE: "Those that are open can be cancelled first.",
    }[action]
    if len(chosen) == 1:
        return f"{number} {chosen[0].state}. {why}"
    fitting = {Action.CANCEL: "open", Action.RETRY: "failed or cancelled", Action.REQUEUE: "at an end"}[action]
    return f"{number} {fitting}: {found}. {why}"
