"""Administrative actions on the queue: cancel, retry and recompute evaluations.

Each is one transaction. It applies to those of the evaluations that are in a suitable state at that moment, whatever
they were when the user looked, and never to others. Lock order: comparisons, then evaluations by id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Engine, select, update

from models.audit import COMMAND_LINE, write_audit
from models.database.session import writing
from models.queue.evaluation_end import cancel_evaluations, lock_evaluations
from models.queue.kinds.comparisons import end_comparisons_of
from models.queue_status.evaluation_filters import EvaluationFilter, EvaluationSummary, check_names, read_evaluations
from models.results.deletion import delete_results
from models.results.fingerprints import Fingerprint, read_fingerprints
from models.results.learned_columns import failed_columns
from models.schema.corpus import Submission
from models.schema.queue import Evaluation
from models.schema.states import ENDED, OPEN, UNFINISHED, EvaluationState, QueueClass
from runtime.settings import Settings
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.enqueue.learned import retry_columns
from scheduler.errors import NothingToDo, TooMany
from steelyard.metrics.metric import EDITION

MOST = 20_000
"""Evaluations per action: databases limit the parameters of a statement."""

MAX_NAMED = 100
"""Evaluations listed by id in an audit entry."""

CANCELLED = "Cancelled by command."
"""The default reason."""

Audit = Callable[..., None]
"""Writes an audit entry: a connection, then `action`, `subject`, `campaign_id` and details by their names."""
BY_COMMAND: Audit = partial(write_audit, actor=COMMAND_LINE)


class Action(StrEnum):
    """An administrative action on evaluations."""

    CANCEL = "cancel"
    RETRY = "retry"
    RECOMPUTE = "recompute"

    @property
    def states(self) -> tuple[EvaluationState, ...]:
        """The states in which the action is possible."""
        return {Action.CANCEL: OPEN, Action.RETRY: UNFINISHED, Action.RECOMPUTE: ENDED}[self]


@dataclass(frozen=True, slots=True)
class Plan:
    """The evaluations that an action would affect."""

    touched: tuple[EvaluationSummary, ...]
    left: tuple[EvaluationSummary, ...]
    """Selected evaluations in a state in which the action is impossible."""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """The evaluations that were reset."""

    evaluations: tuple[int, ...]
    scores: dict[tuple[int, int], Fingerprint]
    """The deleted scores: (evaluation, position of the metric) -> fingerprint."""
    comparisons: tuple[int, ...]
    """Running comparisons that depended on the evaluations, and were failed."""


def plan(connection: Connection, action: Action, selection: EvaluationFilter, most: int = MOST) -> Plan:
    """The evaluations that the action would affect.

    Raises
    ------
    NotFound
        If a name in the selection matches nothing.
    NothingToDo
        If no evaluation is in a suitable state.
    TooMany
        If there are more than `most`.
    """
    check_names(connection, selection)
    chosen = read_evaluations(connection, selection)
    failed = set[int]()
    if action is Action.RETRY:
        failed = failed_columns(connection, [each.id for each in chosen if each.state == EvaluationState.DONE])
    touched = tuple(each for each in chosen if each.state in action.states or each.id in failed)
    if not touched:
        raise NothingToDo(_nothing(action, chosen))
    if len(touched) > most:
        raise TooMany(
            f"{len(touched):,} evaluations are selected; at most {most:,} can be changed at once. Select fewer."
        )
    changed = {each.id for each in touched}
    return Plan(touched, tuple(each for each in chosen if each.id not in changed))


def cancel(
    engine: Engine,
    evaluations: Sequence[int],
    reason: str | None = None,
    *,
    counts: bool = False,
    audit: Audit = BY_COMMAND,
) -> list[int]:
    """Cancel those of the evaluations that are still open, with a reason; their ids.

    Running shards finish, and their results for these evaluations are discarded. Unless `counts`, the submissions are
    credited back to the quotas of their teams.
    """
    with writing(engine, durable=True) as connection:
        cancelled = cancel_evaluations(connection, evaluations, reason or CANCELLED, counts=counts)
        _audit(connection, audit, Action.CANCEL, cancelled, reason=reason or CANCELLED, counts=counts)
    return cancelled


def retry(engine: Engine, settings: Settings, evaluations: Sequence[int], *, audit: Audit = BY_COMMAND) -> list[int]:
    """Retry them in a transaction of its own (`retry_unscored`); the ids of those that are queued again."""
    with writing(engine, durable=True) as connection:
        held = retry_unscored(connection, settings, evaluations)
        _audit(connection, audit, Action.RETRY, held)
    return held


def retry_unscored(connection: Connection, settings: Settings, evaluations: Sequence[int]) -> list[int]:
    """Enqueue those of the evaluations again that failed or were cancelled, or have failed learned columns; their ids.

    Results of finished shards are kept, as are class, team and due date.
    """
    locked = lock_evaluations(connection, evaluations, ENDED)
    held = lock_evaluations(connection, locked, UNFINISHED)
    queue_again(connection, settings, held)
    return sorted([*held, *retry_columns(connection, settings, [each for each in locked if each not in held])])


def recompute(
    engine: Engine, settings: Settings, evaluations: Sequence[int], *, audit: Audit = BY_COMMAND
) -> Recomputed:
    """Delete the results of those evaluations that have ended, and enqueue them again.

    Statistics and scores are deleted together with the randomization tests that depend on them; running comparisons of
    these evaluations fail. Open evaluations are unchanged.
    """
    with writing(engine, durable=True) as connection:
        # They depend on finished evaluations, so none of the open ones is affected.
        reason = "An evaluation in it is being recomputed. Compare again when that is done."
        comparisons = end_comparisons_of(connection, evaluations, reason)
        held = lock_evaluations(connection, evaluations, ENDED)
        scores = read_fingerprints(connection, held)
        delete_results(connection, held)
        # As if they had been cancelled before any work was done.
        connection.execute(
            update(Evaluation).where(Evaluation.id.in_(held)).values(state=EvaluationState.CANCELLED, edition=EDITION)
        )
        queue_again(connection, settings, held, recompute=True)
        _audit(connection, audit, Action.RECOMPUTE, held)
    return Recomputed(tuple(held), scores, tuple(comparisons))


def queue_again(connection: Connection, settings: Settings, held: Sequence[int], *, recompute: bool = False) -> None:
    """Enqueue failed or cancelled evaluations again, with their previous priority. Requires the evaluations' locks.

    With `recompute`, no statistics of other evaluations are reused.
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
            recompute=recompute,
            due_at=due_at,
        )


def _audit(connection: Connection, audit: Audit, action: Action, evaluations: Sequence[int], **details: Any) -> None:
    """Write one audit entry per campaign, where its organisers look; it lists the evaluations."""
    of_campaign = connection.execute(
        select(Submission.campaign_id, Evaluation.id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Evaluation.id.in_(evaluations))
        .order_by(Submission.campaign_id, Evaluation.id)
    )
    for campaign_id, rows in groupby(of_campaign, key=lambda row: row.campaign_id):
        ids = [row.id for row in rows]
        subject = f"evaluation {ids[0]}" if len(ids) == 1 else f"{len(ids):,} evaluations"
        audit(
            connection,
            action=f"evaluation.{action}",
            subject=subject,
            campaign_id=campaign_id,
            evaluations=ids[:MAX_NAMED],
            **details,
        )


def _nothing(action: Action, chosen: Sequence[EvaluationSummary]) -> str:
    """Why the action has no effect, and which evaluations exist."""
    if not chosen:
        return "No evaluation matches all criteria. `steelyard status` lists them."
    amounts = {state: sum(each.state == state for each in chosen) for state in EvaluationState}
    found = ", ".join(f"{amount} {state}" for state, amount in amounts.items() if amount)
    number = "The evaluation is" if len(chosen) == 1 else f"None of the {len(chosen)} evaluations is"
    why = {
        Action.CANCEL: "Only open ones (queued, running, reducing) can be cancelled.",
        Action.RETRY: "Only failed and cancelled ones can be retried; `recompute` repeats finished ones.",
        Action.RECOMPUTE: "Open ones can be cancelled first.",
    }[action]
    if len(chosen) == 1:
        return f"{number} {chosen[0].state}. {why}"
    fitting = {Action.CANCEL: "open", Action.RETRY: "failed or cancelled", Action.RECOMPUTE: "finished"}[action]
    return f"{number} {fitting}: {found}. {why}"
