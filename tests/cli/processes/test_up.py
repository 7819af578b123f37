"""`steelyard up`: whether all of it is ready, and what it says about its work."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import update

from cli.processes import up
from models.database.session import make_engine, reading, writing
from models.schema.nightly import Schedule
from runtime.health import Check, ProcessStatus, run_checks
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.scheduler.nightly.nightly_runs import add, due


def test_it_is_ready_where_its_pages_are_too() -> None:
    live, fine = (lambda: Check("beat", True, "")), (lambda: Check("broker", True, ""))
    own = ProcessStatus("up", live=(live,), ready=(fine,), collectors=("queue",))
    web: Any = SimpleNamespace(check=lambda: Check("pages", False, "starting"))
    whole = up._outlook(own, web)
    assert [check.name for check in run_checks(whole.ready).checks] == ["broker", "pages"]
    assert not run_checks(whole.ready).ok
    assert run_checks(whole.live).ok, "pages that start again are no reason to end the workers"
    assert whole.collectors == ("queue", web)
    assert up._outlook(own, None) == own


def test_the_next_run_is_the_first_of_all_schedules(sqlite_url: str, tmp_path: Any) -> None:
    engine = make_engine(sqlite_url)
    with reading(engine) as connection:
        assert up._read(connection) == up._Work(0, 0, "")
    days = {"late": "2026-03-09", "soon": "2026-03-03", "gone": "2026-03-01"}
    for name in days:
        add(engine, tmp_path, name=name)
    with writing(engine) as connection:
        for name, day in days.items():
            values = {"next_at": None, "active": False} if name == "gone" else {"next_at": due(day)}
            connection.execute(update(Schedule).where(Schedule.name == name).values(**values))
    queue_job(engine, one_block_shards(sqlite_url), segments=300, systems=2)
    with reading(engine) as connection:
        assert up._read(connection) == up._Work(2, 0, "soon 2026-03-03 02:30 +01:00")


def test_it_says_at_once_when_work_begins_or_ends_and_seldom_what_is_left(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(up, "time", SimpleNamespace(monotonic=lambda: now[0]))
    caplog.set_level(logging.INFO)
    show = up._shown()
    for seconds, work, said in (
        (0.0, up._Work(0, 0, ""), "Nothing to do. No schedule."),
        (1.0, up._Work(0, 0, ""), None),
        (1.0, up._Work(0, 0, "gate 2026-03-03"), "Nothing to do. Next run: gate 2026-03-03."),
        (1.0, up._Work(5, 0, "gate 2026-03-03"), "Open: 5 evaluations, 0 runs. Next run: gate 2026-03-03."),
        (1.0, up._Work(4, 0, "gate 2026-03-03"), None),
        (1.0, up._Work(4, 1, "gate 2026-03-04"), None),
        (up.QUIET_SECONDS, up._Work(1, 1, ""), "Open: 1 evaluation, 1 run. No schedule."),
        (1.0, up._Work(0, 1, ""), None),
        (1.0, up._Work(0, 0, ""), "Nothing to do. No schedule."),
    ):
        now[0] += seconds
        caplog.clear()
        show(work)
        assert caplog.messages == ([] if said is None else [said]), work


def test_open_work_is_read_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now, reads = [1000.0], list[int]()

    def read(_connection: object) -> up._Work:
        reads.append(1)
        return up._Work(len(reads), 0, "")

    monkeypatch.setattr(up, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(up, "_read", read)
    look: Any = up._look()
    seen = []
    for _ in range(6):
        seen.append(look(None).evaluations)
        now[0] += up.LOOK_SECONDS / 2
    assert seen == [1, 1, 2, 2, 3, 3]
    assert all(each.open for each in (up._Work(0, 0, ""), up._Work(1, 1, ""))), "it does not end without work"
