"""Handles a task of any kind from claim to outcome; every outcome is recorded in the database."""

from __future__ import annotations

import logging
import time
import traceback
import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from sqlalchemy import Connection

from models.database.compatibility import living_workers
from models.database.error_kinds import classify_error
from models.database.migrate import REVISION
from models.errors import ModelsError, UnreachableStore
from models.queue.lease import pass_on, refusals, release_unbegun
from models.queue.task_kind import Claim, Outcome, Ready, TaskKind, claim_several, complete_several, release
from runtime.logs import fields, log_context, redact_exception
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

UNSTORED_SECONDS = 1.0
"""What was done together is stored before the next one begins if it took this long, many times what was estimated: a
process that the next one kills loses no more."""


def new_owner(task_id: str) -> str:
    """A fencing token that also identifies the task."""
    return f"{task_id}:{uuid.uuid4().hex[:16]}"


def do(context: WorkerContext, kind: TaskKind[Any, Any], key: int, task_id: str) -> None:
    """As `do_several`, for one task."""
    do_several(context, kind, [key], task_id)


def do_several(context: WorkerContext, kind: TaskKind[Any, Any], keys: Sequence[int], task_id: str) -> None:
    """Claim the tasks of a message, run and complete them, and continue with the tasks that became ready with them.

    Ends in order if the database fails.
    """
    with (
        log_context(task_id=task_id, **{kind.log_key: keys[0]}),
        context.suppress_database_errors(f"{kind.title} {', '.join(map(str, keys))}"),
    ):
        claims = _claim(context, kind, keys, new_owner(task_id))
        if not claims:
            return
        first = claims[0]
        with span(kind.title, first.trace, "consumer", key=first.key, attempt=first.attempt, task_id=task_id):
            ready = _run(context, kind, claims, task_id)
        for each in ready:
            if context.shutting_down.message:
                break
            do(context, *each, task_id)


def _run(context: WorkerContext, kind: TaskKind[Any, Any], claims: Sequence[Claim], task_id: str) -> list[Ready]:
    """Run and complete tasks that were claimed together; the tasks that became ready with them."""
    begun = time.monotonic()
    preempt = Preemption(context, claims[0].queue_class, partial(do, context, task_id=task_id), LONGEST_SECONDS)
    done: list[tuple[Claim, Outcome[Any]]] = []
    ready: list[Ready] = []
    for number, (claimed, run) in enumerate(zip(claims, kind.runs(context, claims, preempt), strict=True)):
        if number:
            preempt()
            if context.shutting_down.message:
                _leave(context, kind, claims[number:])
                break
            if done and time.monotonic() > begun + UNSTORED_SECONDS:
                ready += _complete(context, kind, done, begun, task_id)
                done = []
        with _working_on(kind, claimed, task_id):
            log.debug("%s %s is claimed", kind.title, claimed.key)
            try:
                with span("run"):
                    done.append((claimed, run()))
            except Exception as error:
                _give_up(context, kind, claimed, error)
                kind.repair_after(context, claimed, error)
    return ready + _complete(context, kind, done, begun, task_id) if done else ready


def _working_on(kind: TaskKind[Any, Any], claimed: Claim, task_id: str) -> AbstractContextManager[None]:
    """A context whose log lines say which task it is, and what it works for."""
    identity = {"task_id": task_id, kind.log_key: claimed.key, "attempt": claimed.attempt}
    return log_context(**{**identity, **claimed.log_fields()})


def _complete(
    context: WorkerContext,
    kind: TaskKind[Any, Any],
    done: Sequence[tuple[Claim, Outcome[Any]]],
    begun: float,
    task_id: str,
) -> list[Ready]:
    """Store the results of tasks, all at once or, if that fails, each by itself; the tasks that became ready."""
    results = [(claimed, outcome.result) for claimed, outcome in done]
    try:
        # Durable: a result that the database loses in a crash would be missed only when the lease expires.
        with span("complete"):
            completions = context.write(lambda connection: complete_several(connection, kind, results), durable=True)
    except Exception as error:
        if len(done) > 1 and classify_error(error) is None:
            log.warning("%d tasks cannot be stored together (%s): each by itself", len(done), type(error).__name__)
            return [ready for each in done for ready in _complete(context, kind, [each], begun, task_id)]
        claimed = done[0][0]
        with _working_on(kind, claimed, task_id):
            _give_up(context, kind, claimed, error)
            kind.repair_after(context, claimed, error)
        return []
    seconds = time.monotonic() - begun
    for claimed, outcome in done:
        with _working_on(kind, claimed, task_id):
            if claimed.key in completions.accepted:
                context.counters.count(DONE.name, kind.name)
                more = outcome.report(seconds)
                log.info("%s %s is done", kind.title, claimed.key, extra=fields(seconds=seconds, **more))
            else:
                context.counters.count(DROPPED.name, kind.name)
                log.warning("%s %s was taken over by another worker: discarding its result", kind.title, claimed.key)
    return list(completions.ready)


def _leave(context: WorkerContext, kind: TaskKind[Any, Any], claims: Sequence[Claim]) -> None:
    """Return tasks that were claimed and not begun; no attempt is counted."""
    keys = [claimed.key for claimed in claims]
    context.write(lambda connection: release_unbegun(connection, kind.table, keys, claims[0].owner))
    log.info("%d tasks that were not begun are released: this worker is shutting down", len(keys))


def describe(error: Exception) -> tuple[str, bool]:
    """The message for users, and whether retrying is pointless."""
    if isinstance(error, MetricsError):
        return str(error), not isinstance(error, KernelsNotBuilt | MissingResource | ProgramFailed)
    if isinstance(error, ModelsError | WorkerError):
        return str(error), False
    return f"{type(error).__name__}: {error}", False


def _claim(context: WorkerContext, kind: TaskKind[Any, Any], keys: Sequence[int], owner: str) -> list[Claim]:
    claims: list[Claim] = context.write(
        lambda connection: claim_several(
            connection,
            kind,
            keys,
            kind.policy(context.settings),
            owner=owner,
            worker=context.worker,
            edition=context.edition,
        ),
        # A claim makes no room: there is nothing to send because of it.
        notify=False,
    )
    for key in set(keys) - {claimed.key for claimed in claims}:
        log.debug("%s %s cannot be claimed: it is held by another worker, or not needed", kind.title, key)
    for claimed in claims:
        if claimed.attempt > 1:
            context.counters.count(RETRIES.name, kind.name)
    return claims


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
