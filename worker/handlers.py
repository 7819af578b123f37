"""What is done with a task of any kind, from claim to outcome: whatever happens is written to the database."""

from __future__ import annotations

import logging
import time
import traceback
import uuid
from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, select

from metrics.errors import BadParameter, KernelsNotBuilt, MetricsError, MissingResource, UnknownMetric
from models.database.compatibility import living_workers
from models.database.error_kinds import classify_error
from models.database.migrate import REVISION
from models.errors import MissingObject, ModelsError, UnreachableStore
from models.queue.evaluation_end import lock_evaluations
from models.queue.kinds.reductions import ClaimedReduction
from models.queue.lease import pass_on, refusals
from models.queue.task_kind import Claim, TaskKind, claim, complete, release
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState
from models.storage.blobs import delete_object_rows, find_lost_objects, read_stored_objects
from runtime.logs import bind, fields, log_context, redact_exception
from runtime.redaction import redacted
from worker.context import WorkerContext
from worker.counters import DONE, DROPPED, FAILURES, RETRIES
from worker.errors import WorkerError
from worker.memory_limit import out_of_memory
from worker.preemption import LONGEST_SECONDS, Preemption

log = logging.getLogger(__name__)

PASS_ON_SECONDS = 1.0
"""What this release cannot do is not sent again for so long, or it would come back at once."""


def new_owner(task_id: str) -> str:
    """A fencing token that also tells which task holds it."""
    return f"{task_id}:{uuid.uuid4().hex[:16]}"


def do(context: WorkerContext, kind: TaskKind[Any, Any], key: int, task_id: str) -> None:
    """Claim a task, do it and hand it in, and go on with what became ready by it.

    Ends in order where the database has failed.
    """
    with log_context(task_id=task_id, **{kind.title.lower(): key}), context.outlived(f"{kind.title} {key}"):
        claimed = _claim(context, kind, key, new_owner(task_id))
        if claimed is None:
            return
        begun = time.monotonic()
        give_way = Preemption(context, kind, key, partial(do, context, task_id=task_id), LONGEST_SECONDS)
        try:
            bind(**claimed.log_fields())
            outcome = kind.runner(context, claimed, give_way)
            # Durable: a result that a crash of the database takes back would be missed only when the lease is over.
            completion = context.write(
                lambda connection: complete(connection, kind, claimed, outcome.result), durable=True
            )
        except Exception as error:
            _give_up(context, kind, claimed, error)
            if isinstance(error, MissingObject) and isinstance(claimed, ClaimedReduction):
                _forget_lost(context, claimed.evaluations)
            return
        if not completion.accepted:
            context.tally.count(DROPPED.name, kind.name)
            log.warning("%s %s had been taken over by another worker: its result is dropped", kind.title, key)
            return
        seconds = time.monotonic() - begun
        context.tally.count(DONE.name, kind.name)
        log.info("%s %s is done", kind.title, key, extra=fields(seconds=seconds, **outcome.report(seconds)))
        if completion.ready is not None and not context.leaving.heard:
            do(context, *completion.ready, task_id)


def describe(error: Exception) -> tuple[str, bool]:
    """What to tell the user, and whether trying again is pointless."""
    if isinstance(error, MetricsError):
        return str(error), not isinstance(error, KernelsNotBuilt | MissingResource)
    if isinstance(error, ModelsError | WorkerError):
        return str(error), False
    return f"{type(error).__name__}: {error}", False


def _claim(context: WorkerContext, kind: TaskKind[Any, Any], key: int, owner: str) -> Claim | None:
    claimed: Claim | None = context.write(
        lambda connection: claim(
            connection,
            kind,
            key,
            kind.policy(context.settings),
            owner=owner,
            worker=context.worker,
            edition=context.edition,
        )
    )
    if claimed is None:
        log.debug("%s %s is not to be had: somebody else has it, or nobody needs it", kind.title, key)
        return None
    bind(attempt=claimed.attempt)
    if claimed.attempt > 1:
        context.tally.count(RETRIES.name, kind.name)
    log.debug("%s %s is claimed", kind.title, key)
    return claimed


def _give_up(context: WorkerContext, kind: TaskKind[Any, Any], claimed: Claim, error: Exception) -> None:
    if classify_error(error) is not None:
        # Not the fault of the work.
        raise error
    reason, permanent = describe(error)
    # A store's driver may quote its address.
    reason = redacted(reason)
    if isinstance(error, UnknownMetric | BadParameter):
        refused_by = _pass_on(context, kind, claimed, reason)
        if refused_by is None:
            return
        reason = (
            f"{reason} No living worker can do it (tried by: {'; '.join(sorted(refused_by))}). Install what brings it "
            "where the workers run, a newer release or the metric's own package, start them again, and use "
            "`steelyard retry`."
        )
    if isinstance(error, MemoryError):
        # What was computed so far still hangs on the frames.
        traceback.clear_frames(error.__traceback__)
        reason = out_of_memory(error, context.settings, context.processes)
    context.tally.count(FAILURES.name, kind.name)
    # Others may quote a text; whoever may read that finds it with the evaluation.
    told = (
        reason if isinstance(error, (KernelsNotBuilt, MissingResource, UnreachableStore, MemoryError, OSError)) else ""
    )
    log.warning(
        "%s %s failed: %s",
        kind.title,
        claimed.key,
        told or f"{type(error).__name__} (`steelyard status --failed` tells more)",
        exc_info=not permanent,
        extra={**fields(error=type(error).__name__), **(redact_exception() if not told else {})},
    )
    policy = kind.policy(context.settings)
    context.write(
        lambda connection: release(connection, kind, claimed.key, claimed.owner, reason, policy, permanent=permanent)
    )


def _pass_on(context: WorkerContext, kind: TaskKind[Any, Any], claimed: Claim, reason: str) -> set[str] | None:
    """Leave work to workers of other releases: what this one does not know they may.

    Where each release that lives has refused it, nothing is done, and it is these.
    """
    table, key, owner = kind.table, claimed.key, claimed.owner
    own = f"version {context.version}, revision {REVISION}"

    def leave(connection: Connection) -> set[str] | None:
        refused_by = {own, *refusals(connection, table, key, owner)}
        living = {
            f"version {each.version}, revision {each.revision}"
            for each in living_workers(connection, context.settings.silent_seconds)
            if each.edition == context.edition
        }
        if living <= refused_by:
            return refused_by
        pass_on(connection, table, key, owner, reason, PASS_ON_SECONDS, refused_by)
        return None

    refused_by = context.write(leave)
    if refused_by is None:
        log.warning("%s %s is left to workers of another release: %s", kind.title, key, reason)
    return refused_by


def _forget_lost(context: WorkerContext, evaluations: Sequence[int]) -> None:
    """Drop, of those that failed, what refers to objects that are gone, so that it is measured when they are retried.

    Whoever queues them again holds their rows and could not ask a store for so long.
    """

    def read(connection: Connection) -> set[str]:
        failed = select(Evaluation.id).where(Evaluation.id.in_(evaluations), Evaluation.state == EvaluationState.FAILED)
        return set().union(*read_stored_objects(connection, list(connection.scalars(failed))).values())

    lost = find_lost_objects(sorted(context.read(read)))

    def forget(connection: Connection) -> int:
        held = lock_evaluations(connection, evaluations, [EvaluationState.FAILED])
        return delete_object_rows(connection, held, lost)

    if lost:
        context.write(forget, durable=True)
