"""The rounds in which a scheduler goes on with nights: how often, how many at once, and what it holds on to."""

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.exc import OperationalError

from models.database.session import make_engine, reading, writing
from models.nightly.claims import OpenNight
from models.schema.base import now
from models.schema.nightly import Night, Schedule
from models.schema.states import NightState
from runtime.settings import Settings
from scheduler.nightly import runner
from scheduler.nightly.commands import Stopped
from scheduler.nightly.runner import AT_ONCE, CORRECT_SECONDS, HASTE_SECONDS, Nights, _Step
from scheduler.nightly.schedules import ask_for_night
from tests.faults.cluster import PATIENCE, until
from tests.scheduler.nightly.test_steps import claimed
from tests.scheduler.nights import add, nights


@pytest.fixture
def engine(sqlite_url: str) -> Iterator[Engine]:
    engine = make_engine(sqlite_url)
    yield engine
    engine.dispose()


def settings_of(engine: Engine, **others: Any) -> Settings:
    return Settings(database_url=engine.url.render_as_string(hide_password=False), **others)


@pytest.fixture
def night(engine: Engine, tmp_path: Path) -> OpenNight:
    """A night that "me" holds, as it was before."""
    add(engine, tmp_path)
    with writing(engine) as connection:
        connection.execute(update(Schedule).values(next_at=None))
        ask_for_night(connection, "gate", "2026-03-02")
    return claimed(engine, "me")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time that rounds go by: `seconds`."""
    clock = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: clock.seconds))
    return clock


def called(monkeypatch: pytest.MonkeyPatch, name: str) -> list[tuple[Any, ...]]:
    """With what a function of the rounds was called, instead of doing anything."""
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(runner, name, lambda *given: calls.append(given))
    return calls


def test_a_step_holds_its_night_for_as_long_as_it_runs_and_it_is_its_own(engine: Engine, night: OpenNight) -> None:
    end = threading.Event()
    station = Nights(settings_of(engine, silent_seconds=500.0))
    step = _Step(night, "me", thread=threading.Thread(target=end.wait, args=(PATIENCE,)))
    step.thread.start()
    station._steps[night.id] = step
    station._renew()
    assert not step.stop.is_set()
    with writing(engine) as connection:
        assert connection.scalar(select(Night.lease_until - now())) == pytest.approx(500.0, abs=60)
        connection.execute(update(Night).values(owner="another"))
    station._renew()
    assert step.stop.is_set()
    assert not station.idle
    end.set()
    step.thread.join()
    station._renew()
    assert station.idle
    station.stop()


def test_what_fails_is_tried_again_later_each_time_and_fails_in_the_state_it_is_in(
    engine: Engine, night: OpenNight
) -> None:
    station = Nights(settings_of(engine, retry_seconds=1000.0, max_attempts=3))
    for attempts in (0, 1):
        with writing(engine) as connection:
            connection.execute(update(Night).values(owner="me"))
        station._fail_or_retry(_Step(OpenNight(night.id, 1, NightState.DUE, attempts, None), "me"), "It rained.")
        assert nights(engine, "state", "owner", "reason", "attempts") == [("fetching", None, "It rained.", 1)]
        with reading(engine) as connection:
            delay = connection.scalar(select(Night.not_before - now()))
        assert delay == pytest.approx(1000.0 * (attempts + 1), abs=60)
    for owner, state in (("another", "fetching"), ("me", "failed")):
        with writing(engine) as connection:
            connection.execute(update(Night).values(owner=owner))
        station._fail_or_retry(_Step(OpenNight(night.id, 1, NightState.DUE, 2, None), "me"), "It rained.")
        assert nights(engine, "state") == [(state,)]
    station.stop()


@pytest.mark.parametrize(
    ("error", "attempts", "waits"),
    [
        (Stopped(), 0, 0.0),
        (OperationalError("SELECT", {}, Exception("the server is away")), 1, 1000.0),
        (RuntimeError("a defect"), 1, 1000.0),
    ],
)
def test_what_ends_a_step_says_if_it_counts(
    engine: Engine, night: OpenNight, monkeypatch: pytest.MonkeyPatch, error: Exception, attempts: int, waits: float
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(runner, "fetch", fail)
    station = Nights(settings_of(engine, retry_seconds=1000.0))
    station._run(_Step(night, "me"))
    assert nights(engine, "state", "owner", "attempts") == [("fetching", None, attempts)]
    with reading(engine) as connection:
        assert connection.scalar(select(Night.not_before - now())) == pytest.approx(waits, abs=60)
    station.stop()


@pytest.mark.parametrize("only", [None, 7])
def test_who_does_one_night_plans_and_tells_of_no_other(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, clock: SimpleNamespace, only: int | None
) -> None:
    """A round comes when it is time for one, and a look at the plans less often."""
    planned, corrected, opened = (called(monkeypatch, each) for each in ("plan_due", "correct_plans", "open_nights"))
    monkeypatch.setattr(runner, "open_nights", lambda _, only: opened.append((only,)) or [])
    station, told = Nights(settings_of(engine, sweep_seconds=5.0), only=only), list[int]()
    monkeypatch.setattr(station, "deliver", lambda: told.append(1))
    pause = 5.0 if only is None else HASTE_SECONDS
    for later, rounds in ((0.0, 1), (0.9 * pause, 1), (0.2 * pause, 2), (CORRECT_SECONDS, 3)):
        clock.seconds += later
        station.go()
        assert opened == [(only,)] * rounds
        assert len(planned) == len(told) == (rounds if only is None else 0)
        assert len(corrected) == (0 if only else 2 if rounds == 3 else 1)
    station.stop()


def test_so_many_steps_run_at_once_and_each_that_ends_makes_place(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: SimpleNamespace
) -> None:
    ends = [threading.Event() for _ in range(AT_ONCE + 1)]
    begun: list[int] = []

    def fetch(engine: Engine, settings: Settings, night: int, owner: str, stop: threading.Event) -> None:
        begun.append(night)
        ends[night - 1].wait(PATIENCE)

    monkeypatch.setattr(runner, "fetch", fetch)
    for number in range(AT_ONCE + 1):
        add(engine, tmp_path, name=f"gate{number}")
        with writing(engine) as connection:
            connection.execute(update(Schedule).values(next_at=None))
            ask_for_night(connection, f"gate{number}", "2026-03-02")
    station = Nights(settings_of(engine))
    station.go()
    until(lambda: len(begun) == AT_ONCE, "as many as may run")
    clock.seconds += 100.0
    station.go()
    assert len(station._steps) == AT_ONCE
    ends[0].set()
    station._steps[1].thread.join()
    # Without a pause.
    station.go()
    assert set(station._steps) == {2, 3, 4, 5}
    for end in ends:
        end.set()
    station.stop()
    assert station.idle


def test_messages_are_seen_to_by_one_at_a_time(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong with them stops nobody."""
    end, begun = threading.Event(), list[int]()

    def deliver_due(*_: object) -> None:
        begun.append(1)
        end.wait(PATIENCE)
        raise RuntimeError("a defect")

    monkeypatch.setattr("scheduler.webhooks.delivery.deliver_due", deliver_due)
    station = Nights(settings_of(engine))
    station.deliver()
    until(lambda: begun, "the first")
    first = station._deliveries
    station.deliver()
    assert station._deliveries is first
    end.set()
    assert first is not None
    first.join()
    station.deliver()
    station.stop()
    assert station._deliveries is not first
    assert len(begun) == 2
