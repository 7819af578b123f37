"""Steps of runs whose scheduler dies, stops or cannot go on."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from models.database.session import make_engine, reading, writing
from models.nightly.runs import list_nightly_runs, read_nightly_run_members
from models.nightly.transitions import find_open_runs
from models.queue.kinds.nightly_run_steps import NIGHTLY_STEP, Judged, waiting_steps
from models.queue.lease import renew
from models.schema.base import now
from models.schema.corpus import Submission
from models.schema.nightly import Delivery, NightlyRunEvaluation, NightlyRunStep, Schedule
from models.schema.queue import Shard
from models.schema.results import Score
from models.schema.states import LeaseState, NightlyRunState
from runtime.settings import Settings
from scheduler.clock_jumps import ClockJumps
from scheduler.nightly.plan import plan_due
from scheduler.nightly.runner import NightlyRunner
from scheduler.nightly.schedules import request_nightly_run
from scheduler.nightly.sources import new_source
from scheduler.nightly.steps import check_scores, fetch, judge
from scheduler.recovery import sweep
from tests.scheduler.clocks import read_clock
from tests.scheduler.nightly.nightly_runs import add, due, nightly_runs, put, work_off
from tests.scheduler.nightly.test_steps import GO, amount, claimed, ended, failed, last_step, rounds
from tests.tasks import claim_task, complete_task


def expire(engine: Engine, settings: Settings) -> None:
    """As if whoever holds a step had died a while ago: the sweep takes it back."""
    with writing(engine) as connection:
        held = NightlyRunStep.state == LeaseState.RUNNING
        assert connection.execute(update(NightlyRunStep).where(held).values(lease_until=now() - 1)).rowcount
    assert sweep(engine, settings) == 1


def test_a_scheduler_that_dies_in_a_step_is_followed_by_another(database_url: str, tmp_path: Path) -> None:
    engine, settings = make_engine(database_url), Settings(database_url=database_url, retry_seconds=0.0)
    schedule = add(engine, tmp_path, webhook="https://example.org", webhook_secret="x")
    put(tmp_path, "2026-03-02", {"tug": 1, "barge": 2})
    plan_due(engine, due("2026-03-02"))

    # Fetching: the first dies before it has written, comes back when another has done it, and is too late.
    first = claimed(engine, "first")
    nightly_run = first.nightly_run_id
    assert nightly_runs(engine, "state") == [("fetching",)]
    assert last_step(engine) == ("running", 1, "first")
    with writing(engine) as connection:
        assert find_open_runs(connection) == waiting_steps(connection) == []
        given = {"owner": "thief", "worker": "me", "lease_seconds": 60.0, "max_attempts": 9}
        assert claim_task(connection, NIGHTLY_STEP, first.key, **given) is None
    expire(engine, settings)
    fetch(engine, settings, claimed(engine, "second"), GO)
    assert nightly_runs(engine, "state") == [("scoring",)]
    assert last_step(engine) == ("done", 2, None)
    put(tmp_path, "2026-03-02", {"raft": 3})
    fetch(engine, settings, first, GO)
    with writing(engine) as connection:
        assert not renew(connection, NightlyRunStep, first.key, "first", 60.0)
    assert amount(engine, Submission) == amount(engine, NightlyRunEvaluation) == 2

    # Scoring belongs to nobody.
    assert not check_scores(engine, nightly_run)
    work_off(settings)
    assert check_scores(engine, nightly_run)
    assert nightly_runs(engine, "state") == [("judging",)]
    assert last_step(engine) == ("pending", 0, None)
    check_scores(engine, nightly_run)

    # Judging: likewise.
    third = claimed(engine, "third")
    expire(engine, settings)
    judge(engine, settings, claimed(engine, "fourth"))
    ((state, verdict, regressed),) = nightly_runs(engine, "state", "verdict", "regressed")
    assert (state, regressed) == ("done", False)
    assert verdict
    judge(engine, settings, third)
    with writing(engine) as connection:
        assert not complete_task(connection, NIGHTLY_STEP, third, Judged({}, regressed=True)).accepted
        assert find_open_runs(connection) == waiting_steps(connection) == []
    assert nightly_runs(engine, "state", "verdict", "regressed") == [(state, verdict, regressed)]
    assert amount(engine, Delivery) == 1

    # The same outputs again are not measured again, and judged all the same.
    put(tmp_path, "2026-03-03", {"tug": 1, "barge": 2})
    plan_due(engine, due("2026-03-03"))
    shards = amount(engine, Shard)
    again = claimed(engine, "fifth")
    fetch(engine, settings, again, GO)
    assert check_scores(engine, again.nightly_run_id)
    assert (amount(engine, Shard), amount(engine, Submission), amount(engine, Score)) == (shards, 2, 2)
    judge(engine, settings, claimed(engine, "sixth"))
    with reading(engine) as connection:
        first, second = list_nightly_runs(connection, schedule)
        members = read_nightly_run_members(connection, [first.id, second.id])
    assert (second.state, second.date) == (NightlyRunState.DONE, "2026-03-03")
    assert members[first.id] == members[second.id]
    assert [(each.system, each.test_set, each.references) for each in members[first.id]] == [
        ("barge", "trial", ("A",)),
        ("tug", "trial", ("A",)),
    ]


def test_what_the_scheduler_cannot_do_is_tried_again_and_then_fails(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(database_url=sqlite_url, retry_seconds=0.0, max_attempts=2, sweep_seconds=0.01)
    engine = make_engine(sqlite_url)
    add(engine, tmp_path)
    with writing(engine) as connection:
        connection.execute(update(Schedule).values(next_at=None))
        request_nightly_run(connection, "gate", "2026-03-02")
    tries = []

    def broken(*_: object) -> None:
        tries.append(1)
        raise RuntimeError("a defect of ours")

    monkeypatch.setattr("scheduler.nightly.runner.fetch", broken)
    context = NightlyRunner(settings)
    rounds(context, lambda: ended(engine), "the run to fail")
    assert failed(engine) == "Its outputs could not be fetched (tried 2 times): RuntimeError: a defect of ours"
    assert len(tries) == 2
    # One that ends its scheduler each time.
    with writing(engine) as connection:
        request_nightly_run(connection, "gate", "2026-03-02")
    for _ in range(2):
        claimed(engine, "me")
        expire(engine, settings)
    assert nightly_runs(engine, "state", "reason")[-1] == (
        "failed",
        "Its outputs could not be fetched (tried 2 times): the lease of me expired.",
    )
    context.stop()


def test_a_clock_that_is_set_back_leaves_no_run_with_the_dead(sqlite_url: str, tmp_path: Path) -> None:
    """Nor any waiting for its next attempt."""
    engine = make_engine(sqlite_url)
    settings = Settings(database_url=sqlite_url, retry_seconds=0.0, silent_seconds=50.0)
    add(engine, tmp_path)
    plan_due(engine, due("2026-03-02"))
    for state in (LeaseState.RUNNING, LeaseState.PENDING):
        claimed(engine, "dead", lease=10.0)
        with writing(engine) as connection:
            # Two hours ago all this was still to come.
            later = {"lease_until": now() + 7200, "claimed_at": now() + 7200, "not_before": now() + 7200}
            connection.execute(update(NightlyRunStep).values(**later, state=state))
            assert waiting_steps(connection) == []
        ClockJumps().correct(engine, settings, read_clock(engine))
        if state == LeaseState.RUNNING:
            with reading(engine) as connection:
                left = connection.scalar(select(NightlyRunStep.lease_until - now()))
            assert left == pytest.approx(50.0, abs=30)
            expire(engine, settings)
    claimed(engine, "alive")


def test_a_scheduler_that_stops_gives_its_runs_back(sqlite_url: str, tmp_path: Path) -> None:
    settings, engine = Settings(database_url=sqlite_url, sweep_seconds=0.01), make_engine(sqlite_url)
    source = new_source(None, "sh -c 'echo x >> begun; sleep 600'", 600.0, tmp_path, ["trial"])
    add(engine, tmp_path, source=source)
    with writing(engine) as connection:
        connection.execute(update(Schedule).values(next_at=None))
        request_nightly_run(connection, "gate", None)
    begun = tmp_path / "begun"
    for tries in (1, 2):
        context = NightlyRunner(settings)
        rounds(context, lambda tries=tries: begun.exists() and len(begun.read_text()) == 2 * tries, "the command")
        assert not context.idle
        context.stop()
        assert nightly_runs(engine, "state") == [("fetching",)]
        assert last_step(engine) == ("pending", 0, None)
    # Somebody else has taken it: the command here ends.
    context = NightlyRunner(settings)
    rounds(context, lambda: len(begun.read_text()) == 6, "the command")
    with writing(engine) as connection:
        connection.execute(update(NightlyRunStep).values(owner="another", worker="another", lease_until=now() + 600))
    rounds(context, lambda: context.idle, "the command to end")
    context.stop()
    assert last_step(engine) == ("running", 1, "another")
