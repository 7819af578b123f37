"""The state machine of runs, step by step: who may do what, and what becomes of the row and of all others."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, update

from models.database.session import make_engine, writing
from models.nightly.transitions import (
    OpenRun,
    PlannedRun,
    add_manual_run,
    await_comparisons,
    begin_judging,
    begin_run,
    begin_scoring,
    cancel_due_runs,
    fail_run,
    find_open_runs,
    finish_run,
    plan_runs,
)
from models.schema.base import database_time
from models.schema.campaigns import Campaign
from models.schema.nightly import Delivery, NightlyRun, NightlyRunStep, Schedule
from models.schema.states import LeaseState, NightlyRunState
from tests.analysis.nightly_runs import add_schedule

DUE, FETCHING, SCORING, JUDGING, DONE, FAILED, MISSED = NightlyRunState
Rows = dict[int, dict[str, Any]]


@pytest.fixture
def connection(sqlite_url: str) -> Iterator[Connection]:
    """A transaction on a database with two schedules, of which the first has a webhook, and no run."""
    engine = make_engine(sqlite_url)
    with writing(engine) as connection:
        campaign = connection.execute(insert(Campaign).values(name="gate").returning(Campaign.id)).scalar_one()
    for name in ("one", "two"):
        add_schedule(engine, campaign, name=name, webhook="https://x" if name == "one" else None, team=name)
    with writing(engine) as connection:
        yield connection
    engine.dispose()


def add(connection: Connection, state: NightlyRunState = DUE, schedule: int = 1, **values: Any) -> int:
    """A run in some state."""
    row = {"schedule_id": schedule, "date": "2026-03-02", "state": state, **values}
    if "due_at" not in row:
        row["due_at"] = float(len(rows(connection)))
    return connection.execute(insert(NightlyRun).values(**row).returning(NightlyRun.id)).scalar_one()


def rows(connection: Connection) -> Rows:
    return {row.id: dict(row._mapping) for row in connection.execute(select(NightlyRun).order_by(NightlyRun.id))}


def changed(before: Rows, after: Rows) -> Rows:
    """What is other than before: run -> column -> value; and every column of those that are new."""
    found = {key: {name: value for name, value in row.items() if value != before.get(key, {}).get(name)}
             for key, row in after.items()}  # fmt: skip
    assert before.keys() <= after.keys()
    return {key: values for key, values in found.items() if values}


def soon(connection: Connection, moment: float | None, seconds: float = 0.0) -> bool:
    """Whether a moment is about so many seconds from now."""
    return moment is not None and abs(moment - database_time(connection) - seconds) < 30


def opened(connection: Connection, only: int | None = None) -> list[int]:
    return [nightly_run.id for nightly_run in find_open_runs(connection, only)]


def seen(connection: Connection, key: int) -> OpenRun:
    row = connection.execute(select(NightlyRun).where(NightlyRun.id == key)).one()
    return OpenRun(row.id, row.schedule_id, NightlyRunState(row.state))


def steps(connection: Connection) -> list[tuple[int, str, str, int]]:
    columns = select(
        NightlyRunStep.nightly_run_id, NightlyRunStep.state, NightlyRunStep.team, NightlyRunStep.queue_class
    )
    return [tuple(row) for row in connection.execute(columns.order_by(NightlyRunStep.id))]


def test_of_those_that_wait_the_last_planned_is_worth_it(connection: Connection) -> None:
    kept = [
        add(connection, DUE, due_at=5.0, manual=True),
        add(connection, DUE, schedule=2, due_at=5.0),
        *(add(connection, state, due_at=10.0 + number) for number, state in enumerate((SCORING, DONE, FAILED))),
        add(connection, DUE, due_at=40.0),
    ]
    overdue = add(connection, DUE, due_at=6.0)
    before = rows(connection)
    plan_runs(connection, 1, [], 50.0)
    assert changed(before, rows(connection)) == {}
    nightly_runs = [
        PlannedRun(20.0, "2026-03-20", missed="Nobody ran."),
        PlannedRun(30.0, "2026-03-30", caught_up=True),
        # Another scheduler has planned it.
        PlannedRun(40.0, "2026-03-31", missed="not any more"),
    ]
    plan_runs(connection, 1, nightly_runs, 50.0)
    found = changed(before, rows(connection))
    assert not found.keys() & {*kept}
    assert soon(connection, found[overdue].pop("finished_at"))
    assert found.pop(overdue) == {"state": MISSED, "reason": "It had not begun when the next run was due."}
    columns = ("schedule_id", "due_at", "date", "state", "reason", "caught_up", "finished_at")
    assert [tuple(row.get(name) for name in columns) for row in found.values()] == [
        (1, 20.0, "2026-03-20", MISSED, "Nobody ran.", False, 50.0),
        (1, 30.0, "2026-03-30", DUE, None, True, None),
    ]


def test_a_run_by_hand_takes_the_next_free_second(connection: Connection) -> None:
    for due_at in (7.0, 8.0):
        add(connection, due_at=due_at)
    add(connection, schedule=2, due_at=9.0)
    key = add_manual_run(connection, 1, 7.0, "2026-03-05")
    row = rows(connection)[key]
    assert (row["due_at"], row["date"], row["manual"], row["state"]) == (9.0, "2026-03-05", True, DUE)


def test_runs_that_can_be_moved_on(connection: Connection) -> None:
    """Of a schedule one at a time; where there is something to do for one, that is left to its step."""
    waiting = [add(connection, DUE) for _ in range(2)]
    by_hand = add(connection, DUE, manual=True)
    for state in (DONE, FAILED, MISSED):
        add(connection, state)
    assert opened(connection) == [waiting[0], by_hand]
    assert [opened(connection, each) for each in (*waiting, by_hand)] == [[waiting[0]], [], [by_hand]]
    for state in (FETCHING, SCORING, JUDGING):
        begun = add(connection, state, schedule=2)
        due = add(connection, DUE, schedule=2)
        free = [begun] if state == SCORING else []
        assert opened(connection) == [waiting[0], by_hand, *free]
        assert opened(connection, due) == free, "it waits for the one that has begun"
        connection.execute(update(NightlyRun).where(NightlyRun.schedule_id == 2).values(state=DONE))
    assert find_open_runs(connection)[1] == OpenRun(by_hand, 1, DUE)


def test_a_run_begins_once_and_alone(connection: Connection) -> None:
    due, later = add(connection, DUE), add(connection, DUE)
    add(connection, SCORING, schedule=2)
    before = rows(connection)
    nightly_run, other = seen(connection, due), seen(connection, later)
    assert begin_run(connection, nightly_run)
    found = changed(before, rows(connection))[due]
    assert soon(connection, found.pop("started_at"))
    assert found == {"state": FETCHING}
    assert steps(connection) == [(due, "pending", "one", 2)]
    before = rows(connection)
    assert not begin_run(connection, nightly_run), "it is not due any more"
    assert not begin_run(connection, other), "one of the schedule has begun"
    assert changed(before, rows(connection)) == {}
    connection.execute(update(NightlyRun).where(NightlyRun.id == due).values(state=DONE))
    assert begin_run(connection, other), "what has begun is of another schedule"
    assert [nightly_run for nightly_run, *_ in steps(connection)] == [due, later]


MOVES: dict[str, tuple[Any, NightlyRunState, dict[str, Any], bool]] = {
    "begin_scoring": (lambda *nightly_run: begin_scoring(*nightly_run, []), FETCHING, {"state": SCORING}, False),
    "begin_judging": (begin_judging, SCORING, {"state": JUDGING}, True),
    "await": (lambda *nightly_run: await_comparisons(*nightly_run, [3, 4]), JUDGING, {"comparisons": [3, 4]}, True),
    "finish": (
        lambda *nightly_run: finish_run(*nightly_run, {"a": 1}, regressed=True),
        JUDGING,
        {"state": DONE, "reason": None, "verdict": {"a": 1}, "regressed": True},
        False,
    ),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("state", NightlyRunState)
def test_a_run_moves_on_from_one_state(connection: Connection, move: str, state: NightlyRunState) -> None:
    """Where there is something to do then, a step says so."""
    do, only, expected, step = MOVES[move]
    key, other = (add(connection, state, schedule=2, reason="before") for _ in range(2))
    before = rows(connection)
    assert do(connection, key) == (state == only)
    found = changed(before, rows(connection))
    if state != only:
        assert found == {}
        assert steps(connection) == []
        return
    assert found.keys() == {key} != {other}
    if move == "finish":
        assert soon(connection, found[key].pop("finished_at"))
    assert found[key] == expected
    assert steps(connection) == ([(key, "pending", "two", 2)] if step else [])


@pytest.mark.parametrize("state", NightlyRunState)
def test_a_run_is_failed_in_the_state_in_which_it_was_seen(connection: Connection, state: NightlyRunState) -> None:
    """And who works on it does so in vain."""
    key, other = (add(connection, state) for _ in range(2))
    for each in (key, other):
        for lease in LeaseState:
            connection.execute(insert(NightlyRunStep).values(nightly_run_id=each, state=lease, owner="mine"))
    before = rows(connection)
    assert fail_run(connection, key, FETCHING, "It rained.") == (state == FETCHING)
    found = changed(before, rows(connection))
    assert found.keys() == ({key} if state == FETCHING else set())
    open_steps = {"pending", "enqueued", "running"}
    expected = {"cancelled" if state == FETCHING and each in open_steps else each: None for each in LeaseState}
    assert {lease for nightly_run, lease, *_ in steps(connection) if nightly_run == key} == set(expected)
    assert [lease for nightly_run, lease, *_ in steps(connection) if nightly_run == other] == list(LeaseState)
    if state == FETCHING:
        row = rows(connection)[key]
        assert (row["state"], row["reason"]) == (FAILED, "It rained.")
        assert soon(connection, row["finished_at"])


def test_a_webhook_is_called_once_for_a_run_that_ends(connection: Connection) -> None:
    with_webhook, without = (add(connection, JUDGING, schedule=schedule) for schedule in (1, 2))
    for key in (with_webhook, without):
        assert finish_run(connection, key, {}, regressed=False)
        assert not finish_run(connection, key, {}, regressed=False)
    rows_of = select(Delivery.nightly_run_id, Delivery.team, Delivery.queue_class, Delivery.state)
    assert connection.execute(rows_of).all() == [(with_webhook, "one", 2, "pending")]


def test_runs_of_a_schedule_that_have_not_begun_are_dropped(connection: Connection) -> None:
    keys = {state: add(connection, state) for state in NightlyRunState}
    add(connection, DUE, schedule=2)
    before = rows(connection)
    cancel_due_runs(connection, 1, "It was removed.")
    found = changed(before, rows(connection))
    assert soon(connection, found[keys[DUE]].pop("finished_at"))
    assert found == {keys[DUE]: {"state": MISSED, "reason": "It was removed."}}
    assert connection.scalars(select(Schedule.id).order_by(Schedule.id)).all() == [1, 2]
