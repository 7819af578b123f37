"""How a worker reads messages: one for a task that it does not know is dropped with a word in the log."""

from __future__ import annotations

import logging
from typing import Any

from celery.worker.consumer import Consumer

log = logging.getLogger(__name__)


class HintConsumer(Consumer):  # type: ignore[misc]
    """Celery's consumer, for hints."""

    def on_unknown_task(self, body: Any, message: Any, exc: BaseException) -> None:  # noqa: ARG002
        """Drop a message of another release: the row that it tells of is sent again, to whoever knows it."""
        log.warning(
            "A message for the task %s is dropped, which this release does not know. It will be sent again.", exc
        )
        # Not back into the queue: this worker would take it again at once, for ever.
        message.reject_log_error(log, self.connection_errors)
