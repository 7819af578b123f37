"""The throughput of the last minute, and what is left, against rows that were put there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Engine, delete, select, update

from models.database.session import make_engine, reading, writing
from models.queue_status import throughput
from models.queue_status.throughput import estimate_seconds_left, measured_ratio, read_throughput
from models.schema.base import BLOCK_SEGMENTS, now
from models.schema.corpus import TestSet
from models.schema.queue import Shard, ShardEvaluation
from tests.scheduler.jobs import one_block_shards, queue_job

SEGMENTS = 2 * BLOCK_SEGMENTS + 10
"""Three blocks, the last one short."""


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    """Two systems, three shards of one block."""
    engine = make_engine(sqlite_url)
    queue_job(engine, one_block_shards(sqlite_url), segments=SEGMENTS, systems=2)
    return engine


def set_shards(engine: Engine, rows: Sequence[dict[str, Any]]) -> None:
    """Give the shards these values, by number; those without any are gone."""
    with writing(engine) as connection:
        keys = list(connection.scalars(select(Shard.id).order_by(Shard.first_block)))
        for key, row in zip(keys, rows, strict=False):
            connection.execute(update(Shard).where(Shard.id == key).values(**row))
        connection.execute(delete(ShardEvaluation).where(ShardEvaluation.shard_id.in_(keys[len(rows) :])))
        connection.execute(delete(Shard).where(Shard.id.in_(keys[len(rows) :])))


def done(ago: float, seconds: float = 0.0, cost: float = 1.0, **more: Any) -> dict[str, Any]:
    return {"state": "done", "ended_at": now() - ago, "claimed_at": now() - ago - seconds, "cost": cost, **more}


def running(seconds: float, cost: float) -> dict[str, Any]:
    return {"state": "running", "claimed_at": now() - seconds, "cost": cost}


def pending(cost: float) -> dict[str, Any]:
    return {"state": "pending", "cost": cost}


def left(engine: Engine, processes: int, *, other_work: bool = False) -> float | None:
    with reading(engine) as connection:
        return estimate_seconds_left(connection, processes, other_work)


@pytest.mark.parametrize(
    ("rows", "shards", "segments"),
    [
        ([done(1), done(50), done(59)], 3, SEGMENTS),
        ([done(1), done(70), done(59)], 2, BLOCK_SEGMENTS + 10),
        ([done(1), done(70), done(70)], 1, BLOCK_SEGMENTS),
        ([done(70), done(70), done(1)], 1, 10),
        ([{**done(1), "state": "cancelled"}, {**done(1), "state": "failed"}, done(100)], 0, 0),
    ],
)
def test_the_last_minute(engine: Engine, rows: list[dict[str, Any]], shards: int, segments: int) -> None:
    set_shards(engine, rows)
    with reading(engine) as connection:
        found = read_throughput(connection)
    assert (found.shards, found.hypotheses) == (shards, 2 * segments)


def test_a_shard_whose_evaluations_are_gone_measured_nothing_that_counts(engine: Engine) -> None:
    set_shards(engine, [done(1), done(1), done(1)])
    with writing(engine) as connection:
        connection.execute(delete(ShardEvaluation))
        found = read_throughput(connection)
    assert (found.shards, found.hypotheses) == (3, 0)


@pytest.mark.parametrize(
    ("rows", "processes", "seconds"),
    [
        # Costs as they are; shared by processes.
        ([pending(6.0), pending(2.0)], 1, 8.0),
        ([pending(6.0), pending(6.0), pending(6.0)], 2, 9.0),
        # The longest decides where there are more processes than shards.
        ([pending(6.0), pending(2.0)], 8, 6.0),
        # What was measured took twice as long as estimated.
        ([done(5, 4.0, 2.0), pending(6.0)], 1, 12.0),
        ([done(5, 3.0, 6.0), pending(6.0)], 1, 3.0),
        # A running one has some of its time behind it; one that is only handed out has not.
        ([running(4.0, 10.0)], 1, 6.0),
        ([{"state": "enqueued", "claimed_at": now() - 4.0, "cost": 10.0}], 1, 10.0),
        ([running(4.0, 10.0), pending(8.0)], 2, 8.0),
        # Nothing was measured: a running one that takes longer than estimated is a bound.
        ([running(20.0, 10.0), pending(10.0)], 1, 20.0),
        # Over its time, and others were measured: it ends at any moment.
        ([done(5, 1.0, 1.0), running(20.0, 10.0), pending(3.0)], 1, 3.0),
        # Of a clock that was set back nothing is learnt.
        ([{**done(5, -4.0, 2.0)}, pending(6.0)], 1, 6.0),
        # Nor of what failed.
        ([{**done(5, 9.0, 1.0), "state": "failed"}, pending(6.0)], 1, 6.0),
        ([done(5), done(5)], 4, 0.0),
    ],
)
def test_what_is_left(engine: Engine, rows: list[dict[str, Any]], processes: int, seconds: float) -> None:
    set_shards(engine, rows)
    assert left(engine, processes) == pytest.approx(seconds, abs=0.8)
    assert left(engine, processes, other_work=True) == (None if not seconds else pytest.approx(seconds, abs=0.8))
    assert left(engine, 0) is None


def test_recent_ones_count_and_no_older(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "RECENT_SHARDS", 2)
    set_shards(engine, [done(500, 900.0, 1.0), done(5, 4.0, 1.0), done(9, 2.0, 1.0)])
    with reading(engine) as connection:
        assert measured_ratio(connection) == pytest.approx(3.0, abs=0.1)


def test_without_measurements_estimates_are_right(engine: Engine) -> None:
    with reading(engine) as connection:
        assert measured_ratio(connection) == 1.0


def test_a_test_set_of_another_campaign_has_its_own_length(engine: Engine, sqlite_url: str) -> None:
    queue_job(engine, one_block_shards(sqlite_url), segments=7, systems=1, campaign="night", seed=5)
    with writing(engine) as connection:
        connection.execute(update(Shard).values(state="done", ended_at=now()))
        assert read_throughput(connection).hypotheses == 2 * SEGMENTS + 7
        assert set(connection.scalars(select(TestSet.segments))) == {SEGMENTS, 7}


def test_those_that_were_claimed_together_share_their_time(engine: Engine) -> None:
    with reading(engine) as connection:
        at = connection.execute(select(now())).scalar_one() - 20.0
    together = {"worker": "w", "claimed_at": at, "cost": 1.0}
    set_shards(engine, [{**together, "state": "running"}, {**together, "state": "running"}, pending(1.0)])
    assert left(engine, 1) == pytest.approx(10.0, abs=0.8)
    done_by = [{**together, "state": "done", "ended_at": at + seconds} for seconds in (3.0, 4.0)]
    set_shards(engine, [*done_by, {**together, "state": "done", "worker": "another", "ended_at": at + 2.0}])
    with reading(engine) as connection:
        assert measured_ratio(connection) == pytest.approx(2.0)
