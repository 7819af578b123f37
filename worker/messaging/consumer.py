"""A Celery consumer that drops and counts foreign messages and those of unknown tasks."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from celery import signals
from celery.worker.consumer import Consumer

from worker.messaging.messages import Fault, find_fault

log = logging.getLogger(__name__)


class TaskConsumer(Consumer):  # type: ignore[misc]
    """Celery's consumer, for our messages. For a dropped message it sends `task_rejected` with the Fault as `exc`."""

    def create_task_handler(self, *args: Any, **options: Any) -> Callable[[Any], None]:
        """The message handler, which validates a message before Celery processes it."""
        handle = super().create_task_handler(*args, **options)
        passing = (*self.conninfo.connection_errors, *self.conninfo.channel_errors)

        def on_message(message: Any) -> None:
            if fault := find_fault(message):
                self._reject(message, fault)
                return
            try:
                handle(message)
            except passing:
                raise
            except Exception:
                log.exception("A message could not be handled")
                self._reject(message, Fault("failed", "this worker cannot handle it"))

        return on_message

    def _reject(self, message: Any, fault: Fault) -> None:
        """Drop a message. Its row, if any, is sent again, to a worker that knows the task."""
        log.warning("Dropping a message: %s. Its task, if any, will be sent again.", fault.description)
        # Not back into the queue: this worker would receive it again at once, for ever.
        message.reject_log_error(log, self.connection_errors)
        signals.task_rejected.send(sender=self, message=message, exc=fault)
