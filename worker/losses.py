"""What the main process of a worker does when one of its pool processes dies at work."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from billiard.exceptions import TimeLimitExceeded, WorkerLostError
from celery import signals
from sqlalchemy import Connection

from models.lease import owned_by_task, withdraw
from models.releasing import RELEASES
from models.worked_for import described
from worker.counting import LOST
from worker.logs import about, fields
from worker.station import Station
from worker.tasks import TABLES

log = logging.getLogger(__name__)


def watch_losses(station: Station) -> Callable[[], None]:
    """Release at once what a lost process had claimed; call the result to stop watching.

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
            reason = f"it took longer than {station.settings.task_seconds:g} s."
        else:
            reason = f"its process died ({exception})."
        station.tally.count(LOST.name, "time" if isinstance(exception, TimeLimitExceeded) else "died")
        with about(task_id=task_id):
            release(sender.name, task_id, args[0], reason)

    def release(task: str, task_id: str, key: int, reason: str) -> None:
        try:
            station.write(lambda connection: release_lost(connection, station, task, task_id, key, reason))
        except Exception:
            log.exception("Task %s was lost and could not be released; its lease will run out", task_id)

    signals.task_failure.connect(on_failure, weak=False)
    return lambda: signals.task_failure.disconnect(on_failure)


def release_lost(connection: Connection, station: Station, task: str, task_id: str, key: int, reason: str) -> None:
    """Release the work that a lost task held, or had not yet claimed."""
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
            release(connection, held, owner, reason, max_attempts=most, delay_seconds=delay)
    if task in TABLES:
        withdraw(connection, TABLES[task], [key])
