"""What the main process of a worker does when a pool process dies at work."""

from __future__ import annotations

import logging

from sqlalchemy import Connection, select

from models.queue.kinds.registry import BY_MESSAGE, SENT
from models.queue.kinds.shards import SHARD
from models.queue.lease import owned_by_task, unsend
from models.queue.task_kind import found_fields, release
from models.schema.base import now
from models.schema.queue import Shard
from runtime.logs import fields, log_context
from worker.context import WorkerContext
from worker.counters import LOST

HAD_THE_TIME = 0.75
"""Of a task's time: who was worked on for so much of it has used it up."""

log = logging.getLogger(__name__)


def release_lost(context: WorkerContext, task: str, task_id: str, key: int, reason: str | None) -> None:
    """Release what a task held, or had not yet claimed, whose process died; without a reason it took too long.

    Without this the lease would have to run out first.
    """
    timed_out = reason is None
    context.tally.count(LOST.name, "time" if timed_out else "died")
    told = reason or (
        f"it took longer than {context.settings.task_seconds:g} s. Look for very long segments, or set "
        "STEELYARD_TASK_SECONDS higher."
    )
    with log_context(task_id=task_id):
        try:
            context.write(lambda connection: _release(connection, context, task, task_id, key, told, timed_out))
        except Exception:
            log.exception("Task %s was lost and could not be released; its lease will run out", task_id)


def _release(
    connection: Connection,
    context: WorkerContext,
    task: str,
    task_id: str,
    key: int,
    reason: str,
    timed_out: bool,
) -> None:
    # A shard that has used up the time of its task would use it up again: it is not tried again for the same texts.
    # The task of the last shard goes on to reduce, so it may have been at either.
    for kind in SENT:
        for held, owner in owned_by_task(connection, kind.table, task_id):
            log.warning(
                "%s %s is released: %s",
                kind.title,
                held,
                reason,
                extra=fields(**found_fields(connection, kind, held)),
            )
            permanent = timed_out and kind is SHARD and _had_the_time(connection, context, held)
            release(connection, kind, held, owner, reason, kind.policy(context.settings), permanent=permanent)
    if task in BY_MESSAGE:
        unsend(connection, BY_MESSAGE[task].table, [key])


def _had_the_time(connection: Connection, context: WorkerContext, shard: int) -> bool:
    """Whether a shard was worked on for most of a task's time: one that it gave way to came later."""
    spent = connection.scalar(select(now() - Shard.claimed_at).where(Shard.id == shard))
    return spent is not None and spent > HAD_THE_TIME * context.settings.task_seconds
