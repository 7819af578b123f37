"""The tasks registered with Celery: each takes the ids of rows."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from models.queue.kinds.registry import BY_MESSAGE
from models.queue.lease import unsend
from models.queue.task_kind import TaskKind
from worker.context import WorkerContext
from worker.tasks import MESSAGE_VERSION

WAKE = "wake"

MESSAGE_HEADER = "steelyard_message"
"""The version of a message's meaning; absent: 1."""

log = logging.getLogger(__name__)


def register_tasks(app: Any, context: WorkerContext) -> None:
    """Register the tasks with a Celery app."""
    for name, kind in BY_MESSAGE.items():
        # Shared tasks would be added to every app of the process, with the context of the first.
        app.task(_task(context, kind), name=name, bind=True, shared=False)
    app.task(_wake, name=WAKE, shared=False)


def _task(context: WorkerContext, kind: TaskKind[Any, Any]) -> Callable[..., None]:
    def run(self: Any, *keys: int) -> None:
        # Numeric code is imported here, so that senders do not need it.
        from worker.handlers import do_several

        if should_handle(context, self, *keys):
            do_several(context, kind, keys, self.request.id)

    return run


def _wake() -> None:
    """Does nothing: it wakes a worker that waits for messages."""


def should_handle(context: WorkerContext, task: Any, *keys: int) -> bool:
    """Whether to handle a message: not from a newer release, nor while this worker is shutting down."""
    version = int((task.request.headers or {}).get(MESSAGE_HEADER, 1))
    named = f"{task.name} {', '.join(map(str, keys))}"
    if version > MESSAGE_VERSION:
        log.warning(
            "Dropping a message for %s: it has version %s, this release supports %s. It will be sent again.",
            named, version, MESSAGE_VERSION,
        )  # fmt: skip
        return False
    if context.shutting_down.message:
        with context.suppress_database_errors(named):
            context.write(lambda connection: unsend(connection, BY_MESSAGE[task.name].table, keys))
        return False
    return True
