"""Schedules as they are added, run by hand and removed: each thing that is said of one is stored, and no more."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, select, update

from models.corpus.test_sets import read_references
from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.nightly.schedules import Baseline, find_schedule, list_schedules, read_schedule
from models.schema.corpus import Submission, System, Text
from models.schema.nightly import NightlyRun, Schedule
from models.schema.states import BaselineKind, NightlyRunState, PairedTest, ResamplingUnit
from scheduler.errors import BadSchedule, ScheduleConflict
from scheduler.ingest.campaigns import NewSubmission, store_campaign, store_submissions
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from scheduler.nightly.cron import Calendar
from scheduler.nightly.schedules import (
    NewSchedule,
    add_schedule,
    remove_schedule,
    request_nightly_run,
    store_baseline,
)
from scheduler.nightly.sources import new_source
from steelyard.resampling.paired import FEW_SEGMENTS
from tests.scheduler.jobs import some_text

if TYPE_CHECKING:
    from sqlalchemy import Engine

LINES = FEW_SEGMENTS + 1
REFERENCE = some_text(LINES, 1)


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    return make_engine(sqlite_url)


def stored_set(engine: Engine, documents: int = 0) -> int:
    """A test set; its last documents have a segment each."""
    names = [(f"d{max(0, number - LINES + documents)}", "", "") for number in range(LINES)] if documents else []
    with writing(engine) as connection:
        new = NewTestSet("trial", {"A": REFERENCE, "B": some_text(LINES, 2)}, documents=names)
        return store_test_set(connection, store_campaign(connection, "elsewhere"), new)


def new(folder: Path, test_set: int, name: str = "gate", **others: Any) -> NewSchedule:
    values = {
        "source": new_source(f"{folder}/{{date}}/{{system}}.txt", None, 1.0, folder, ["trial"]),
        "baseline": Baseline(BaselineKind.PREVIOUS),
        "metrics": ["chrf"],
        "calendar": Calendar("30 2 * * *", "Europe/Prague"),
        "test_sets": [(test_set, ["A"])],
    }
    return NewSchedule(name, **{**values, **others})


OTHERS: dict[str, Any] = {
    "metrics": ["ter", "chrf"], "replicates": 77, "seed": 5, "alpha": 0.2, "correction": "none",
    "test": PairedTest.RANDOMIZATION, "minimum_difference": 0.25, "team": "harbour",
    "baseline": Baseline(BaselineKind.NAMED, "ferry", "2026-03-01"), "calendar": Calendar("5 4 * * 1", "Asia/Tokyo"),
}  # fmt: skip


def test_each_thing_that_is_said_of_a_schedule_is_stored(engine: Engine, tmp_path: Path) -> None:
    test_set = stored_set(engine)
    webhook: dict[str, Any] = {"webhook": "https://example.org/x", "webhook_secret": "s", "webhook_private": True}
    with writing(engine) as connection:
        number = add_schedule(connection, new(tmp_path, test_set, **OTHERS, **webhook))
        plain = add_schedule(connection, new(tmp_path, test_set, "plain"))
        rows = {row.id: row for row in connection.execute(select(Schedule))}
        found, usual = read_schedule(connection, number), read_schedule(connection, plain)
    for name in OTHERS.keys() - {"calendar", "metrics", "baseline"}:
        assert getattr(found, name) == OTHERS[name]
        assert getattr(usual, name) == next(each.default for each in fields(NewSchedule) if each.name == name)
    assert (found.cron, found.time_zone) == ("5 4 * * 1", "Asia/Tokyo")
    assert (found.metrics, found.baseline) == (("ter", "chrf"), OTHERS["baseline"])
    assert (usual.cron, usual.baseline.kind) == ("30 2 * * *", BaselineKind.PREVIOUS)
    assert {name: getattr(rows[number], name) for name in webhook} == webhook
    assert [rows[plain].webhook, rows[plain].webhook_secret, rows[plain].webhook_private] == [None, None, False]
    assert found.test_sets == [{"test_set_id": test_set, "references": ["A"], "resample": "segment"}]
    assert found.next_at is not None
    assert 0 < found.next_at - found.created_at <= 7 * 86400 + 60
    engine.dispose()


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"alpha": 0.0}, "not between"), ({"alpha": 1.0}, "not between"), ({"correction": "x"}, "no correction"),
        ({"replicates": 0}, "needs replicates"), ({"minimum_difference": -0.1}, "cannot be -0.1"),
        ({"metrics": []}, "at least one test set"), ({"test_sets": []}, "at least one test set"),
        ({"webhook": "https://example.org"}, "needs a secret"),
        ({"webhook": "https://example.org", "webhook_secret": "x" * 1001}, "needs a secret"),
    ],
)  # fmt: skip
def test_schedules_that_cannot_be(engine: Engine, tmp_path: Path, others: dict[str, Any], message: str) -> None:
    test_set = stored_set(engine)
    with writing(engine) as connection, pytest.raises(BadSchedule, match=message):
        add_schedule(connection, new(tmp_path, test_set, **others))
    with writing(engine) as connection:
        # At the limits.
        limits: dict[str, Any] = {"replicates": 0, "test": PairedTest.RANDOMIZATION, "webhook": "https://example.org"}
        add_schedule(connection, new(tmp_path, test_set, **limits, webhook_secret="x" * 1000))
    engine.dispose()


@pytest.mark.parametrize(
    ("documents", "asked", "unit"),
    [
        (FEW_SEGMENTS, None, "document"), (FEW_SEGMENTS - 1, None, "segment"), (0, None, "segment"),
        (FEW_SEGMENTS, ResamplingUnit.SEGMENT, "segment"), (2, ResamplingUnit.DOCUMENT, "document"),
    ],
)  # fmt: skip
def test_documents_are_drawn_where_there_are_enough_or_somebody_wants_it(
    engine: Engine, tmp_path: Path, documents: int, asked: ResamplingUnit | None, unit: str
) -> None:
    test_set = stored_set(engine, documents)
    with writing(engine) as connection:
        number = add_schedule(connection, new(tmp_path, test_set, resample=asked))
        assert read_schedule(connection, number).test_sets[0]["resample"] == unit
    engine.dispose()


def test_a_removed_schedule_comes_back_with_its_history_and_others_stay(engine: Engine, tmp_path: Path) -> None:
    test_set = stored_set(engine)
    with writing(engine) as connection:
        numbers = [add_schedule(connection, new(tmp_path, test_set, name)) for name in ("gate", "dock")]
        for number in numbers:
            for place, state in enumerate(NightlyRunState):
                row = {"schedule_id": number, "due_at": float(place), "date": "2026-03-02", "state": state}
                connection.execute(insert(NightlyRun).values(**row))
        with pytest.raises(ScheduleConflict, match="already a schedule"):
            add_schedule(connection, new(tmp_path, test_set))
        assert remove_schedule(connection, "gate", forget=False) == len(NightlyRunState) - 2, "but for what is missed"
        assert [each.name for each in list_schedules(connection)] == ["dock"]
        assert [each.name for each in list_schedules(connection, removed=True)] == ["dock", "gate"]
        assert find_schedule(connection, "gate").next_at is None
        with pytest.raises(ScheduleConflict, match="was removed"):
            request_nightly_run(connection, "gate", None)
        with pytest.raises(NotFound, match=r"There are: dock\."):
            find_schedule(connection, "quay")
        assert add_schedule(connection, new(tmp_path, test_set, seed=9)) == numbers[0]
        assert (find_schedule(connection, "gate").seed, find_schedule(connection, "gate").active) == (9, True)
        assert remove_schedule(connection, "dock", forget=True) == 0
        left = connection.scalars(select(NightlyRun.schedule_id)).all()
        assert {*left} == {numbers[0]}
        assert len(left) == len(NightlyRunState)
    engine.dispose()


def test_a_run_by_hand_is_of_today_or_of_a_day_before(engine: Engine, tmp_path: Path) -> None:
    test_set = stored_set(engine)
    with writing(engine) as connection:
        add_schedule(connection, new(tmp_path, test_set, calendar=Calendar("30 2 * * *", "Pacific/Kiritimati")))
        today = (datetime.now(UTC) + timedelta(hours=14)).date()
        for day, date in ((None, today), (today.isoformat(), today), ("2026-03-01", None)):
            run = request_nightly_run(connection, "gate", day)
            row = connection.execute(select(NightlyRun).where(NightlyRun.id == run)).one()
            assert (row.date, row.manual) == (date.isoformat() if date else "2026-03-01", True)
        assert row.due_at == Calendar("30 2 * * *", "Pacific/Kiritimati").on(datetime(2026, 3, 1).date())
        with pytest.raises(ScheduleConflict, match="in the future"):
            request_nightly_run(connection, "gate", (today + timedelta(days=1)).isoformat())
    engine.dispose()


def test_the_output_of_a_named_baseline_is_the_last_of_its_name_anywhere(engine: Engine, tmp_path: Path) -> None:
    test_set = stored_set(engine)
    ferry = {
        None: Baseline(BaselineKind.NAMED, "ferry"),
        "2026-03-01": Baseline(BaselineKind.NAMED, "ferry", "2026-03-01"),
    }
    with writing(engine) as connection:
        for name, baseline in (("named", ferry[None]), ("dated", ferry["2026-03-01"]), ("before", None)):
            chosen = {} if baseline is None else {"baseline": baseline}
            add_schedule(connection, new(tmp_path, test_set, name, team="night", **chosen))
        named, dated, before = (find_schedule(connection, name) for name in ("named", "dated", "before"))
        for schedule in (dated, before):
            assert store_baseline(connection, schedule, {test_set: NewSubmission("ferry", REFERENCE)}) == []
        assert connection.execute(select(Submission.id)).all() == []
        assert store_baseline(connection, named, {}) == [test_set]
        for campaign, system, seed in (("spring", "ferry", 3), ("autumn", "ferry", 4), ("autumn", "tug", 5)):
            number = store_campaign(connection, campaign)
            store_submissions(connection, number, test_set, [NewSubmission(system, some_text(LINES, seed), "harbour")])
        assert store_baseline(connection, named, {}) == []
        own = connection.execute(
            select(System.team, System.name, Submission.text_id)
            .join(System, System.id == Submission.system_id)
            .where(Submission.campaign_id == named.campaign_id)
        ).all()
        last = connection.scalars(
            select(Submission.text_id).join(System, System.id == Submission.system_id).where(System.name == "ferry")
        ).all()
        assert [tuple(row) for row in own] == [("night", "ferry", max(last))]
        assert len(connection.execute(select(Text.id)).all()) == len(read_references(connection, test_set).labels) + 3
        connection.execute(update(Schedule).values(active=True))
    with reading(engine) as connection:
        assert len(list_schedules(connection)) == 3
    engine.dispose()
