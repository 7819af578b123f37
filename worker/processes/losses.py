"""Handles Celery's signals about lost pool processes and dropped messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from billiard.exceptions import TimeLimitExceeded, WorkerLostError
from celery import signals

from worker.context import WorkerContext
from worker.messaging.messages import Fault
from worker.processes.dead_processes import release_lost
from worker.telemetry import MESSAGES


def handle_lost_processes(context: WorkerContext) -> Callable[[], None]:
    """Release tasks of lost processes at once, and count dropped messages; call the result to stop."""

    def on_failure(
        sender: Any = None,
        task_id: str = "",
        exception: BaseException | None = None,
        args: tuple[int, ...] = (),
        **other: object,  # noqa: ARG001
    ) -> None:
        if isinstance(exception, WorkerLostError | TimeLimitExceeded) and args:
            reason = None if isinstance(exception, TimeLimitExceeded) else f"its process died ({exception})."
            release_lost(context, sender.name, task_id, args, reason)

    def on_dropped(exc: object = None, **other: object) -> None:  # noqa: ARG001
        if isinstance(exc, Fault):
            context.counters.count(MESSAGES.name, exc.reason)

    def stop() -> None:
        signals.task_failure.disconnect(on_failure)
        signals.task_rejected.disconnect(on_dropped)

    signals.task_failure.connect(on_failure, weak=False)
    signals.task_rejected.connect(on_dropped, weak=False)
    return stop
