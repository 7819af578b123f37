"""Long shards give way: interactive work that was sent is done between two pieces of it: a metric on some segments.

All processes may be busy with shards of a second or more, and whoever looks at a screen should not wait for that.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from sqlalchemy import Connection, Integer, Select, bindparam, literal, select, union_all
from sqlalchemy.exc import SQLAlchemyError

from models.database.session import reading_once
from models.queue.kinds.corpus_statistics import PREPARATION
from models.queue.kinds.shards import SHARD
from models.queue.task_kind import TaskKind
from models.schema.base import BIG
from models.schema.states import LeaseState, QueueClass
from worker.context import WorkerContext

log = logging.getLogger(__name__)

LONGEST_SECONDS = 10.0
"""How long a shard gives way in all, well within the time limit for its task."""

EVERY_SECONDS = 0.1
"""Time between two looks, so that they cost nothing to speak of."""

KINDS: tuple[TaskKind[Any, Any], ...] = (PREPARATION, SHARD)
"""What a task gives way to."""


class Preemption:
    """To be called between the pieces of a task; `do` does another one."""

    def __init__(
        self,
        context: WorkerContext,
        kind: TaskKind[Any, Any],
        key: int,
        do: Callable[[TaskKind[Any, Any], int], None],
        seconds: float,
    ) -> None:
        self._context = context
        self._kind = kind
        self._key = key
        self._do = do
        self._left = seconds
        self._next_look = time.monotonic() + EVERY_SECONDS

    def __call__(self) -> None:
        """Do what waits, if this task may wait itself."""
        while self._left > 0 and time.monotonic() >= self._next_look and not self._context.leaving.heard:
            begun = time.monotonic()
            try:
                with reading_once(self._context.engine) as connection:
                    urgent = urgent_task(connection, self._kind, self._key, self._context.edition)
            except SQLAlchemyError as error:
                log.warning("It cannot be seen whether somebody waits: %s", error)
                return
            if urgent is None:
                self._next_look = time.monotonic() + EVERY_SECONDS
                return
            self._do(*urgent)
            self._left -= time.monotonic() - begun


def urgent_task(
    connection: Connection, kind: TaskKind[Any, Any], key: int, edition: int
) -> tuple[TaskKind[Any, Any], int] | None:
    """Interactive work of an edition that was sent and nobody has begun; None where the task is interactive itself.

    What was tried before is left alone: it may be what kills its process, and the task with it.
    """
    row = connection.execute(_urgent(kind), {"key": key, "edition": edition}).first()
    return None if row is None else (KINDS[row.number], row.id)


@cache
def _urgent(kind: TaskKind[Any, Any]) -> Select[Any]:
    table = kind.table
    rows = union_all(
        *(
            select(literal(number, Integer).label("number"), other.id.label("id"), other.due_at.label("due_at")).where(
                other.state == LeaseState.ENQUEUED,
                other.queue_class == QueueClass.INTERACTIVE,
                other.attempts == 0,
                other.edition == bindparam("edition", type_=Integer),
            )
            for number, other in enumerate(each.table for each in KINDS)
        )
    ).subquery()
    mine = select(table.id).where(table.id == bindparam("key", type_=BIG), table.queue_class > QueueClass.INTERACTIVE)
    earliest = rows.c.due_at.asc().nulls_last(), rows.c.number, rows.c.id
    return select(rows.c.number, rows.c.id).where(mine.exists()).order_by(*earliest).limit(1)
