"""Releases the tasks of a pool process that died."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, select

from models.queue.kinds.registry import BY_MESSAGE, SENT
from models.queue.lease import owned_by_task, unsend
from models.queue.task_kind import TaskKind, found_fields, release
from models.schema.base import now
from runtime.logs import fields, log_context
from worker.context import WorkerContext
from worker.telemetry import LOST

HAD_THE_TIME = 0.75
"""Fraction of the time limit after which a preempted task counts as the one that timed out."""

log = logging.getLogger(__name__)


def release_lost(context: WorkerContext, task: str, task_id: str, keys: Collection[int], reason: str | None) -> None:
    """Release tasks that a dead process had claimed, or was about to; without a reason it exceeded its time limit.

    Otherwise the lease would have to expire first.
    """
    timed_out = reason is None
    context.counters.count(LOST.name, "time" if timed_out else "died")
    description = reason or (
        f"it took longer than {context.settings.task_seconds:g} s. Look for very long segments, or set "
        "STEELYARD_TASK_SECONDS higher."
    )
    with log_context(task_id=task_id):
        try:
            context.write(lambda connection: _release(connection, context, task, task_id, keys, description, timed_out))
        except Exception:
            log.exception("Task %s was lost and could not be released; its lease will expire", task_id)


def _release(
    connection: Connection,
    context: WorkerContext,
    task: str,
    task_id: str,
    keys: Collection[int],
    reason: str,
    timed_out: bool,
) -> None:
    # The task of the last shard continues with the reduction, so it may have been in either.
    for kind in SENT:
        owned = owned_by_task(connection, kind.table, task_id)
        together = Counter(owner for _, owner in owned)
        for held, owner in owned:
            log.warning(
                "%s %s is released: %s",
                kind.title,
                held,
                reason,
                extra=fields(**found_fields(connection, kind, held)),
            )
            # Of several, any may have been the one.
            alone = together[owner] == 1 and not kind.retried_after_timeout
            permanent = timed_out and alone and _used_its_time(connection, context, kind, held)
            release(connection, kind, held, owner, reason, kind.policy(context.settings), permanent=permanent)
    if task in BY_MESSAGE:
        unsend(connection, BY_MESSAGE[task].table, keys)


def _used_its_time(connection: Connection, context: WorkerContext, kind: TaskKind[Any, Any], key: int) -> bool:
    """Whether the task ran for most of the time limit: one that preempted it began later."""
    spent = connection.scalar(select(now() - kind.table.claimed_at).where(kind.table.id == key))
    return spent is not None and spent > HAD_THE_TIME * context.settings.task_seconds
