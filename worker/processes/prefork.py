"""Celery's pool of forked processes, which survives a lost broker while one of them has ended."""

from __future__ import annotations

from typing import Any

from celery.concurrency import prefork
from celery.concurrency.asynpool import AsynPool


class Processes(AsynPool):  # type: ignore[misc]
    """Celery's processes."""

    def _track_child_process(self, proc: Any, hub: Any) -> None:
        # Celery watches all processes again when it has a new connection to the broker. A process that is known to have
        # ended, but was not replaced yet, has nothing left to watch: Celery's worker would end with a ValueError.
        if getattr(proc, "_sentinel_poll", "not watched yet") is not None:
            super()._track_child_process(proc, hub)


class TaskPool(prefork.TaskPool):  # type: ignore[misc]
    """Celery's pool, of these processes."""

    Pool = Processes
