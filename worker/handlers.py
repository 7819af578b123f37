"""Handles a task of any kind from claim to outcome; every outcome is recorded in the database."""

from __future__ import annotations

import logging
import time
import traceback
import uuid
from functools import partial
from typing import Any

from sqlalchemy import Connection

from models.database.compatibility import living_workers
from models.database.error_kinds import classify_error
from models.database.migrate import REVISION
from models.errors import ModelsError, UnreachableStore
from models.queue.lease import pass_on, refusals
from models.queue.task_kind import Claim, TaskKind, claim, complete, release
from runtime.logs import bind, fields, log_context, redact_exception
from runtime.redaction import redacted
from runtime.tracing import span
from steelyard.errors import (
    BadParameter,
    KernelsNotBuilt,
    MetricsError,
    MissingResource,
    ProgramFailed,
    UnknownMetric,
)
from worker.context import WorkerContext
from worker.errors import WorkerError
from worker.memory_limit import out_of_memory
from worker.preemption import LONGEST_SECONDS, Preemption
from worker.telemetry import DONE, DROPPED, FAILURES, RETRIES

log = logging.getLogger(__name__)

PASS_ON_SECONDS = 1.0
"""Delay before refused work is sent again, or it would return at once."""


def new_owner(task_id: str) -> str:
    """A fencing token that also identifies the task."""
    return f"{task_id}:{uuid.uuid4().hex[:16]}"


def do(context: WorkerContext, kind: TaskKind[Any, Any], key: int, task_id: str) -> None:
    """Claim a task, run and complete it, and continue with the task that became ready with it.

    Ends in order if the database fails.
    """
    with (
        log_context(task_id=task_id, **{kind.log_key: key}),
        context.suppress_database_errors(f"{kind.title} {key}"),
    ):
        claimed = _claim(context, kind, key, new_owner(task_id))
        if claimed is None:
            return
        with span(kind.title, claimed.trace, "consumer", key=key, attempt=claimed.attempt, task_id=task_id):
            ready = _run(context, kind, claimed, task_id)
        if ready is not None and not context.shutting_down.message:
            do(context, *ready, task_id)


def _run(
    context: WorkerContext, kind: TaskKind[Any, Any], claimed: Claim, task_id: str
) -> tuple[TaskKind[Any, Any], int] | None:
    """Run and complete a claimed task; the task that became ready with it, if any."""
    begun = time.monotonic()
    key = claimed.key
    log.debug("%s %s is claimed", kind.title, key)
    preempt = Preemption(context, claimed.queue_class, partial(do, context, task_id=task_id), LONGEST_SECONDS)
    try:
        bind(**claimed.log_fields())
        with span("run"):
            outcome = kind.runner(context, claimed, preempt)
        # Durable: a result that the database loses in a crash would be missed only when the lease expires.
        with span("complete"):
            completion = context.write(
                lambda connection: complete(connection, kind, claimed, outcome.result), durable=True
            )
    except Exception as error:
        _give_up(context, kind, claimed, error)
        kind.repair_after(context, claimed, error)
        return None
    if not completion.accepted:
        context.counters.count(DROPPED.name, kind.name)
        log.warning("%s %s was taken over by another worker: discarding its result", kind.title, key)
        return None
    seconds = time.monotonic() - begun
    context.counters.count(DONE.name, kind.name)
    log.info("%s %s is done", kind.title, key, extra=fields(seconds=seconds, **outcome.report(seconds)))
    return completion.ready


def describe(error: Exception) -> tuple[str, bool]:
    """The message for users, and whether retrying is pointless."""
    if isinstance(error, MetricsError):
        return str(error), not isinstance(error, KernelsNotBuilt | MissingResource | ProgramFailed)
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
        ),
        # A claim makes no room: there is nothing to send because of it.
        notify=False,
    )
    if claimed is None:
        log.debug("%s %s cannot be claimed: it is held by another worker, or not needed", kind.title, key)
        return None
    bind(attempt=claimed.attempt)
    if claimed.attempt > 1:
        context.counters.count(RETRIES.name, kind.name)
    return claimed


def _give_up(context: WorkerContext, kind: TaskKind[Any, Any], claimed: Claim, error: Exception) -> None:
    if classify_error(error) is not None:
        # Not the fault of the task.
        raise error
    reason, permanent = describe(error)
    # A store's driver may quote its address.
    reason = redacted(reason)
    if isinstance(error, UnknownMetric | BadParameter):
        refused_by = _pass_on(context, kind, claimed, reason)
        if refused_by is None:
            return
        reason = (
            f"{reason} No running worker can do it (tried by: {'; '.join(sorted(refused_by))}). Install what it needs "
            "where the workers run, a newer release or the metric's own package, start them again, and use "
            "`steelyard submission retry`."
        )
    if isinstance(error, MemoryError):
        # The frames still refer to intermediate results.
        traceback.clear_frames(error.__traceback__)
        reason = out_of_memory(error, context.settings, context.processes)
    context.counters.count(FAILURES.name, kind.name)
    # Other errors may quote a text; those who may read it find it with the evaluation.
    public_reason = (
        reason if isinstance(error, (KernelsNotBuilt, MissingResource, UnreachableStore, MemoryError, OSError)) else ""
    )
    log.warning(
        "%s %s failed: %s",
        kind.title,
        claimed.key,
        public_reason or f"{type(error).__name__} (`steelyard status --failed` has details)",
        exc_info=not permanent,
        extra={**fields(error=type(error).__name__), **(redact_exception() if not public_reason else {})},
    )
    policy = kind.policy(context.settings)
    context.write(
        lambda connection: release(connection, kind, claimed.key, claimed.owner, reason, policy, permanent=permanent)
    )


def _pass_on(context: WorkerContext, kind: TaskKind[Any, Any], claimed: Claim, reason: str) -> set[str] | None:
    """Leave a task to workers of other releases, which may know what this one does not.

    If every running release has refused it, nothing changes, and the releases are returned.
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
        log.warning("%s %s is passed on to workers of other releases: %s", kind.title, key, reason)
    return refused_by
