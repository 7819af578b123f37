"""What waits and what is in flight, row by row."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, select, update

from models.database.session import make_engine, writing
from models.queue.kinds.comparisons import TRIALS, start_comparison
from models.queue.kinds.shards import SHARD
from models.results.randomizations import RandomizationPlan
from models.schema.base import now
from models.schema.queue import CorpusCount, CorpusStatistics, Leased, ProtocolStatistics, Shard, Trials
from models.schema.states import LeaseState, QueueClass
from runtime.settings import Settings
from scheduler.fair_share import InFlight
from scheduler.queue_queries import keys_by_kind, read_in_flight, read_waiting, read_waiting_keys, urgent_class
from steelyard.metrics.metric import EDITION
from tests.scheduler.jobs import one_block_shards, queue_job

INTERACTIVE, CAMPAIGN, NIGHTLY = (int(each) for each in QueueClass)
SETTINGS = Settings(shortest_shard_seconds=3.0, shard_seconds=10.0, urgent_seconds=0.0)
ROWS: dict[type[Leased], dict[str, Any]] = {
    CorpusCount: {"corpus_statistics_id": 1, "first_block": 0, "last_block": 1},
    Shard: {"protocol_id": 1, "first_block": 0, "last_block": 1, "cost": 7.0},
    Trials: {"comparison_id": 1, "first_trial": 0, "last_trial": 9},
}


@pytest.fixture
def connection(database_url: str) -> Iterator[Connection]:
    """A transaction on a database with a protocol, a state that is prepared and a comparison, and no work."""
    engine = make_engine(database_url)
    queue_job(engine, one_block_shards(database_url), segments=10, systems=1, metrics=["nist"])
    with writing(engine) as connection:
        start_comparison(
            connection, RandomizationPlan(1, (), (), 9, 1), [(0, 9)], queue_class=0, team="", edition=EDITION
        )
        for table in ROWS:
            connection.execute(delete(table))
        connection.execute(update(CorpusStatistics).values(blob=b"state"))
        yield connection
    engine.dispose()


def add(connection: Connection, table: type[Leased], **values: Any) -> int:
    row = {"state": LeaseState.PENDING, "queue_class": CAMPAIGN, "team": "a", **ROWS[table], **values}
    return connection.execute(insert(table).values(**row).returning(table.id)).scalar_one()


def test_what_is_in_flight_is_sent_or_runs_and_of_the_edition(connection: Connection) -> None:
    for table in ROWS:
        for state in LeaseState:
            add(connection, table, state=state)
        for team, queue_class in (("b", NIGHTLY), ("c", CAMPAIGN)):
            add(connection, table, state=LeaseState.RUNNING, team=team, queue_class=queue_class)
        add(connection, table, state=LeaseState.RUNNING, team="other", edition=EDITION + 1)
    held, keys = read_in_flight(connection, SETTINGS, EDITION)
    assert held == InFlight(tasks=12, seconds=4 * (3.0 + 5.0 + 7.0))
    assert keys == {(CAMPAIGN, "a"), (NIGHTLY, "b"), (CAMPAIGN, "c")}
    assert read_in_flight(connection, SETTINGS, EDITION + 2) == (InFlight(0, 0), set())


def test_fair_share_keys_are_found_where_something_waits(connection: Connection) -> None:
    expected = set()
    for table in ROWS:
        for state in LeaseState:
            add(connection, table, state=state, team=state)
        expected.add((table, (CAMPAIGN, "pending")))
    for queue_class in (INTERACTIVE, NIGHTLY):
        for team in ("", "a", "b", "c"):
            add(connection, Shard, queue_class=queue_class, team=team)
            add(connection, Shard, queue_class=queue_class, team=team)
            expected.add((Shard, (queue_class, team)))
    found = [(kind.table, turn) for kind, turn in read_waiting_keys(connection)]
    assert (set(found), len(found)) == (expected, len(expected))


def waiting(connection: Connection, most: int = 99, urgent_seconds: float = 0.0) -> dict[Any, list[tuple[Any, int]]]:
    found = read_waiting(
        connection,
        read_waiting_keys(connection),
        most,
        SETTINGS.model_copy(update={"urgent_seconds": urgent_seconds}),
        EDITION,
    )
    return {turn: [(each.kind.table, each.key) for each in rows] for turn, rows in found.items()}


def test_what_may_be_sent_comes_in_its_order(connection: Connection) -> None:
    """The earliest due first, then what is due at no time; counts first of those alike, then the oldest."""
    undated, late, soon = (
        {table: add(connection, table, due_at=due) for table in (Trials, Shard, CorpusCount)}
        for due in (None, 9e9, 8e9)
    )
    second = add(connection, Shard)
    other = add(connection, Shard, team="b")
    for table in ROWS:
        add(connection, table, not_before=now() + 1000)
        add(connection, table, edition=EDITION + 1)
        add(connection, table, state=LeaseState.ENQUEUED)
    in_order = [(table, each[table]) for each in (soon, late, undated) for table in ROWS]
    in_order.insert(-1, (Shard, second))
    assert waiting(connection) == {(CAMPAIGN, "a"): in_order, (CAMPAIGN, "b"): [(Shard, other)]}
    # So many of each table.
    assert waiting(connection, 1)[CAMPAIGN, "a"] == in_order[:3]
    seconds = [
        row.seconds
        for row in read_waiting(connection, read_waiting_keys(connection), 1, SETTINGS, EDITION)[CAMPAIGN, "a"]
    ]
    assert seconds == [3.0, 7.0, 5.0]


def test_what_is_not_prepared_waits_whatever_its_time_says(connection: Connection) -> None:
    """Programs of the release before say nothing of it."""
    key = add(connection, Shard)
    assert connection.scalars(select(ProtocolStatistics.protocol_id)).all() == [1]
    for blob, edition, found in ((None, EDITION, []), (None, EDITION + 1, [key]), (b"", EDITION, [key])):
        connection.execute(update(CorpusStatistics).values(blob=blob, edition=edition))
        assert waiting(connection) == ({(CAMPAIGN, "a"): [(Shard, key)]} if found else {})


@pytest.mark.parametrize(
    ("queue_class", "seconds", "expected"),
    [
        (INTERACTIVE, 50, INTERACTIVE),
        (CAMPAIGN, 50, INTERACTIVE),
        (NIGHTLY, 50, CAMPAIGN),
        (NIGHTLY, -50, CAMPAIGN),
        (CAMPAIGN, 150, CAMPAIGN),
        (NIGHTLY, None, NIGHTLY),
    ],
)
def test_what_is_due_soon_goes_up_a_class(
    connection: Connection, queue_class: int, seconds: float | None, expected: int
) -> None:
    key = add(connection, Shard, queue_class=queue_class, due_at=None if seconds is None else now() + seconds)
    assert connection.scalar(select(urgent_class(Shard, 100.0))) == expected
    assert waiting(connection, urgent_seconds=100.0) == {(expected, "a"): [(Shard, key)]}


def test_keys_by_kind() -> None:
    assert keys_by_kind([(SHARD, 2), (TRIALS, 1), (SHARD, 1)]) == {SHARD: [2, 1], TRIALS: [1]}
