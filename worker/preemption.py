"""Long shards give way: interactive work that was sent is done between two pieces of it: a metric on some segments.

All processes may be busy with shards of a second or more, and whoever looks at a screen should not wait for that.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from sqlalchemy import Connection, Integer, Select, bindparam, literal, select, union_all
from sqlalchemy.exc import SQLAlchemyError

from models.database.session import glancing
from models.schema.base import BIG
from models.schema.queue import Leased, Preparation, Shard
from models.schema.states import LeaseState, QueueClass
from worker.context import Station

log = logging.getLogger(__name__)

LONGEST_SECONDS = 10.0
"""How long a shard gives way in all, well within the time limit for its task."""

EVERY_SECONDS = 0.1
"""Time between two looks, so that they cost nothing to speak of."""

WORK: tuple[type[Leased], ...] = (Preparation, Shard)


class GivingWay:
    """To be called between the pieces of a shard; `do` does a row of a table by its id."""

    def __init__(
        self, station: Station, shard_id: int, do: Mapping[type[Leased], Callable[[int], None]], seconds: float
    ) -> None:
        self._station = station
        self._shard_id = shard_id
        self._do = do
        self._left = seconds
        self._next_look = time.monotonic() + EVERY_SECONDS

    def __call__(self) -> None:
        """Do what waits, if this shard may wait itself."""
        while self._left > 0 and time.monotonic() >= self._next_look and not self._station.leaving.heard:
            begun = time.monotonic()
            try:
                with glancing(self._station.engine) as connection:
                    row = waiting_row(connection, self._shard_id, self._station.edition)
            except SQLAlchemyError as error:
                log.warning("It cannot be seen whether somebody waits: %s", error)
                return
            if row is None:
                self._next_look = time.monotonic() + EVERY_SECONDS
                return
            table, key = row
            self._do[table](key)
            self._left -= time.monotonic() - begun


def waiting_row(connection: Connection, shard_id: int, edition: int) -> tuple[type[Leased], int] | None:
    """Interactive work of an edition that was sent and nobody has begun; None where the shard is interactive itself.

    What was tried before is left alone: it may be what kills its process, and the shard with it.
    """
    row = connection.execute(_waiting(), {"shard_id": shard_id, "edition": edition}).first()
    return None if row is None else (WORK[row.number], row.id)


@cache
def _waiting() -> Select[Any]:
    rows = union_all(
        *(
            select(literal(number, Integer).label("number"), table.id.label("id"), table.due_at.label("due_at")).where(
                table.state == LeaseState.ENQUEUED,
                table.queue_class == QueueClass.INTERACTIVE,
                table.attempts == 0,
                table.edition == bindparam("edition", type_=Integer),
            )
            for number, table in enumerate(WORK)
        )
    ).subquery()
    mine = select(Shard.id).where(
        Shard.id == bindparam("shard_id", type_=BIG), Shard.queue_class > QueueClass.INTERACTIVE
    )
    earliest = rows.c.due_at.asc().nulls_last(), rows.c.number, rows.c.id
    return select(rows.c.number, rows.c.id).where(mine.exists()).order_by(*earliest).limit(1)
