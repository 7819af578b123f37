"""Leases: who gets, keeps and loses a row. One table for all states; whatever is not asked for stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, delete, insert, select, update

from models.database.session import make_engine, writing
from models.queue.kinds.shards import SHARD
from models.queue.lease import (
    cancel_idle,
    claim_rows,
    complete_rows,
    end,
    held_by,
    in_flight,
    is_open,
    no_attempt_left,
    owned_by_task,
    pass_on,
    refusals,
    release_worker,
    retry_later,
    retry_unowned,
    unsend,
)
from models.queue.sweep import Expired, count_stale_messages, find_exhausted, find_expired, resend_stale
from models.schema.base import database_time, now
from models.schema.queue import Shard, ShardEvaluation, Worker
from models.schema.states import NOT_YET, LeaseState
from runtime.settings import Settings
from tests.scheduler.jobs import one_block_shards, queue_job

OPEN = (LeaseState.PENDING, LeaseState.ENQUEUED)
Rows = dict[int, dict[str, Any]]


@pytest.fixture
def connection(database_url: str) -> Iterator[Connection]:
    """A transaction on a database with a protocol and no shard."""
    engine: Engine = make_engine(database_url)
    queue_job(engine, one_block_shards(database_url), segments=100, systems=1)
    with writing(engine) as connection:
        connection.execute(delete(ShardEvaluation))
        connection.execute(delete(Shard))
        yield connection
    engine.dispose()


def add(connection: Connection, state: LeaseState = LeaseState.PENDING, **values: Any) -> int:
    """A shard in some state, as it comes about."""
    row = {"protocol_id": 1, "first_block": 0, "last_block": 1, "cost": 1.0, "state": state, "edition": 1}
    if state == LeaseState.ENQUEUED:
        row |= {"enqueued_at": now() - 5}
    if state == LeaseState.RUNNING:
        row |= {"owner": "task:mine", "worker": "w", "lease_until": now() + 60, "attempts": 1, "enqueued_at": now() - 5}
    return connection.execute(insert(Shard).values(**{**row, **values}).returning(Shard.id)).scalar_one()


def rows(connection: Connection) -> Rows:
    return {row.id: dict(row._mapping) for row in connection.execute(select(Shard).order_by(Shard.id))}


def changed(before: Rows, after: Rows) -> dict[int, dict[str, Any]]:
    """What is other than before: row -> column -> value."""
    assert before.keys() == after.keys()
    found = {
        key: {name: value for name, value in row.items() if value != before[key][name]} for key, row in after.items()
    }
    return {key: values for key, values in found.items() if values}


def soon(connection: Connection, moment: float | None, seconds: float = 0.0) -> bool:
    """Whether a moment is about so many seconds from now."""
    return moment is not None and abs(moment - database_time(connection) - seconds) < 30


def claim(connection: Connection, key: int, owner: str = "task:mine", **others: Any) -> bool:
    given = {"worker": "w", "lease_seconds": 1000.0, "max_attempts": 3, **others}
    before = {each: row["attempts"] for each, row in rows(connection).items()}
    taken = claim_rows(connection, Shard, [key], owner=owner, **given)
    after = rows(connection)[key]
    assert all(each.attempts == after["attempts"] >= before[key] for each in taken)
    return [each.id for each in taken] == [key]


def holds(connection: Connection, table: type[Shard], key: int, owner: str) -> bool:
    return connection.execute(select(table.id).where(held_by(table, key, owner))).first() is not None


@pytest.mark.parametrize("state", LeaseState)
def test_what_waits_is_taken_and_nothing_else(connection: Connection, state: LeaseState) -> None:
    ours, other = (add(connection, state, owner="somebody", attempts=1) for _ in range(2))
    before = rows(connection)
    assert claim(connection, ours) == (state in OPEN)
    found = changed(before, rows(connection))
    if state not in OPEN:
        assert found == {}
        return
    assert found.keys() == {ours}
    taken = found[ours]
    assert (taken["state"], taken["attempts"]) == (LeaseState.RUNNING, 2)
    assert (taken["owner"], taken["worker"]) == ("task:mine", "w")
    assert soon(connection, taken["claimed_at"])
    assert soon(connection, taken["lease_until"], 1000)
    assert taken.keys() == {"state", "attempts", "owner", "worker", "claimed_at", "lease_until"}
    assert other in before


@pytest.mark.parametrize(("attempts", "most", "taken"), [(0, 1, True), (1, 1, False), (2, 3, True), (3, 3, False)])
def test_so_many_attempts_are_made(connection: Connection, attempts: int, most: int, taken: bool) -> None:
    key = add(connection, attempts=attempts)
    assert claim(connection, key, max_attempts=most) == taken


@pytest.mark.parametrize("edition", [None, 1])
def test_what_was_tried_too_often_is_not_given_up_by_its_message(connection: Connection, edition: int | None) -> None:
    """Who ends it says why: it does not go back and forth."""
    key = add(connection, LeaseState.ENQUEUED, attempts=3)
    before = rows(connection)
    assert not claim(connection, key, edition=edition)
    assert changed(before, rows(connection)) == {}


@pytest.mark.parametrize("state", OPEN)
@pytest.mark.parametrize(("edition", "taken"), [(None, True), (1, True), (2, False), (0, False)])
def test_of_another_edition_only_the_message_is_given_up(
    connection: Connection, state: LeaseState, edition: int | None, taken: bool
) -> None:
    ours, _ = add(connection, state), add(connection, state)
    before = rows(connection)
    assert claim(connection, ours, edition=edition) == taken
    found = changed(before, rows(connection))
    if not taken:
        given_up = {"state": LeaseState.PENDING, "enqueued_at": None}
        assert found == ({ours: given_up} if state == LeaseState.ENQUEUED else {})


def test_a_claim_that_was_made_is_made_again_by_its_owner_alone(connection: Connection) -> None:
    key = add(connection)
    assert claim(connection, key, "a")
    before = rows(connection)
    assert [claim(connection, key, owner) for owner in ("a", "b")] == [True, False]
    assert changed(before, rows(connection)) == {}
    assert [holds(connection, Shard, each, owner) for each, owner in ((key, "a"), (key, "b"), (key + 1, "a"))] == [
        True,
        False,
        False,
    ]
    # What is in flight already for the edition of another is not touched, whoever asks.
    assert not claim(connection, key, "b", edition=2)
    assert changed(before, rows(connection)) == {}


@pytest.mark.parametrize("state", LeaseState)
@pytest.mark.parametrize("owner", ["task:mine", "task:stale"])
def test_only_its_owner_finishes_what_runs(connection: Connection, state: LeaseState, owner: str) -> None:
    held = {"owner": "task:mine", "lease_until": now() + 60, "error": "before"}
    ours, _ = (add(connection, state, **held) for _ in range(2))
    before = rows(connection)
    finished = complete_rows(connection, Shard, {ours: {"kernel_seconds": 1.5}}, owner) == {ours}
    found = changed(before, rows(connection))
    assert finished == (state == LeaseState.RUNNING and owner == "task:mine")
    if not finished:
        assert found == {}
        return
    assert found.keys() == {ours}
    assert soon(connection, found[ours].pop("ended_at"))
    assert found[ours] == {
        "state": LeaseState.DONE,
        "owner": None,
        "lease_until": None,
        "error": None,
        "kernel_seconds": 1.5,
    }
    assert not complete_rows(connection, Shard, {ours: {}}, owner), "once"


@pytest.mark.parametrize(("used", "attempts"), [(True, 2), (False, 1)])
def test_a_released_task_waits_for_its_time(connection: Connection, used: bool, attempts: int) -> None:
    ours, _ = (add(connection, LeaseState.RUNNING, attempts=2) for _ in range(2))
    before = rows(connection)
    retry_later(connection, Shard, ours, reason="it broke", delay_seconds=500.0, used=used)
    found = changed(before, rows(connection))
    assert found.keys() == {ours}
    assert rows(connection)[ours]["attempts"] == attempts
    assert soon(connection, found[ours].pop("not_before"), 500)
    found[ours].pop("attempts", None)
    assert found[ours] == {
        "state": LeaseState.PENDING,
        "enqueued_at": None,
        "owner": None,
        "lease_until": None,
        "error": "it broke",
    }


def test_what_is_closed_ends_with_its_reason(connection: Connection) -> None:
    one, two, _ = (add(connection, LeaseState.RUNNING) for _ in range(3))
    before = rows(connection)
    end(connection, Shard, [one, two], LeaseState.FAILED, "no")
    found = changed(before, rows(connection))
    assert found.keys() == {one, two}
    for values in found.values():
        assert soon(connection, values.pop("ended_at"))
        assert values == {"state": LeaseState.FAILED, "owner": None, "lease_until": None, "error": "no"}


def test_of_the_rows_named_those_that_were_sent_are_withdrawn(connection: Connection) -> None:
    keys = [add(connection, state) for state in LeaseState]
    sent, second, unnamed = (add(connection, LeaseState.ENQUEUED, team=team) for team in ("a", "b", "a"))
    before = rows(connection)
    assert unsend(connection, Shard, [*keys, sent, second], Shard.team != "b") == 2
    given_up = {"state": LeaseState.PENDING, "enqueued_at": None}
    enqueued = keys[list(LeaseState).index(LeaseState.ENQUEUED)]
    assert changed(before, rows(connection)) == {enqueued: given_up, sent: given_up}
    assert unnamed in before


@pytest.mark.parametrize("state", LeaseState)
def test_what_runs_is_handed_on_by_its_owner_without_an_attempt(connection: Connection, state: LeaseState) -> None:
    held = {"owner": "task:mine", "attempts": 2, "refused_by": ["old"]}
    ours, _ = (add(connection, state, **held) for _ in range(2))
    before = rows(connection)
    assert not pass_on(connection, Shard, ours, "task:stale", "why", 500.0, {"b", "a"})
    assert refusals(connection, Shard, ours, "task:stale") == set()
    assert changed(before, rows(connection)) == {}
    runs = state == LeaseState.RUNNING
    assert refusals(connection, Shard, ours, "task:mine") == ({"old"} if runs else set())
    assert pass_on(connection, Shard, ours, "task:mine", "why", 500.0, {"b", "a"}) == runs
    found = changed(before, rows(connection))
    assert found.keys() == ({ours} if runs else set())
    if runs:
        after = rows(connection)[ours]
        assert (after["state"], after["attempts"], after["error"]) == (LeaseState.PENDING, 1, "why")
        assert (after["owner"], after["refused_by"]) == (None, ["a", "b"])
        assert soon(connection, after["not_before"], 500)


def test_a_worker_that_stops_hands_back_what_it_runs_and_no_more(connection: Connection) -> None:
    mine = [add(connection, state, worker="w", attempts=2, owner="o") for state in LeaseState]
    theirs = add(connection, LeaseState.RUNNING, worker="v", attempts=2)
    before = rows(connection)
    assert release_worker(connection, Shard, "w") == 1
    running = mine[list(LeaseState).index(LeaseState.RUNNING)]
    found = changed(before, rows(connection))
    assert found.keys() == {running}
    assert soon(connection, found[running].pop("not_before"))
    assert found[running] == {
        "state": LeaseState.PENDING,
        "attempts": 1,
        "enqueued_at": None,
        "owner": None,
        "lease_until": None,
    }
    assert theirs in before


@pytest.mark.parametrize("state", LeaseState)
def test_what_nobody_needs_is_cancelled_while_it_waits(connection: Connection, state: LeaseState) -> None:
    held = {"owner": "o", "lease_until": now() + 60}
    ours, _ = (add(connection, state, team=team, **held) for team in ("a", "b"))
    before = rows(connection)
    cancel_idle(connection, Shard, Shard.team == "a")
    found = changed(before, rows(connection))
    assert found.keys() == ({ours} if state in OPEN else set())
    for values in found.values():
        assert soon(connection, values.pop("ended_at"))
        assert values == {"state": LeaseState.CANCELLED, "owner": None, "lease_until": None}


@pytest.mark.parametrize("state", LeaseState)
@pytest.mark.parametrize(
    ("worker", "lease", "said"),
    [
        ("beats", 60.0, None),
        ("beats", -1.0, "worker beats exceeded its lease"),
        ("silent", 60.0, "worker silent stopped responding"),
        ("silent", -1.0, "worker silent exceeded its lease"),
        ("gone", 60.0, "worker gone stopped responding"),
    ],
)
def test_what_is_lost(connection: Connection, state: LeaseState, worker: str, lease: float, said: str | None) -> None:
    for name, seconds in (("beats", 5.0), ("silent", 50.0)):
        row = {"id": name, "host": "h", "pid": 1, "version": "1", "concurrency": 1, "beat_at": now() - seconds}
        connection.execute(insert(Worker).values(**row))
    held = {"worker": worker, "lease_until": now() + lease}
    keys = [add(connection, state, **held, owner="o") for _ in range(2)]
    # Nobody can be asked to release it: `retry_unowned` sees to it.
    add(connection, state, **held, owner=None)
    expected = [Expired(SHARD, key, "o", said) for key in keys] if said and state == LeaseState.RUNNING else []
    assert find_expired(connection, 30.0) == expected


STUCK = [
    *((LeaseState.RUNNING, {name: None}) for name in ("owner", "lease_until")),
    (LeaseState.ENQUEUED, {"enqueued_at": None}),
    (LeaseState.PENDING, {"not_before": now() + 130}),
]
WELL = [
    *((state, {}) for state in LeaseState),
    *((state, {"owner": None, "lease_until": None}) for state in LeaseState if state != LeaseState.RUNNING),
    *((state, {"enqueued_at": None}) for state in LeaseState if state != LeaseState.ENQUEUED),
    *((state, {"not_before": now() + 130}) for state in LeaseState if state != LeaseState.PENDING),
    (LeaseState.PENDING, {"not_before": now() + 70}),
    (LeaseState.PENDING, {"not_before": NOT_YET}),
]


def test_stuck_tasks_return_to_pending_and_nothing_else(connection: Connection) -> None:
    stuck, well = ([add(connection, state, **values) for state, values in each] for each in (STUCK, WELL))
    before = rows(connection)
    assert retry_unowned(connection, Shard, 100.0) == len(stuck)
    after = rows(connection)
    assert changed(before, after).keys() == set(stuck)
    assert well
    for key in stuck:
        row = after[key]
        assert (row["state"], row["owner"]) == (LeaseState.PENDING, None)
        assert (row["lease_until"], row["enqueued_at"]) == (None, None)
        assert soon(connection, row["not_before"])
    assert retry_unowned(connection, Shard, 100.0) == 0


def test_hints_that_were_not_heeded_are_forgotten(connection: Connection) -> None:
    values = {"queue_class": 1, "edition": 1, "enqueued_at": now() - 100}
    old = add(connection, LeaseState.ENQUEUED, **values)
    young = add(connection, LeaseState.ENQUEUED, **{**values, "enqueued_at": now() - 5})
    other_class = add(connection, LeaseState.ENQUEUED, **{**values, "queue_class": 2})
    other_edition = add(connection, LeaseState.ENQUEUED, **{**values, "edition": 2})
    taken = add(connection, LeaseState.RUNNING, **values)
    before = rows(connection)
    assert count_stale_messages(connection, 50.0, 1) == {1: 1, 2: 1}
    assert count_stale_messages(connection, 50.0, 2) == {1: 1}
    assert count_stale_messages(connection, 1.0, 1) == {1: 2, 2: 1}
    assert resend_stale(connection, 200.0) == 0
    given_up = {"state": LeaseState.PENDING, "enqueued_at": None}
    assert resend_stale(connection, 50.0, classes=[1], edition=1) == 1
    assert changed(before, rows(connection)) == {old: given_up}
    assert resend_stale(connection, 50.0, classes=[1]) == 1
    assert changed(before, rows(connection)) == {old: given_up, other_edition: given_up}
    assert resend_stale(connection, 50.0) == 1
    assert changed(before, rows(connection)) == {old: given_up, other_edition: given_up, other_class: given_up}
    assert resend_stale(connection, 50.0) == 0
    assert {young, taken} <= before.keys()


def test_who_holds_what(connection: Connection) -> None:
    keys = {state: add(connection, state) for state in LeaseState}
    first, second, like = (add(connection, LeaseState.RUNNING, owner=owner) for owner in ("t_1:a", "t_1:b", "tx1:c"))
    add(connection, LeaseState.DONE, owner="t_1:d")
    assert sorted(owned_by_task(connection, Shard, "t_1")) == [(first, "t_1:a"), (second, "t_1:b")]
    assert owned_by_task(connection, Shard, "t_") == []
    assert in_flight(connection, Shard) == [
        (keys[LeaseState.ENQUEUED], LeaseState.ENQUEUED),
        (keys[LeaseState.RUNNING], LeaseState.RUNNING),
        *((key, LeaseState.RUNNING) for key in (first, second, like)),
    ]


def test_what_waits_without_an_attempt_left(connection: Connection) -> None:
    rows_of = {state: [add(connection, state, attempts=each) for each in (0, 2, 3, 4)] for state in LeaseState}
    spent = sorted(key for state, keys in rows_of.items() if state in OPEN for key in keys[2:])
    assert find_exhausted(connection, Settings(max_attempts=3)) == [(SHARD, key) for key in spent]
    connection.execute(update(Shard).values(attempts=0))
    assert find_exhausted(connection, Settings(max_attempts=1)) == []


def test_what_is_open(connection: Connection) -> None:
    keys = {state: add(connection, state) for state in LeaseState}
    found = connection.scalars(select(Shard.id).where(is_open(Shard)).order_by(Shard.id))
    assert list(found) == [keys[each] for each in (*OPEN, LeaseState.RUNNING)]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (None, "No further attempt is allowed: MAX is 3."),
        ("", "No further attempt is allowed: MAX is 3."),
        ("It broke.", "It broke. No further attempt is allowed: MAX is 3."),
        ("It broke", "It broke. No further attempt is allowed: MAX is 3."),
    ],
)
def test_why_a_row_ends_that_may_not_be_tried_again(error: str | None, said: str) -> None:
    assert no_attempt_left(error, "MAX", 3) == said
