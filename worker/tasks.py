"""Task messages: each holds the id of a row. Received twice, late or out of order, a task writes once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from models.queue.task_kind import TaskKind
from models.schema.states import QueueClass


@dataclass(frozen=True, slots=True)
class TaskMessage:
    """Tells a worker to look at a row."""

    kind: TaskKind[Any, Any]
    edition: int
    key: int
    queue_class: QueueClass
    trace: str | None = None
    """The trace of the task; a worker reads it from the row."""


class MessageTransport(Protocol):
    """The transport of messages to workers: a broker, or the pool of the embedded worker."""

    @property
    def prefetches(self) -> bool:
        """Whether a process may hold one message in advance, besides the one that it is handling."""

    def send(self, message: TaskMessage) -> None:
        """Send a message. Raises BrokerAway, and whatever a broken connection raises."""

    def count(self, classes: Iterable[QueueClass]) -> dict[QueueClass, int]:
        """The number of waiting messages of each of the classes.

        Raises
        ------
        BrokerAway
            If the broker cannot be reached.
        """
