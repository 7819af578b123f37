"""Which learned shard is taken next, by whom, and what its holder alone may write."""

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.learned_queue import (
    next_learned_shard,
    note_missing_models,
    renew_with_progress,
    waiting_specifications,
)
from models.queue_status.learned import read_learned_work
from models.schema.base import now
from models.schema.learned import LearnedShard
from models.schema.queue import Worker
from models.schema.states import LeaseState, QueueClass
from steelyard.metrics.metric import EDITION
from tests.scheduler.jobs import one_block_shards, queue_job

TEAMS = ("", "ants", "bees", "cows")


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    queue_job(engine, one_block_shards(database_url), segments=10, systems=1)
    yield engine
    engine.dispose()


def add(connection: Connection, **values: Any) -> int:
    """A learned shard of the only protocol."""
    row = {
        "protocol_id": 1, "metric": 0, "specification": "comet", "first_block": 0, "last_block": 1, "segments": 10,
        "queue_class": int(QueueClass.CAMPAIGN), **values,
    }  # fmt: skip
    return connection.execute(insert(LearnedShard).values(**row).returning(LearnedShard.id)).scalar_one()


def row_of(connection: Connection, key: int) -> Any:
    return connection.execute(select(LearnedShard, now().label("now")).where(LearnedShard.id == key)).one()


@pytest.mark.parametrize("seed", range(6))
def test_urgent_classes_then_what_completes_a_column_then_due_times_then_teams_in_turn(
    engine: Engine, seed: int
) -> None:
    draw = random.Random(seed)
    # Each question decides often: the classes are few, and most rows equal others in all that comes before.
    classes, dues = draw.sample(list(QueueClass), draw.choice((1, 2, 3))), draw.choice(((None,), (None, 50.0, 9.0)))
    with writing(engine) as connection:
        served = {team: draw.choice((None, 5.0, 10.0, 20.0)) for team in TEAMS}
        for team, moment in served.items():
            for claimed_at in (moment, None if moment is None else moment - 4.5):
                add(connection, team=team, state=LeaseState.DONE, claimed_at=claimed_at, queue_class=0)
        waiting = [
            {
                "team": draw.choice(TEAMS),
                "queue_class": int(draw.choice(classes)),
                "reduces": draw.random() < 0.3,
                "due_at": draw.choice(dues),
            }
            for _ in range(20)
        ]
        keys = {add(connection, **row): row for row in waiting}

    def place(key: int) -> tuple[Any, ...]:
        row = keys[key]
        due, last = row["due_at"], served[row["team"]]
        return (
            row["queue_class"],
            not row["reduces"],
            math.inf if due is None else due,
            -math.inf if last is None else last,
            key,
        )

    found: list[int] = []
    with reading(engine) as connection:
        while (key := next_learned_shard(connection, ["comet"], EDITION, found)) is not None:
            found.append(key)
    assert found == sorted(keys, key=place)


def test_what_may_not_be_begun_is_passed_over(engine: Engine) -> None:
    with writing(engine) as connection:
        for state in set(LeaseState) - {LeaseState.PENDING}:
            add(connection, specification=f"was {state}", state=state)
        later = add(connection, specification="later", not_before=now() + 1000)
        other = add(connection, specification="other edition", edition=EDITION + 1)
        model = add(connection, specification="comet")
        assert waiting_specifications(connection, EDITION) == ["comet"]
        assert waiting_specifications(connection, EDITION + 1) == ["other edition"]
        every = ["comet", "later", "other edition", *(f"was {state}" for state in LeaseState)]
        assert next_learned_shard(connection, every, EDITION) == model
        assert next_learned_shard(connection, every, EDITION, [model]) is None
        assert next_learned_shard(connection, every, EDITION + 1) == other
        connection.execute(update(LearnedShard).where(LearnedShard.id == later).values(not_before=now() - 1))
        assert next_learned_shard(connection, ["later"], EDITION) == later
        assert next_learned_shard(connection, ["comet"], EDITION, [model]) is None


def test_adding_up_needs_no_model(engine: Engine) -> None:
    with writing(engine) as connection:
        add(connection)
        assert next_learned_shard(connection, [], EDITION) is None
        adding = add(connection, reduces=True)
        assert next_learned_shard(connection, [], EDITION) == adding


def test_only_its_holder_extends_a_lease_and_notes_progress(engine: Engine) -> None:
    with writing(engine) as connection:
        held = {"state": LeaseState.RUNNING, "worker": "w", "lease_until": 5.0, "scored": 1}
        mine, other = add(connection, owner="a", **held), add(connection, owner="a", **held)
        assert not renew_with_progress(connection, mine, "b", 60.0, 7, 9)
        assert (row_of(connection, mine).lease_until, row_of(connection, mine).scored) == (5.0, 1)
        assert renew_with_progress(connection, mine, "a", 60.0, 7, 9)
        found = row_of(connection, mine)
        assert (found.scored, found.segments) == (7, 9)
        assert found.lease_until == pytest.approx(found.now + 60, abs=30)
        assert row_of(connection, other).lease_until == 5.0
        connection.execute(update(LearnedShard).values(state=LeaseState.DONE))
        assert not renew_with_progress(connection, mine, "a", 60.0, 8, 9)


def test_a_worker_says_what_it_lacks_of_itself(engine: Engine) -> None:
    row = {"host": "h", "pid": 1, "version": "1", "concurrency": 1, "queue": "learned"}
    with writing(engine) as connection:
        connection.execute(insert(Worker), [{**row, "id": each} for each in ("one", "two")])
        note_missing_models(connection, "one", ["metricx", "comet"])
        found = {row.id: row.lacks for row in connection.execute(select(Worker.id, Worker.lacks))}
    assert found == {"one": ["comet", "metricx"], "two": None}


def test_open_work_and_who_can_do_it(engine: Engine) -> None:
    worker = {"host": "h", "pid": 1, "version": "1", "concurrency": 1}
    with writing(engine) as connection:
        assert read_learned_work(connection, 30.0) == ()
        for number, (queue, lacks, silent) in enumerate(
            [
                ("learned", None, 0),
                ("learned", ["metricx"], 0),
                ("learned", ["comet"], 0),
                ("learned", None, 31),
                ("", None, 0),
            ]
        ):
            row = {**worker, "id": str(number), "queue": queue, "lacks": lacks, "beat_at": now() - silent}
            connection.execute(insert(Worker).values(**row))
        for state, segments, scored in (
            (LeaseState.PENDING, 10, 0),
            (LeaseState.PENDING, 20, 2),
            (LeaseState.RUNNING, 40, 30),
            (LeaseState.DONE, 100, 100),
            (LeaseState.FAILED, 200, 1),
            (LeaseState.CANCELLED, 400, 0),
        ):
            add(connection, specification="comet", state=state, segments=segments, scored=scored)
        add(connection, specification="metricx", segments=5)
        add(connection, specification="yisi", state=LeaseState.DONE)
        found = read_learned_work(connection, 30.0)
    told = [(each.metric, each.waiting, each.running, each.contents, each.scored, each.workers) for each in found]
    assert told == [("comet", 2, 1, 70, 32, 2), ("metricx", 1, 0, 5, 0, 2)]
