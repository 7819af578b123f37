"""A scheduler rests where there is no work: everything that is a sign of some, alone in the database."""

from __future__ import annotations

import time
from typing import Any

import pytest
from sqlalchemy import create_engine

from models.database.session import make_engine, reading
from models.queue.kinds.registry import KINDS
from models.queue_status.work import read_work
from models.schema.nightly import NightlyRun, Schedule
from models.schema.queue import Comparison, Evaluation
from models.schema.states import ComparisonState, EvaluationState, LeaseState, NightlyRunState
from tests.models.queue_status.test_small_queue import add

OPEN = {
    Evaluation: (EvaluationState, {"queued", "running", "reducing"}),
    Comparison: (ComparisonState, {"running"}),
    NightlyRun: (NightlyRunState, {"due", "fetching", "scoring", "judging"}),
    **{kind.table: (LeaseState, {"pending", "enqueued", "running"}) for kind in KINDS},
}
"""Of each table: its states, and those of work that is not done."""
STATES = [(table, state, state in open_ones) for table, (states, open_ones) in OPEN.items() for state in states]
HOUR = 3600.0


def is_work(url: str, table: type[Any] | None, **values: Any) -> bool:
    """Whether there is work where this row is the only one. It needs none of those that it refers to."""
    engine = make_engine(url)
    if table is not None:
        with create_engine(engine.url).begin() as connection:
            add(connection, table, 1, **values)
    with reading(engine) as connection:
        work, clock = read_work(connection)
    engine.dispose()
    assert clock == pytest.approx(time.time(), abs=HOUR)
    return work


@pytest.mark.parametrize(
    ("table", "state", "expected"), STATES, ids=[f"{table.__tablename__}-{state}" for table, state, _ in STATES]
)
def test_whatever_is_open_is_work(sqlite_url: str, table: type[Any], state: str, expected: bool) -> None:
    assert is_work(sqlite_url, table, state=state) is expected


@pytest.mark.parametrize(
    ("active", "due_in", "expected"),
    [(True, -HOUR, True), (True, HOUR, False), (True, None, False), (False, -HOUR, False)],
)
def test_a_schedule_is_work_when_it_is_due(sqlite_url: str, active: bool, due_in: float | None, expected: bool) -> None:
    due = None if due_in is None else time.time() + due_in
    assert is_work(sqlite_url, Schedule, active=active, next_at=due) is expected


def test_an_empty_database_has_no_work(sqlite_url: str) -> None:
    assert not is_work(sqlite_url, None)
