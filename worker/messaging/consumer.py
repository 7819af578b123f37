"""How a worker reads messages: one that is not ours, or for a task that it does not know, is dropped and counted."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from celery import signals
from celery.worker.consumer import Consumer

from worker.messaging.messages import Fault, fault_of

log = logging.getLogger(__name__)


class TaskConsumer(Consumer):  # type: ignore[misc]
    """Celery's consumer, for hints. Whatever it drops, it tells `task_rejected` with the Fault as `exc`."""

    def create_task_handler(self, *args: Any, **options: Any) -> Callable[[Any], None]:
        """What gets each message: it looks whether that is ours before Celery does anything with it."""
        handle = super().create_task_handler(*args, **options)
        passing = (*self.conninfo.connection_errors, *self.conninfo.channel_errors)

        def on_message(message: Any) -> None:
            if fault := fault_of(message):
                self._drop(message, fault)
                return
            try:
                handle(message)
            except passing:
                raise
            except Exception:
                log.exception("A message could not be handled")
                self._drop(message, Fault("failed", "this worker cannot handle it"))

        return on_message

    def _drop(self, message: Any, fault: Fault) -> None:
        """Drop a message. The row that it tells of, where there is one, is sent again, to whoever knows it."""
        log.warning("A message is dropped: %s. What it may have told of will be sent again.", fault.told)
        # Not back into the queue: this worker would take it again at once, for ever.
        message.reject_log_error(log, self.connection_errors)
        signals.task_rejected.send(sender=self, message=message, exc=fault)
