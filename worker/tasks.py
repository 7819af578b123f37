"""Task messages: each holds the ids of rows. Received twice, late or out of order, a task writes once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from models.queue.task_kind import TaskKind
from models.schema.states import QueueClass

SEVERAL_SINCE = 2
"""The version of messages that may name several rows."""

MESSAGE_VERSION = SEVERAL_SINCE
"""The newest version of the messages' meaning that this release reads; raised when workers of the previous release
would misread them. A message has the oldest version with its meaning, so that as many workers as possible read it."""

MOST_TOGETHER = 8
"""Rows of a message. What a message, a transaction and a statement cost by themselves is a seventh of the rest by then;
and a process that dies costs no more than so many tasks an attempt."""


@dataclass(frozen=True, slots=True)
class TaskMessage:
    """Tells a worker to look at rows."""

    kind: TaskKind[Any, Any]
    edition: int
    keys: tuple[int, ...]
    """At most MOST_TOGETHER, and one unless its kind does them `together`."""
    queue_class: QueueClass
    trace: str | None = None
    """The trace of the tasks; a worker reads it from the rows."""

    @property
    def version(self) -> int:
        """The version of the meaning that it has."""
        return 1 if len(self.keys) == 1 else SEVERAL_SINCE


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
