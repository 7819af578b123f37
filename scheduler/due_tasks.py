"""Attempts what is due of the tasks that the scheduler does itself: deliveries to webhooks, and notices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from models.database.session import reading
from models.schema.base import now
from models.schema.states import LeaseState

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Engine

AT_ONCE = 20
"""Tasks per query."""


def attempt_due(engine: Engine, table: Any, most_attempts: int, attempt: Callable[[int], bool]) -> int:
    """Attempt all due tasks of a table, one after the other, until none is left that we get; the number of attempts.

    `attempt` takes the id of a task, and says whether it was ours.
    """
    tried = 0
    while True:
        with reading(engine) as connection:
            pending = select(table.id).where(
                table.state == LeaseState.PENDING, table.not_before <= now(), table.attempts < most_attempts
            )
            due = list(connection.scalars(pending.order_by(table.id).limit(AT_ONCE)))
        claimed = sum(map(attempt, due))
        tried += claimed
        if not claimed:
            return tried
