"""The tasks as Celery knows them: id in, row out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from models.queue.kinds.registry import BY_MESSAGE
from models.queue.lease import unsend
from models.queue.task_kind import TaskKind
from worker.context import WorkerContext

WAKE = "wake"

HINT_HEADER = "steelyard_hint"
HINT_VERSION = 1
"""What a message says, and how; raised when workers of the release before would get it wrong. Without it: 1."""

log = logging.getLogger(__name__)


def register_tasks(app: Any, context: WorkerContext) -> None:
    """Teach a Celery app its tasks."""
    for name, kind in BY_MESSAGE.items():
        # Shared tasks would go to every app of the process, with the context of the first.
        app.task(_task(context, kind), name=name, bind=True, shared=False)
    app.task(_wake, name=WAKE, shared=False)


def _task(context: WorkerContext, kind: TaskKind[Any, Any]) -> Callable[[Any, int], None]:
    def run(self: Any, key: int) -> None:
        # Numeric code is imported where it is used, for the sake of senders.
        from worker.handlers import do

        if heeds(context, self, key):
            do(context, kind, key, self.request.id)

    return run


def _wake() -> None:
    """Nothing: it makes a worker that waits for messages look up."""


def heeds(context: WorkerContext, task: Any, key: int) -> bool:
    """Whether to do what a message says: not if it is of a newer release, nor where this worker is about to end."""
    version = int((task.request.headers or {}).get(HINT_HEADER, 1))
    if version > HINT_VERSION:
        log.warning(
            "A message for %s %s is dropped: it has version %s, and this release reads %s. It will be sent again.",
            task.name, key, version, HINT_VERSION,
        )  # fmt: skip
        return False
    if context.leaving.heard:
        with context.outlived(f"{task.name} {key}"):
            context.write(lambda connection: unsend(connection, BY_MESSAGE[task.name].table, [key]))
        return False
    return True
