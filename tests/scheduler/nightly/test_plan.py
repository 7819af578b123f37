"""Runs are planned once each, whoever plans them; of missed ones the last is caught up."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import select, update

from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.nightly.schedules import find_schedule, list_schedules
from models.schema.base import database_time
from models.schema.nightly import Delivery, NightlyRun, Schedule
from scheduler.errors import BadSchedule, ScheduleConflict, SchedulerError
from scheduler.nightly import plan
from scheduler.nightly.cron import Calendar
from scheduler.nightly.plan import LATE_SECONDS, MAX_MISSED, correct_plans, plan_due
from scheduler.nightly.schedules import remove_schedule, request_nightly_run
from tests.scheduler.nightly.nightly_runs import DAY, add, due, nightly_runs


def test_two_schedulers_plan_one_run(database_url: str, tmp_path: Path) -> None:
    add(make_engine(database_url), tmp_path)
    planned, ready = [], threading.Barrier(2)

    def plan() -> None:
        engine = make_engine(database_url)
        ready.wait()
        for day in range(10):
            planned.append(plan_due(engine, due("2026-03-02") + day * DAY))

    threads = [threading.Thread(target=plan) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = nightly_runs(make_engine(database_url), "due_at", "state", "caught_up")
    assert len(planned) == 20
    assert sum(planned) == 10
    assert [each[0] for each in found] == [due("2026-03-02") + day * DAY for day in range(10)]
    # Nobody worked on them, and of those that wait only the last is worth it.
    assert [each[1] for each in found] == ["missed"] * 9 + ["due"]
    assert not any(each[2] for each in found)


def test_before_its_time_nothing_is_due(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    add(engine, tmp_path)
    assert plan_due(engine, due("2026-03-02") - 0.001) == 0
    assert plan_due(engine, due("2026-03-02")) == 1
    assert plan_due(engine, due("2026-03-03") - 0.001) == 0
    with reading(engine) as connection:
        assert find_schedule(connection, "gate").next_at == due("2026-03-03")


def test_the_last_missed_run_is_caught_up(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    add(engine, tmp_path)
    plan_due(engine, due("2026-03-02"))
    with writing(engine) as connection:
        connection.execute(update(NightlyRun).values(state="done"))
    assert plan_due(engine, due("2026-03-30") + 3 * 3600) == 1
    found = nightly_runs(engine, "date", "state", "caught_up", "reason")
    assert [each[0] for each in found] == [f"2026-03-{day:02}" for day in range(2, 31)]
    assert found[0][1:] == ("done", False, None)
    assert {each[1:3] for each in found[1:-1]} == {("missed", False)}
    assert {each[3] for each in found[1:-1]} == {
        "No scheduler was running when it was due, and a later run was caught up instead."
    }
    assert found[-1][1:] == ("due", True, None)
    assert plan_due(engine, due("2026-03-30") + 4 * 3600) == 0


def test_a_little_late_is_in_time(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    add(engine, tmp_path)
    plan_due(engine, due("2026-03-02") + LATE_SECONDS)
    assert nightly_runs(engine, "state", "caught_up") == [("due", False)]


def test_a_long_sleep_leaves_no_flood(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    add(engine, tmp_path, calendar=Calendar("*/10 * * * *", "Europe/Prague"))
    begin = due("2026-03-02")
    plan_due(engine, begin + 900 * DAY + 1)
    found = nightly_runs(engine, "due_at", "state")
    assert [each[0] for each in found] == [begin + 900 * DAY - 600 * back for back in reversed(range(MAX_MISSED))]
    assert [each[1] for each in found] == ["missed"] * (MAX_MISSED - 1) + ["due"]


def test_a_schedule_that_cannot_be_read_holds_up_no_other(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    broken = add(engine, tmp_path)
    add(engine, tmp_path, name="other")
    with writing(engine) as connection:
        connection.execute(update(Schedule).where(Schedule.id == broken).values(time_zone="Atlantis/Harbour"))
    assert plan_due(engine, due("2026-03-02")) == 2
    (first, second) = nightly_runs(engine, "state", "reason", "date")
    assert first[0] == "missed"
    assert 'no time zone "Atlantis/Harbour"' in first[1]
    assert second == ("due", None, "2026-03-02")
    assert plan_due(engine, due("2026-03-03")) == 1


def test_a_schedule_that_cannot_be_planned_holds_up_no_other(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong with its calendar."""

    def breaks(cron: str, time_zone: str) -> Calendar:
        if time_zone == "Atlantis/Harbour":
            raise RuntimeError("a defect")
        return Calendar(cron, time_zone)

    monkeypatch.setattr(plan, "Calendar", breaks)
    engine = make_engine(sqlite_url)
    broken = add(engine, tmp_path)
    add(engine, tmp_path, name="other")
    with writing(engine) as connection:
        connection.execute(update(Schedule).where(Schedule.id == broken).values(time_zone="Atlantis/Harbour"))
    for day in ("2026-03-02", "2026-03-03"):
        assert plan_due(engine, due(day)) == 1
    assert nightly_runs(engine, "state", "date") == [("missed", "2026-03-02"), ("due", "2026-03-03")]
    messages = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert messages == [f"Schedule {broken} cannot be planned"] * 2


def test_a_plan_made_while_the_clock_was_wrong_is_corrected(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    add(engine, tmp_path)
    plan_due(engine, due("2036-03-02"))
    assert correct_plans(engine, due("2026-03-02") - 5.0) == 1
    assert correct_plans(engine, due("2026-03-02") - 4.0) == 0
    plan_due(engine, due("2026-03-02"))
    assert nightly_runs(engine, "date", "state")[0] == ("2026-03-02", "due")


def test_a_correction_yields_to_a_plan_made_meanwhile(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(sqlite_url)
    add(engine, tmp_path)
    plan_due(engine, due("2036-03-02"))

    def calendar(cron: str, zone: str) -> Calendar:
        # Between what the correction has read and what it writes.
        with writing(engine) as connection:
            remove_schedule(connection, "gate", forget=False)
        return Calendar(cron, zone)

    monkeypatch.setattr(plan, "Calendar", calendar)
    assert correct_plans(engine, due("2026-03-02") - 5.0) == 0
    with reading(engine) as connection:
        assert connection.scalar(select(Schedule.next_at)) is None


def test_a_removed_schedule_keeps_its_history(database_url: str, tmp_path: Path) -> None:
    engine = make_engine(database_url)
    first = add(engine, tmp_path, webhook="https://example.org/hook", webhook_secret="s3cret")
    plan_due(engine, due("2026-03-02"))
    with pytest.raises(ScheduleConflict, match='already a schedule "gate"'):
        add(engine, tmp_path)
    with writing(engine) as connection:
        assert "s3cret" not in repr(find_schedule(connection, "gate"))
        assert remove_schedule(connection, "gate", forget=False) == 0
    assert nightly_runs(engine, "state", "reason") == [("missed", "The schedule was removed.")]
    assert plan_due(engine, due("2026-03-09")) == 0
    with writing(engine) as connection:
        with pytest.raises(ScheduleConflict, match="was removed"):
            request_nightly_run(connection, "gate", None)
        assert list_schedules(connection) == []
    assert add(engine, tmp_path, alpha=0.01) == first
    with writing(engine) as connection:
        again = find_schedule(connection, "gate")
        assert (again.alpha, again.active, again.webhook) == (0.01, True, None)
        remove_schedule(connection, "gate", forget=True)
        with pytest.raises(NotFound, match="There is none"):
            remove_schedule(connection, "gate", forget=True)
        assert connection.execute(select(NightlyRun.id)).all() == connection.execute(select(Delivery.id)).all() == []


def test_runs_by_hand(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    add(engine, tmp_path)
    with writing(engine) as connection:
        request_nightly_run(connection, "gate", "2026-03-02")
        request_nightly_run(connection, "gate", "2026-03-02")
        request_nightly_run(connection, "gate", None)
        with pytest.raises(ScheduleConflict, match="is in the future: in Europe/Prague"):
            request_nightly_run(connection, "gate", "2126-01-01")
        with pytest.raises(BadSchedule, match="is not a day"):
            request_nightly_run(connection, "gate", "1 March")
        with pytest.raises(NotFound, match=r"no schedule 'gat'\. There are: gate"):
            request_nightly_run(connection, "gat", None)
    found = nightly_runs(engine, "due_at", "manual", "state")
    assert found[:2] == [(due("2026-03-02"), True, "due"), (due("2026-03-02") + 1, True, "due")]
    assert len(found) == 3


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"name": "../x"}, "cannot be the name of a schedule"),
        ({"metrics": []}, "at least one test set and one metric"),
        ({"correction": "sidak"}, 'no correction "sidak". Corrections: holm'),
        ({"alpha": 1.0}, "not between 0 and 1"),
        ({"replicates": 0}, "needs replicates"),
        ({"minimum_difference": float("nan")}, "smallest difference"),
        ({"webhook": "ftp://example.org"}, "does not begin with http"),
        ({"webhook": "http://127.0.0.1/hook"}, "private|loopback|public"),
        ({"webhook": "https://example.org"}, "needs a secret"),
    ],
)
def test_schedules_that_are_refused(sqlite_url: str, tmp_path: Path, others: dict[str, object], message: str) -> None:
    with pytest.raises(SchedulerError, match=message):
        add(make_engine(sqlite_url), tmp_path, **others)


@pytest.mark.parametrize("first", [0, 1, 5, 40])
def test_a_run_that_is_due_this_very_moment_is_not_passed_over(first: int) -> None:
    """The next one is looked for after it."""
    calendar = Calendar("30 1 * * *", "UTC")
    last = due("2026-03-02") + 40 * DAY
    runs = plan._planned_runs(calendar, last - first * DAY, last)
    assert runs[-1].due_at == last
    assert [each.due_at for each in runs] == [last - number * DAY for number in range(first, -1, -1)]
    assert [each.missed is None for each in runs] == [False] * first + [True]
    assert not runs[-1].caught_up


def test_a_manual_run_of_today_is_due_now_and_one_of_another_day_as_it_was(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    add(engine, tmp_path)
    with writing(engine) as connection:
        begun = database_time(connection)
        today = Calendar("30 2 * * *", "Europe/Prague").date(begun).isoformat()
        for day in (None, today, "2026-03-05"):
            request_nightly_run(connection, "gate", day)
        ended = database_time(connection)
    found = nightly_runs(engine, "due_at", "date")
    of_today = [at for at, day in found if day == today]
    assert of_today
    assert all(begun <= at <= ended for at in of_today)
    assert [at for at, day in found if day == "2026-03-05"] == [due("2026-03-05")]
