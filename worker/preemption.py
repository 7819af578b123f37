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
from models.schema.states import LeaseState, QueueClass
from worker.context import WorkerContext

log = logging.getLogger(__name__)

LONGEST_SECONDS = 10.0
"""Limit on the total time of a shard's preemption, well within the time limit of its task."""

EVERY_SECONDS = 0.1
"""Seconds between two checks of all processes of a worker, and before a task's first, so that they cost next to
nothing: at most a thousand a second for a hundred workers."""

KINDS: tuple[TaskKind[Any, Any], ...] = (CORPUS_COUNT, SHARD)
"""The kinds of tasks that preempt."""


class Preemption:
    """Called between the pieces of a task of a class; `do` runs another task."""

    def __init__(
        self,
        context: WorkerContext,
        queue_class: QueueClass,
        do: Callable[[TaskKind[Any, Any], int], None],
        seconds: float,
    ) -> None:
        self._context = context
        self._do = do
        # Nothing is more urgent than interactive work.
        self._left = 0.0 if queue_class == QueueClass.INTERACTIVE else seconds
        self._first_look = time.monotonic() + EVERY_SECONDS

    def __call__(self) -> None:
        """Run waiting interactive work, if this task is not interactive itself."""
        while self._left > 0 and self._is_due() and not self._context.shutting_down.message:
            begun = time.monotonic()
            try:
                with autocommit_reading(self._context.engine) as connection:
                    urgent = urgent_task(connection, self._context.edition)
            except SQLAlchemyError as error:
                log.warning("Waiting interactive work cannot be read: %s", error)
                return
            if urgent is None:
                self._context.looked.seconds = time.monotonic()
                return
            self._do(*urgent)
            self._left -= time.monotonic() - begun

    def _is_due(self) -> bool:
        """Where one process has found nothing just now, the others of its worker need not look."""
        return time.monotonic() >= max(self._first_look, self._context.looked.seconds + EVERY_SECONDS)


def urgent_task(connection: Connection, edition: int) -> tuple[TaskKind[Any, Any], int] | None:
    """Interactive work of an edition that was sent and not begun.

    Retries are skipped: they may be what kills their process, and would kill this task with it.
    """
    row = connection.execute(_urgent(), {"edition": edition}).first()
    return None if row is None else (KINDS[row.number], row.id)


@cache
def _urgent() -> Select[Any]:
    # What is the same each time is a constant: PostgreSQL could not use a partial index in a plan for any state, and a
    # plan for any class would seem so dear to it that it would plan each time.
    def constant(column: ColumnElement[Any], value: object) -> BindParameter[Any]:
        return literal(value, column.type, literal_execute=True)

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
    earliest = rows.c.due_at.asc().nulls_last(), rows.c.number, rows.c.id
    return select(rows.c.number, rows.c.id).order_by(*earliest).limit(literal_column("1"))
