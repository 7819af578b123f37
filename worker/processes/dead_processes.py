"""What the main process of a worker does when a pool process dies at work, and what it counts of messages."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from billiard.exceptions import TimeLimitExceeded, WorkerLostError
from celery import signals
from sqlalchemy import Connection, select

from models.queue.kinds import RELEASES
from models.queue.lease import owned_by_task, withdraw
from models.queue.log_fields import described
from models.schema.base import now
from models.schema.queue import Shard
from runtime.logs import about, fields
from worker.context import Station
from worker.counters import LOST, MESSAGES
from worker.messaging.messages import Fault
from worker.tasks import TABLES

HAD_THE_TIME = 0.75
"""Of a task's time: who was worked on for so much of it has used it up."""

log = logging.getLogger(__name__)


def watch_losses(station: Station) -> Callable[[], None]:
    """Release at once what a lost process had claimed, and count messages that are dropped; call the result to stop.

    Without this the lease would have to run out first.
    """

    def on_failure(
        sender: Any = None,
        task_id: str = "",
        exception: BaseException | None = None,
        args: tuple[int, ...] = (),
        **other: object,  # noqa: ARG001
    ) -> None:
        if not isinstance(exception, WorkerLostError | TimeLimitExceeded) or not args:
            return
        if isinstance(exception, TimeLimitExceeded):
            reason = (
                f"it took longer than {station.settings.task_seconds:g} s. Look for very long segments, or set "
                "STEELYARD_TASK_SECONDS higher."
            )
        else:
            reason = f"its process died ({exception})."
        station.tally.count(LOST.name, "time" if isinstance(exception, TimeLimitExceeded) else "died")
        with about(task_id=task_id):
            release(sender.name, task_id, args[0], reason, isinstance(exception, TimeLimitExceeded))

    def release(task: str, task_id: str, key: int, reason: str, timed_out: bool) -> None:
        try:
            station.write(
                lambda connection: release_lost(connection, station, task, task_id, key, reason, timed_out=timed_out)
            )
        except Exception:
            log.exception("Task %s was lost and could not be released; its lease will run out", task_id)

    def on_dropped(exc: object = None, **other: object) -> None:  # noqa: ARG001
        if isinstance(exc, Fault):
            station.tally.count(MESSAGES.name, exc.reason)

    def stop() -> None:
        signals.task_failure.disconnect(on_failure)
        signals.task_rejected.disconnect(on_dropped)

    signals.task_failure.connect(on_failure, weak=False)
    signals.task_rejected.connect(on_dropped, weak=False)
    return stop


def release_lost(
    connection: Connection,
    station: Station,
    task: str,
    task_id: str,
    key: int,
    reason: str,
    *,
    timed_out: bool = False,
) -> None:
    """Release the work that a lost task held, or had not yet claimed.

    A shard that has used up the time of its task would use it up again: it is not tried again for the same texts.
    """
    most, delay = station.settings.max_attempts, station.settings.retry_seconds
    # The task of the last shard goes on to reduce, so it may have been at either.
    for table, release in RELEASES.items():
        for held, owner in owned_by_task(connection, table, task_id):
            log.warning(
                "%s %s is released: %s",
                table.__name__,
                held,
                reason,
                extra=fields(**described(connection, table, held)),
            )
            permanent = timed_out and table is Shard and _had_the_time(connection, station, held)
            release(connection, held, owner, reason, max_attempts=most, delay_seconds=delay, permanent=permanent)
    if task in TABLES:
        withdraw(connection, TABLES[task], [key])


def _had_the_time(connection: Connection, station: Station, shard: int) -> bool:
    """Whether a shard was worked on for most of a task's time: one that it gave way to came later."""
    spent = connection.scalar(select(now() - Shard.claimed_at).where(Shard.id == shard))
    return spent is not None and spent > HAD_THE_TIME * station.settings.task_seconds
