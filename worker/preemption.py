"""Preemption: between two pieces of its work (a metric on some segments), a long shard runs waiting interactive work.

All processes may be busy with shards of a second or more, and users at a screen should not wait for that.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Integer,
    Select,
    bindparam,
    literal,
    literal_column,
    select,
    union_all,
)
from sqlalchemy.exc import SQLAlchemyError

from models.database.session import autocommit_reading
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.shards import SHARD
from models.queue.task_kind import TaskKind
from models.schema.base import BIG
from models.schema.states import LeaseState, QueueClass
from worker.context import WorkerContext

log = logging.getLogger(__name__)

LONGEST_SECONDS = 10.0
"""Limit on the total time of a shard's preemption, well within the time limit of its task."""

EVERY_SECONDS = 0.1
"""Seconds between two checks, so that they cost next to nothing."""

KINDS: tuple[TaskKind[Any, Any], ...] = (CORPUS_COUNT, SHARD)
"""The kinds of tasks that preempt."""


class Preemption:
    """Called between the pieces of a task; `do` runs another task."""

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
        """Run waiting interactive work, if this task is not interactive itself."""
        while self._left > 0 and time.monotonic() >= self._next_look and not self._context.shutting_down.message:
            begun = time.monotonic()
            try:
                with autocommit_reading(self._context.engine) as connection:
                    urgent = urgent_task(connection, self._kind, self._key, self._context.edition)
            except SQLAlchemyError as error:
                log.warning("Waiting interactive work cannot be read: %s", error)
                return
            if urgent is None:
                self._next_look = time.monotonic() + EVERY_SECONDS
                return
            self._do(*urgent)
            self._left -= time.monotonic() - begun


def urgent_task(
    connection: Connection, kind: TaskKind[Any, Any], key: int, edition: int
) -> tuple[TaskKind[Any, Any], int] | None:
    """Interactive work of an edition that was sent and not begun; None if the task is interactive itself.

    Retries are skipped: they may be what kills their process, and would kill this task with it.
    """
    row = connection.execute(_urgent(kind), {"key": key, "edition": edition}).first()
    return None if row is None else (KINDS[row.number], row.id)


@cache
def _urgent(kind: TaskKind[Any, Any]) -> Select[Any]:
    # What is the same each time is a constant: PostgreSQL could not use a partial index in a plan for any state, and a
    # plan for any class would seem so dear to it that it would plan each time.
    def constant(column: ColumnElement[Any], value: object) -> BindParameter[Any]:
        return literal(value, column.type, literal_execute=True)

    table = kind.table
    rows = union_all(
        *(
            select(
                literal_column(str(number), Integer).label("number"), other.id.label("id"), other.due_at.label("due_at")
            ).where(
                other.state == constant(other.state, LeaseState.ENQUEUED),
                other.queue_class == constant(other.queue_class, QueueClass.INTERACTIVE),
                other.attempts == constant(other.attempts, 0),
                other.edition == bindparam("edition", type_=Integer),
            )
            for number, other in enumerate(each.table for each in KINDS)
        )
    ).subquery()
    mine = select(table.id).where(
        table.id == bindparam("key", type_=BIG),
        table.queue_class > constant(table.queue_class, QueueClass.INTERACTIVE),
    )
    earliest = rows.c.due_at.asc().nulls_last(), rows.c.number, rows.c.id
    return select(rows.c.number, rows.c.id).where(mine.exists()).order_by(*earliest).limit(literal_column("1"))
