"""The state machine of nights, step by step: who may do what, and what becomes of the row and of all others."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, update

from models.database.session import make_engine, writing
from models.nightly.claims import (
    OpenNight,
    PlannedNight,
    add_manual_night,
    begin_judging,
    begin_scoring,
    claim_night,
    drop_due_nights,
    fail_night,
    finish_night,
    open_nights,
    plan_nights,
    put_back_night,
    renew,
    wait_for_comparisons,
)
from models.schema.base import now
from models.schema.campaigns import Campaign
from models.schema.nightly import Delivery, Night, Schedule
from models.schema.states import NightState
from tests.analysis.nights import add_schedule

DUE, FETCHING, SCORING, JUDGING, DONE, FAILED, MISSED = NightState
HELD = (FETCHING, JUDGING)
FREE = {"owner": None, "worker": None, "lease_until": None}
Rows = dict[int, dict[str, Any]]


@pytest.fixture
def connection(sqlite_url: str) -> Iterator[Connection]:
    """A transaction on a database with two schedules, of which the first has a webhook, and no night."""
    engine = make_engine(sqlite_url)
    with writing(engine) as connection:
        campaign = connection.execute(insert(Campaign).values(name="gate").returning(Campaign.id)).scalar_one()
    for name in ("one", "two"):
        add_schedule(engine, campaign, name=name, webhook="https://x" if name == "one" else None, team=name)
    with writing(engine) as connection:
        yield connection
    engine.dispose()


def add(connection: Connection, state: NightState = DUE, schedule: int = 1, **values: Any) -> int:
    """A night in some state, as it comes about; held by "mine" where nights are held in it."""
    row = {"schedule_id": schedule, "date": "2026-03-02", "state": state, **values}
    if "due_at" not in row:
        row["due_at"] = float(len(rows(connection)))
    if state in HELD:
        row = {"owner": "mine", "worker": "w", "lease_until": now() + 60, "attempts": 2, **row}
    return connection.execute(insert(Night).values(**row).returning(Night.id)).scalar_one()


def rows(connection: Connection) -> Rows:
    return {row.id: dict(row._mapping) for row in connection.execute(select(Night).order_by(Night.id))}


def changed(before: Rows, after: Rows) -> Rows:
    """What is other than before: night -> column -> value; and every column of those that are new."""
    found = {key: {name: value for name, value in row.items() if value != before.get(key, {}).get(name)}
             for key, row in after.items()}  # fmt: skip
    assert before.keys() <= after.keys()
    return {key: values for key, values in found.items() if values}


def soon(connection: Connection, moment: float | None, seconds: float = 0.0) -> bool:
    """Whether a moment is about so many seconds from now."""
    return moment is not None and abs(moment - connection.execute(select(now())).scalar_one() - seconds) < 30


def opened(connection: Connection, only: int | None = None) -> list[int]:
    return [night.id for night in open_nights(connection, only)]


def seen(connection: Connection, key: int) -> OpenNight:
    row = connection.execute(select(Night).where(Night.id == key)).one()
    return OpenNight(row.id, row.schedule_id, NightState(row.state), row.attempts, None)


def test_of_those_that_wait_the_last_planned_is_worth_it(connection: Connection) -> None:
    kept = [
        add(connection, DUE, due_at=5.0, manual=True),
        add(connection, DUE, schedule=2, due_at=5.0),
        *(add(connection, state, due_at=10.0 + number) for number, state in enumerate((SCORING, DONE, FAILED))),
        add(connection, DUE, due_at=40.0),
    ]
    overdue = add(connection, DUE, due_at=6.0)
    before = rows(connection)
    plan_nights(connection, 1, [], 50.0)
    assert changed(before, rows(connection)) == {}
    nights = [
        PlannedNight(20.0, "2026-03-20", missed="Nobody ran."),
        PlannedNight(30.0, "2026-03-30", caught_up=True),
        # Another scheduler has planned it.
        PlannedNight(40.0, "2026-03-31", missed="not any more"),
    ]
    plan_nights(connection, 1, nights, 50.0)
    found = changed(before, rows(connection))
    assert not found.keys() & {*kept}
    assert soon(connection, found[overdue].pop("finished_at"))
    assert found.pop(overdue) == {"state": MISSED, "reason": "It had not begun when the next night was due."}
    columns = ("schedule_id", "due_at", "date", "state", "reason", "caught_up", "finished_at")
    assert [tuple(row.get(name) for name in columns) for row in found.values()] == [
        (1, 20.0, "2026-03-20", MISSED, "Nobody ran.", False, 50.0),
        (1, 30.0, "2026-03-30", DUE, None, True, None),
    ]


def test_a_night_by_hand_takes_the_next_free_second(connection: Connection) -> None:
    for due_at in (7.0, 8.0):
        add(connection, due_at=due_at)
    add(connection, schedule=2, due_at=9.0)
    key = add_manual_night(connection, 1, 7.0, "2026-03-05")
    row = rows(connection)[key]
    assert (row["due_at"], row["date"], row["manual"], row["state"]) == (9.0, "2026-03-05", True, DUE)


def test_nights_that_can_be_gone_on_with(connection: Connection) -> None:
    """Of a schedule one at a time; what is held, or waits for its next try, is left alone."""
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
        for values in ({"owner": None}, {"lease_until": now() - 1}, {"lease_until": now() + 4000}):
            held = {"owner": "x", "lease_until": now() + 60, **values}
            connection.execute(update(Night).where(Night.id == begun).values(**held))
            assert opened(connection) == [waiting[0], by_hand, begun]
        for delay, there in ((100, []), (4000, [begun]), (-1, [begun])):
            connection.execute(update(Night).where(Night.id == begun).values(not_before=now() + delay))
            assert opened(connection)[2:] == there
        connection.execute(update(Night).where(Night.schedule_id == 2).values(state=DONE))
    connection.execute(update(Night).where(Night.id == by_hand).values(comparisons=[4, 5], attempts=1))
    assert open_nights(connection)[1] == OpenNight(by_hand, 1, DUE, 1, (4, 5))


def test_who_claims_a_night_begins_it(connection: Connection) -> None:
    due, later = add(connection, DUE), add(connection, DUE)
    elsewhere = add(connection, SCORING, schedule=2)
    before = rows(connection)
    night, other = seen(connection, due), seen(connection, later)
    assert claim_night(connection, night, "me", "w", 100.0)
    found = changed(before, rows(connection))[due]
    assert soon(connection, found.pop("started_at"))
    assert soon(connection, found.pop("lease_until"), 100)
    assert found == {"owner": "me", "worker": "w", "attempts": 1, "state": FETCHING}
    before = rows(connection)
    assert not claim_night(connection, night, "you", "w", 100.0), "it is not due any more"
    assert not claim_night(connection, seen(connection, due), "you", "w", 100.0), "it is held"
    assert not claim_night(connection, other, "you", "w", 100.0), "one of the schedule has begun"
    assert changed(before, rows(connection)) == {}
    for values in ({"owner": None}, {"lease_until": now() - 1}, {"lease_until": now() + 4000}):
        connection.execute(update(Night).where(Night.id == due).values(**values))
        started = rows(connection)[due]["started_at"]
        assert claim_night(connection, seen(connection, due), "you", "v", 100.0)
        row = rows(connection)[due]
        assert (row["owner"], row["worker"], row["state"], row["started_at"]) == ("you", "v", FETCHING, started)
    assert row["attempts"] == 4
    connection.execute(update(Night).where(Night.id == due).values(state=DONE))
    assert claim_night(connection, other, "me", "w", 100.0), "what has begun is of another schedule"
    assert rows(connection)[elsewhere]["owner"] is None


STEPS: dict[str, tuple[Any, tuple[NightState, ...], dict[str, Any]]] = {
    "renew": (lambda *held: renew(*held, 900.0), tuple(NightState), {}),
    "begin_scoring": (begin_scoring, (FETCHING,), {**FREE, "state": SCORING, "attempts": 0, "reason": None}),
    "wait": (
        lambda *held: wait_for_comparisons(*held, [3, 4]),
        (JUDGING,),
        {**FREE, "comparisons": [3, 4], "attempts": 1},
    ),
    "put_back": (lambda *held: put_back_night(*held, "no", 500.0), tuple(NightState), {**FREE, "reason": "no"}),
    "hand_back": (
        lambda *held: put_back_night(*held, None, 500.0, used=False),
        tuple(NightState),
        {**FREE, "reason": None, "attempts": 1},
    ),
    "finish": (
        lambda *held: finish_night(*held, {"a": 1}, regressed=True),
        (JUDGING,),
        {**FREE, "state": DONE, "reason": None, "verdict": {"a": 1}, "regressed": True},
    ),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("state", NightState)
def test_only_its_holder_goes_on_with_a_night(connection: Connection, step: str, state: NightState) -> None:
    do, states, expected = STEPS[step]
    held = {"owner": "mine", "worker": "w", "lease_until": now() + 60, "attempts": 2, "reason": "before"}
    key, other = (add(connection, state, **held) for _ in range(2))
    before = rows(connection)
    assert not do(connection, key, "stale")
    assert changed(before, rows(connection)) == {}
    assert do(connection, key, "mine") == (state in states)
    found = changed(before, rows(connection))
    if state not in states:
        assert found == {}
        return
    assert found.keys() == {key} != {other}
    if step == "renew":
        assert soon(connection, found[key].pop("lease_until"), 900)
    if "back" in step:
        assert soon(connection, found[key].pop("not_before"), 500)
    if step == "finish":
        assert soon(connection, found[key].pop("finished_at"))
    assert found[key] == {name: value for name, value in expected.items() if value != before[key][name]}


@pytest.mark.parametrize("state", NightState)
def test_who_sees_the_scores_lets_a_night_be_judged(connection: Connection, state: NightState) -> None:
    key, _ = (add(connection, state, owner="x", attempts=3) for _ in range(2))
    before = rows(connection)
    assert begin_judging(connection, key) == (state == SCORING)
    judged = {"owner": None, "state": JUDGING, "attempts": 0}
    assert changed(before, rows(connection)) == ({key: judged} if state == SCORING else {})


@pytest.mark.parametrize(
    ("owner", "values", "fails"),
    [
        ("mine", {}, True),
        ("stale", {}, False),
        ("mine", {"state": JUDGING}, False),
        (None, {}, False),
        (None, {"owner": None}, True),
        (None, {"lease_until": 5.0}, True),
        (None, {"owner": None, "state": JUDGING}, False),
    ],
)
def test_a_night_is_failed_by_its_holder_or_when_nobody_holds_it(
    connection: Connection, owner: str | None, values: dict[str, Any], fails: bool
) -> None:
    held = {"owner": "mine", "lease_until": now() + 60, **values}
    state = held.pop("state", FETCHING)
    key, _ = (add(connection, state, **held) for _ in range(2))
    before = rows(connection)
    assert fail_night(connection, key, FETCHING, owner, "It rained.") == fails
    found = changed(before, rows(connection))
    assert found.keys() == ({key} if fails else set())
    if fails:
        row = rows(connection)[key]
        assert (row["state"], row["reason"], row["owner"], row["lease_until"]) == (FAILED, "It rained.", None, None)
        assert soon(connection, row["finished_at"])


def test_whoever_wants_to_be_told_is_told_once_of_a_night_that_ends(connection: Connection) -> None:
    told, untold = (add(connection, JUDGING, schedule=schedule) for schedule in (1, 2))
    assert not finish_night(connection, told, "stale", {}, regressed=False)
    assert connection.execute(select(Delivery.id)).all() == []
    for key in (told, untold):
        assert finish_night(connection, key, "mine", {}, regressed=False)
        assert not finish_night(connection, key, "mine", {}, regressed=False)
    rows_of = select(Delivery.night_id, Delivery.team, Delivery.queue_class, Delivery.state)
    assert connection.execute(rows_of).all() == [(told, "one", 2, "pending")]


def test_nights_of_a_schedule_that_have_not_begun_are_dropped(connection: Connection) -> None:
    keys = {state: add(connection, state) for state in NightState}
    add(connection, DUE, schedule=2)
    before = rows(connection)
    drop_due_nights(connection, 1, "It was removed.")
    found = changed(before, rows(connection))
    assert soon(connection, found[keys[DUE]].pop("finished_at"))
    assert found == {keys[DUE]: {"state": MISSED, "reason": "It was removed."}}
    assert connection.scalars(select(Schedule.id).order_by(Schedule.id)).all() == [1, 2]
