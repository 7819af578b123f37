"""How an evaluation ends without scores: whose fault it was, from every state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import Connection, select, update

from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import cancel_evaluations, fail_evaluations
from models.schema.queue import Evaluation
from models.schema.states import OPEN, EvaluationState, Fault
from runtime.settings import Settings
from tests.scheduler.jobs import queue_job

WAYS: dict[str, tuple[Callable[[Connection, Sequence[int]], list[int]], EvaluationState, str | None, Fault | None]] = {
    "fail": (lambda c, ids: fail_evaluations(c, ids, "why"), EvaluationState.FAILED, "why", Fault.PLATFORM),
    "fail by the input": (
        lambda c, ids: fail_evaluations(c, ids, "why", fault=Fault.INPUT),
        EvaluationState.FAILED,
        "why",
        Fault.INPUT,
    ),
    "cancel": (lambda c, ids: cancel_evaluations(c, ids, "not wanted"), EvaluationState.CANCELLED, "not wanted", None),
    "cancel without a reason": (lambda c, ids: cancel_evaluations(c, ids), EvaluationState.CANCELLED, None, None),
    "cancel what counts": (
        lambda c, ids: cancel_evaluations(c, ids, "not wanted", counts=True),
        EvaluationState.CANCELLED,
        "not wanted",
        Fault.INPUT,
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_open_ones_that_were_named_end_and_no_others(sqlite_url: str, way: str) -> None:
    end, state, reason, fault = WAYS[way]
    engine = make_engine(sqlite_url)
    states = list(EvaluationState)
    job = queue_job(engine, Settings(database_url=sqlite_url), segments=3, systems=2 * len(states))
    columns = Evaluation.id, Evaluation.state, Evaluation.reason, Evaluation.fault, Evaluation.finished_at
    with writing(engine) as connection:
        for number, evaluation in enumerate(sorted(job.all_evaluations)):
            values = {"state": states[number // 2], "reason": "before", "fault": None, "finished_at": None}
            connection.execute(update(Evaluation).where(Evaluation.id == evaluation).values(values))
        # Of each state one is named.
        ended = end(connection, sorted(job.all_evaluations)[::-2])
    with reading(engine) as connection:
        rows = connection.execute(select(*columns).order_by(Evaluation.id)).all()
    assert ended == [row.id for number, row in enumerate(rows) if number % 2 and states[number // 2] in OPEN] != []
    for number, row in enumerate(rows):
        if row.id in ended:
            assert (row.state, row.reason, row.fault) == (state, reason, fault)
            assert row.finished_at is not None
        else:
            assert (row.state, row.reason, row.fault, row.finished_at) == (states[number // 2], "before", None, None)
