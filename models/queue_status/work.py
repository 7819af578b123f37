"""Whether there is anything to do at all."""

from __future__ import annotations

from sqlalchemy import Connection, exists, or_, select

from models.queue.kinds.registry import KINDS
from models.queue.lease import is_open
from models.schema.base import now
from models.schema.nightly import Night, Schedule
from models.schema.queue import Comparison, Evaluation
from models.schema.states import OPEN, OPEN_NIGHT_STATES, ComparisonState

SIGNS_OF_WORK = (
    exists().where(Evaluation.state.in_(OPEN)),
    exists().where(Comparison.state == ComparisonState.RUNNING),
    *(exists().where(is_open(kind.table)) for kind in KINDS),
    exists().where(Night.state.in_(OPEN_NIGHT_STATES)),
    exists().where(Schedule.active.is_(True), Schedule.next_at <= now()),
)
"""Of which an index serves each."""

_WORK = select(or_(*SIGNS_OF_WORK))


def is_there_work(connection: Connection) -> bool:
    """Whether anything waits, is in flight or is due."""
    return bool(connection.scalar(_WORK))
