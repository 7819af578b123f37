"""Clocks that are set while work is in flight: nothing is taken from the living, nothing is left with the dead."""

import os

import pytest
from sqlalchemy import insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.clock_jumps import restart_leases
from models.queue.lease import claim_rows, retry_later
from models.schema.base import now
from models.schema.queue import Shard, Worker
from models.schema.states import NOT_YET, LeaseState
from runtime.settings import Settings
from scheduler.clock_jumps import ClockJumps
from scheduler.recovery import sweep
from tests.scheduler.clocks import DAY, SetClock, read_clock, set_clock
from tests.scheduler.jobs import one_block_shards, queue_job


@pytest.fixture
def clock(database_url: str, monkeypatch: pytest.MonkeyPatch) -> SetClock:
    return set_clock(database_url, monkeypatch)


def in_flight(settings: Settings) -> list[int]:
    """A shard that runs at a worker, one that is enqueued, and one that was released; their ids."""
    engine = make_engine(settings.database_url, pooled=False)
    queue_job(engine, settings, segments=700, systems=1)
    with writing(engine) as connection:
        keys = list(connection.scalars(select(Shard.id).order_by(Shard.id)))
        connection.execute(insert(Worker).values(id="w", host="h", pid=os.getpid(), version="1", concurrency=1))
        leased = settings.lease_seconds
        assert claim_rows(connection, Shard, [keys[0]], owner="o", worker="w", lease_seconds=leased, max_attempts=3)
        connection.execute(
            update(Shard).where(Shard.id == keys[1]).values(state=LeaseState.ENQUEUED, enqueued_at=now())
        )
        retry_later(connection, Shard, keys[2], reason=None, delay_seconds=settings.retry_seconds)
    assert len(keys) == 3
    return keys


def states(settings: Settings) -> list[str]:
    with reading(make_engine(settings.database_url, pooled=False)) as connection:
        return list(connection.scalars(select(Shard.state).order_by(Shard.id)))


def ready(settings: Settings) -> set[int]:
    with reading(make_engine(settings.database_url, pooled=False)) as connection:
        due = select(Shard.id).where(Shard.state == LeaseState.PENDING, Shard.not_before <= now())
        return set(connection.scalars(due))


@pytest.mark.parametrize(("jump", "watched"), [(DAY, True), (-DAY, True), (-DAY, False)])
def test_leases_in_flight_are_restarted(
    database_url: str, clock: SetClock, jump: float, watched: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether the scheduler was there when the clock was set, or only finds times of the future.

    Nobody who was not there can tell a clock that was set forward from time that has passed.
    """
    settings = one_block_shards(database_url, retry_seconds=1.0)
    engine = make_engine(database_url, pooled=False)
    keys = in_flight(settings)
    look = ClockJumps()
    if watched:
        look.correct(engine, settings, read_clock(engine))
    clock.set(jump)
    look.correct(engine, settings, read_clock(engine))
    assert ("clock jumped" in caplog.text) == watched
    # The living have their time: nothing is old, and nothing is of the future.
    assert sweep(engine, settings) == 0
    assert states(settings) == [LeaseState.RUNNING, LeaseState.ENQUEUED, LeaseState.PENDING]
    assert ready(settings) == {keys[2]}
    # The dead have no more than theirs.
    clock.set(jump + max(settings.silent_seconds, settings.resend_seconds) + 1.0)
    assert sweep(engine, settings) == 2
    assert states(settings) == [LeaseState.PENDING] * 3
    clock.set(jump + DAY)
    assert ready(settings) == set(keys)


@pytest.mark.parametrize("beyond", [None, 3600.0])
def test_what_waits_for_something_else_has_no_time_and_goes_on_waiting(database_url: str, beyond: float | None) -> None:
    settings = one_block_shards(database_url)
    in_flight(settings)
    queue_job(
        make_engine(database_url, pooled=False), settings, segments=200, systems=1, metrics=["nist"], campaign="n"
    )
    with writing(make_engine(database_url, pooled=False)) as connection:
        (waiting,) = connection.scalars(select(Shard.id).where(Shard.not_before == NOT_YET))
        delayed = connection.scalar(select(Shard.id).where(Shard.state == LeaseState.PENDING, Shard.id != waiting))
        connection.execute(update(Shard).where(Shard.id == delayed).values(not_before=now() + DAY))
        restart_leases(connection, Shard, lease_seconds=60.0, beyond=beyond)
        assert list(connection.scalars(select(Shard.id).where(Shard.not_before == NOT_YET))) == [waiting]
        assert connection.scalar(select(Shard.not_before <= now()).where(Shard.id == delayed))


@pytest.mark.parametrize("times", [(0.0, 1.0, 2.0, 1.0), (0.0, -1.0, 0.5, -1.0)])
def test_time_that_passes_is_no_jump(
    database_url: str, clock: SetClock, caplog: pytest.LogCaptureFixture, times: tuple[float, ...]
) -> None:
    """Nor is a clock that is adjusted a little: leases and delays stay as they are."""
    settings = one_block_shards(database_url, retry_seconds=60.0)
    engine = make_engine(database_url, pooled=False)
    in_flight(settings)
    columns = Shard.id, Shard.claimed_at, Shard.lease_until, Shard.enqueued_at, Shard.not_before

    def leases() -> list[tuple[object, ...]]:
        with reading(engine) as connection:
            beats = connection.execute(select(Worker.id, Worker.beat_at)).all()
            return [tuple(row) for row in (*connection.execute(select(*columns).order_by(Shard.id)), *beats)]

    before = leases()
    look = ClockJumps()
    for seconds in times:
        clock.set(seconds)
        look.correct(engine, settings, read_clock(engine))
    assert "clock jumped" not in caplog.text
    assert leases() == before
    clock.set(times[-1] + DAY)
    look.correct(engine, settings, read_clock(engine))
    assert "clock jumped by +86400 s" in caplog.text
    changed = [old != new for old, new in zip(before, leases(), strict=True)]
    assert changed == [True, True, False, True], "what was delayed is due by then"
