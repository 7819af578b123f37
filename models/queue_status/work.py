"""Whether there is any work."""

from __future__ import annotations

from functools import cache

from sqlalchemy import Connection, Dialect, exists, or_, select

from models.queue.kinds.registry import KINDS
from models.queue.lease import is_open
from models.schema.base import now
from models.schema.nightly import NightlyRun, Schedule
from models.schema.queue import Comparison, Evaluation
from models.schema.states import OPEN, OPEN_RUN_STATES, ComparisonState

SIGNS_OF_WORK = (
    exists().where(Evaluation.state.in_(OPEN)),
    exists().where(Comparison.state == ComparisonState.RUNNING),
    *(exists().where(is_open(kind.table)) for kind in KINDS),
    exists().where(NightlyRun.state.in_(OPEN_RUN_STATES)),
    exists().where(Schedule.active.is_(True), Schedule.next_at <= now()),
)
"""Each is answered from an index."""


def read_work(connection: Connection) -> tuple[bool, float]:
    """Whether any work is waiting, in flight or due, and the time on the database's clock, in one statement."""
    work, clock = connection.exec_driver_sql(_statement(connection.dialect)).one()
    return bool(work), float(clock)


@cache
def _statement(dialect: Dialect) -> str:
    """The statement with its constants, which is always the same: a waiting scheduler executes it every second."""
    statement = select(or_(*SIGNS_OF_WORK).label("work"), now().label("clock"))
    return str(statement.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
