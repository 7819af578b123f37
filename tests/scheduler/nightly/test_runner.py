"""The rounds in which a scheduler goes on with runs: how often, how many at once, and what it holds on to."""

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.exc import OperationalError

from models.database.session import make_engine, reading, writing
from models.queue.kinds.nightly_run_steps import ClaimedStep
from models.schema.base import now
from models.schema.nightly import NightlyRunStep, Schedule
from runtime.settings import Settings
from scheduler.nightly import runner
from scheduler.nightly.commands import CommandStopped
from scheduler.nightly.runner import AT_ONCE, CORRECT_SECONDS, HASTE_SECONDS, NightlyRunner, _Step
from scheduler.nightly.schedules import request_nightly_run
from tests.faults.cluster import PATIENCE, until
from tests.scheduler.nightly.nightly_runs import add
from tests.scheduler.nightly.test_steps import claimed


@pytest.fixture
def engine(sqlite_url: str) -> Iterator[Engine]:
    engine = make_engine(sqlite_url)
    yield engine
    engine.dispose()


def settings_of(engine: Engine, **others: Any) -> Settings:
    return Settings(database_url=engine.url.render_as_string(hide_password=False), **others)


@pytest.fixture
def step(engine: Engine, tmp_path: Path) -> ClaimedStep:
    """A step that "me" holds, to fetch the outputs of a run."""
    add(engine, tmp_path)
    with writing(engine) as connection:
        connection.execute(update(Schedule).values(next_at=None))
        request_nightly_run(connection, "gate", "2026-03-02")
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


def test_a_step_is_held_for_as_long_as_it_runs_and_it_is_its_own(engine: Engine, step: ClaimedStep) -> None:
    end = threading.Event()
    context = NightlyRunner(settings_of(engine, silent_seconds=500.0))
    running = _Step(step, thread=threading.Thread(target=end.wait, args=(PATIENCE,)))
    running.thread.start()
    context._steps[step.key] = running
    context._renew()
    assert not running.stop.is_set()
    with writing(engine) as connection:
        assert connection.scalar(select(NightlyRunStep.lease_until - now())) == pytest.approx(500.0, abs=60)
        connection.execute(update(NightlyRunStep).values(owner="another"))
    context._renew()
    assert running.stop.is_set()
    assert not context.idle
    end.set()
    running.thread.join()
    context._renew()
    assert context.idle
    context.stop()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (CommandStopped(), ("running", "me", None)),
        (OperationalError("SELECT", {}, Exception("the server is away")), ("running", "me", None)),
        (RuntimeError("a defect"), ("pending", None, "RuntimeError: a defect")),
    ],
)
def test_what_ends_a_step_says_if_it_is_released(
    engine: Engine,
    step: ClaimedStep,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    expected: tuple[str, str | None, str | None],
) -> None:
    """One that was stopped is released with all that runs here; without a database its lease runs out."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(runner, "fetch", fail)
    context = NightlyRunner(settings_of(engine, retry_seconds=1000.0))
    context._run(_Step(step))
    with reading(engine) as connection:
        columns = select(NightlyRunStep.state, NightlyRunStep.owner, NightlyRunStep.error)
        assert connection.execute(columns).one() == expected
        assert connection.scalar(select(NightlyRunStep.attempts)) == 1
        waits = connection.scalar(select(NightlyRunStep.not_before - now()))
    if expected[0] == "pending":
        assert waits == pytest.approx(1000.0, abs=60)
    context.stop()


@pytest.mark.parametrize("only", [None, 7])
def test_who_does_one_run_plans_and_tells_of_no_other(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, clock: SimpleNamespace, only: int | None
) -> None:
    """A round comes when it is time for one, and a look at the plans less often."""
    planned, corrected, opened = (called(monkeypatch, each) for each in ("plan_due", "correct_plans", "find_open_runs"))
    monkeypatch.setattr(runner, "find_open_runs", lambda _, only: opened.append((only,)) or [])
    context, told = NightlyRunner(settings_of(engine, sweep_seconds=5.0), only=only), list[int]()
    monkeypatch.setattr(context, "deliver", lambda: told.append(1))
    pause = 5.0 if only is None else HASTE_SECONDS
    for later, rounds in ((0.0, 1), (0.9 * pause, 1), (0.2 * pause, 2), (CORRECT_SECONDS, 3)):
        clock.seconds += later
        context.run_once()
        assert opened == [(only,)] * rounds
        assert len(planned) == len(told) == (rounds if only is None else 0)
        assert len(corrected) == (0 if only else 2 if rounds == 3 else 1)
    context.stop()


def test_a_round_that_breaks_is_followed_by_the_next_one_unless_the_database_is_gone(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, clock: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    opened: list[int] = []
    monkeypatch.setattr(runner, "find_open_runs", lambda *_: opened.append(1) or [])
    context = NightlyRunner(settings_of(engine, sweep_seconds=5.0))
    monkeypatch.setattr(context, "deliver", lambda: None)
    gone = OperationalError("select 1", {}, Exception("the server is gone"))
    for broken, error in ((RuntimeError("a defect"), None), (gone, OperationalError), (None, None)):
        clock.seconds += 6.0

        def plans(_: Engine, broken: Exception | None = broken) -> int:
            if broken is not None:
                raise broken
            return 0

        monkeypatch.setattr(runner, "plan_due", plans)
        if error is None:
            context.run_once()
        else:
            with pytest.raises(error):
                context.run_once()
        assert opened == [1] * (broken is None)
    assert [each.getMessage() for each in caplog.records if each.levelname == "ERROR"] == [
        "Nightly runs failed to advance"
    ]
    context.stop()


def test_so_many_steps_run_at_once_and_each_that_ends_makes_place(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: SimpleNamespace
) -> None:
    ends = [threading.Event() for _ in range(AT_ONCE + 1)]
    begun: list[int] = []

    def fetch(engine: Engine, settings: Settings, step: ClaimedStep, stop: threading.Event) -> None:
        begun.append(step.key)
        ends[step.key - 1].wait(PATIENCE)

    monkeypatch.setattr(runner, "fetch", fetch)
    for number in range(AT_ONCE + 1):
        add(engine, tmp_path, name=f"gate{number}")
        with writing(engine) as connection:
            connection.execute(update(Schedule).values(next_at=None))
            request_nightly_run(connection, f"gate{number}", "2026-03-02")
    context = NightlyRunner(settings_of(engine))
    context.run_once()
    until(lambda: len(begun) == AT_ONCE, "as many as may run")
    clock.seconds += 100.0
    context.run_once()
    assert len(context._steps) == AT_ONCE
    ends[0].set()
    context._steps[1].thread.join()
    # Without a pause.
    context.run_once()
    assert set(context._steps) == {2, 3, 4, 5}
    for end in ends:
        end.set()
    context.stop()
    assert context.idle


def test_messages_are_seen_to_by_one_at_a_time(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong with them stops nobody."""
    end, begun = threading.Event(), list[int]()

    def deliver_due(*_: object) -> None:
        begun.append(1)
        end.wait(PATIENCE)
        raise RuntimeError("a defect")

    monkeypatch.setattr("scheduler.webhooks.delivery.deliver_due", deliver_due)
    context = NightlyRunner(settings_of(engine))
    context.deliver()
    until(lambda: begun, "the first")
    first = context._deliveries
    context.deliver()
    assert context._deliveries is first
    end.set()
    assert first is not None
    first.join()
    context.deliver()
    context.stop()
    assert context._deliveries is not first
    assert len(begun) == 2
