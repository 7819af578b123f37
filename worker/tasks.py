"""How workers hear of tasks: by hints that hold an id. Heard twice, late or out of order, a task writes once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from models.queue.task_kind import TaskKind
from models.schema.states import QueueClass


@dataclass(frozen=True, slots=True)
class Hint:
    """What tells a worker of a row to look at."""

    kind: TaskKind[Any, Any]
    edition: int
    key: int
    queue_class: QueueClass


class Messages(Protocol):
    """The way of hints to who acts on them: a broker, or the pool of the embedded worker."""

    @property
    def takes_ahead(self) -> bool:
        """Whether a process may hold one hint that it has not begun beside that which it is at."""

    def send(self, hint: Hint) -> None:
        """Send one. Raises BrokerAway, and whatever a connection raises that broke in the middle."""

    def count(self, classes: Iterable[QueueClass]) -> dict[QueueClass, int]:
        """How many wait for each of the classes. Raises BrokerAway."""
