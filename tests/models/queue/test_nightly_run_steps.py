"""Steps of runs as tasks: what is claimed, what becomes of the run, and what is said when it fails."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, update

from models.database.session import make_engine, writing
from models.nightly.transitions import fail_run
from models.queue.kinds.nightly_run_steps import NIGHTLY_STEP, Asked, ClaimedStep, Fetched, Judged, waiting_steps
from models.schema.base import now
from models.schema.campaigns import Campaign
from models.schema.nightly import NightlyRun, NightlyRunStep
from models.schema.states import LeaseState, NightlyRunState
from tests.analysis.nightly_runs import add_schedule
from tests.tasks import claim_task, complete_task, release_task

DUE, FETCHING, SCORING, JUDGING, DONE, FAILED, MISSED = NightlyRunState


@pytest.fixture
def connection(sqlite_url: str) -> Iterator[Connection]:
    """A transaction on a database with two schedules and no run."""
    engine = make_engine(sqlite_url)
    with writing(engine) as connection:
        campaign = connection.execute(insert(Campaign).values(name="gate").returning(Campaign.id)).scalar_one()
    for name in ("one", "two"):
        add_schedule(engine, campaign, name=name)
    with writing(engine) as connection:
        yield connection
    engine.dispose()


def add(connection: Connection, nightly_run: NightlyRunState, schedule: int = 1, **step: Any) -> int:
    """A step of a run in this state; its id, which is that of the run."""
    number = len(connection.execute(select(NightlyRun.id)).all()) + 1
    row = {"id": number, "schedule_id": schedule, "date": "2026-03-02", "state": nightly_run, "due_at": 100.0 - number}
    connection.execute(insert(NightlyRun).values(**row))
    connection.execute(insert(NightlyRunStep).values(id=number, nightly_run_id=number, **step))
    return number


def claim(connection: Connection, key: int, owner: str = "mine") -> ClaimedStep | None:
    return claim_task(connection, NIGHTLY_STEP, key, owner=owner, worker="w", lease_seconds=60, max_attempts=3)


def nightly_run(connection: Connection, key: int) -> Any:
    return connection.execute(select(NightlyRun).where(NightlyRun.id == key)).one()


def test_steps_that_may_begin(connection: Connection) -> None:
    """Those that wait, whose time has come; with a run of interest, what it waits for, too."""
    first, second = add(connection, FETCHING), add(connection, JUDGING, schedule=2)
    for state in LeaseState:
        if state != LeaseState.PENDING:
            add(connection, FETCHING, state=state)
    add(connection, FETCHING, not_before=now() + 100)
    due = add(connection, DUE, schedule=2, state=LeaseState.DONE)
    connection.execute(update(NightlyRun).where(NightlyRun.id == second).values(comparisons=[4, 5]))
    found = waiting_steps(connection)
    assert [(each.key, each.nightly_run_id, each.state, each.comparisons) for each in found] == [
        (second, second, JUDGING, (4, 5)),
        (first, first, FETCHING, None),
    ]
    assert [each.key for each in waiting_steps(connection, first)] == [first]
    assert [each.key for each in waiting_steps(connection, due)] == [second]


@pytest.mark.parametrize("state", NightlyRunState)
def test_a_step_is_cancelled_where_its_run_waits_for_none(connection: Connection, state: NightlyRunState) -> None:
    key = add(connection, state)
    claimed = claim(connection, key)
    ours = state in {FETCHING, JUDGING}
    assert (claimed is not None) == ours
    assert connection.scalar(select(NightlyRunStep.state)) == ("running" if ours else "cancelled")
    if claimed is not None:
        assert (claimed.nightly_run_id, claimed.state, claimed.comparisons, claimed.attempt) == (key, state, None, 1)


RESULTS = [
    (FETCHING, Fetched([]), SCORING, 1),
    (JUDGING, Asked([7]), JUDGING, 2),
    (JUDGING, Judged({"a": 1}, regressed=True), DONE, 1),
]


@pytest.mark.parametrize(("before", "result", "after", "steps"), RESULTS)
def test_who_holds_a_step_moves_its_run_on(
    connection: Connection, before: NightlyRunState, result: Any, after: NightlyRunState, steps: int
) -> None:
    key = add(connection, before)
    stale = claim(connection, key)
    connection.execute(update(NightlyRunStep).values(state=LeaseState.PENDING))
    mine = claim(connection, key, "another")
    assert stale is not None
    assert mine is not None
    assert not complete_task(connection, NIGHTLY_STEP, stale, result).accepted
    assert nightly_run(connection, key).state == before
    assert complete_task(connection, NIGHTLY_STEP, mine, result).accepted
    assert nightly_run(connection, key).state == after
    assert len(connection.execute(select(NightlyRunStep.id)).all()) == steps


@pytest.mark.parametrize(
    ("state", "permanent", "said"),
    [
        (FETCHING, False, "Its outputs could not be fetched (tried 2 times): It rained."),
        (JUDGING, False, "It could not be judged (tried 2 times): It rained."),
        (FETCHING, True, "It rained."),
    ],
)
def test_a_step_that_fails_for_good_fails_its_run(
    connection: Connection, state: NightlyRunState, permanent: bool, said: str
) -> None:
    key = add(connection, state)
    for _ in range(1 if permanent else 2):
        assert (nightly_run(connection, key).state, nightly_run(connection, key).reason) == (state, None)
        assert claim(connection, key) is not None
        given = {"max_attempts": 2, "delay_seconds": 0.0, "permanent": permanent}
        assert release_task(connection, NIGHTLY_STEP, key, "mine", "It rained.", **given)
    assert (nightly_run(connection, key).state, nightly_run(connection, key).reason) == (FAILED, said)


def test_who_works_on_a_run_that_was_ended_does_so_in_vain(connection: Connection) -> None:
    key = add(connection, FETCHING)
    mine = claim(connection, key)
    assert mine is not None
    assert fail_run(connection, key, FETCHING, "It cannot be read.")
    assert not complete_task(connection, NIGHTLY_STEP, mine, Fetched([])).accepted
    assert not release_task(connection, NIGHTLY_STEP, key, "mine", "late", max_attempts=1, delay_seconds=0.0)
    assert (nightly_run(connection, key).state, nightly_run(connection, key).reason) == (FAILED, "It cannot be read.")
