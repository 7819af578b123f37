"""A small queue of every kind of work, gone through whole: the figures of an overview, against a count of its rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, Integer, create_engine

from models.database.session import make_engine, reading
from models.queue.kinds.registry import IN_WORKERS, KINDS, SENT
from models.queue_status.learned import LearnedWork, read_learned_work
from models.queue_status.overview import Overview, count_work, read_overview
from models.queue_status.progress import ColumnsProgress, read_columns_progress, read_comparison_progress
from models.schema.base import now
from models.schema.learned import LearnedShard
from models.schema.queue import Comparison, MetricsTaskPart, Trials, Worker
from models.schema.states import CLOSED, IN_FLIGHT, ComparisonState, LeaseState, QueueClass
from tests.campaigns.deletion.rows import stored_row

TEAMS = ("", "ants", "bees")
WORKERS = {"silent": 30_000.0, "alive": 1.0, "other": 5_000.0}
"""In seconds since the last heartbeat."""
SILENT_SECONDS = 10_000.0
"""After which a worker is dead."""
OPEN_STATES = (LeaseState.PENDING, *IN_FLIGHT)


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    return make_engine(sqlite_url)


def add(connection: Connection, table: type[Any], number: int, **values: Any) -> None:
    """A row with these values; its other numbers are different in each row."""
    columns = table.__table__.columns
    numbers = {each.name: number for each in columns if isinstance(each.type, Integer) and not each.nullable}
    given = {name: each for name, each in numbers.items() if columns[name].default is columns[name].server_default}
    stored_row(connection, table.__table__, **{**given, **values})


def fill(engine: Engine, seed: int) -> list[dict[str, Any]]:
    """Work of every kind, class, team and state, and its workers. No row needs those that it refers to."""
    draw, rows = Random(seed), []
    with create_engine(engine.url).begin() as connection:
        for name, beat in WORKERS.items():
            add(connection, Worker, 1, id=name, host=f"host of {name}", concurrency=3, beat_at=now() - beat)
        for number in range(1, 300):
            kind = draw.choice(KINDS)
            row: dict[str, Any] = {
                "id": number,
                "state": draw.choice(list(LeaseState)),
                "queue_class": draw.choice(list(QueueClass)),
                "team": draw.choice(TEAMS),
                "attempts": draw.choice((0, 0, 1, 2)),
                "worker": draw.choice((*WORKERS, "gone")),
            }
            ago = {"created_at": 1000.0 * draw.randrange(1, 50), "claimed_at": 1000.0 * draw.randrange(1, 50)}
            values = {**row, **{name: now() - seconds for name, seconds in ago.items()}}
            if kind.table is LearnedShard:
                values["specification"] = row["specification"] = draw.choice(("comet", "bleurt"))
                values["segments"], values["scored"] = row["segments"], row["scored"] = number, number // 2
            add(connection, kind.table, number, **values)
            rows.append({**row, **ago, "kind": kind.name})
    return rows


def look(engine: Engine) -> Overview:
    with reading(engine) as connection:
        return read_overview(connection, silent_seconds=SILENT_SECONDS)


@pytest.mark.parametrize("seed", range(3))
def test_work_is_counted_by_class_kind_and_team(engine: Engine, seed: int) -> None:
    rows = fill(engine, seed)
    seen = look(engine)
    is_open = [row for row in rows if row["state"] in OPEN_STATES]
    assert [asdict(each) for each in seen.work] == [
        {"kind": kind.name, **dict(zip(("waiting", "sent", "running"), amounts, strict=True))}
        for kind in KINDS
        for amounts in [
            [sum(row["kind"] == kind.name and row["state"] == state for row in rows) for state in OPEN_STATES]
        ]
    ]
    # Kinds that the scheduler runs itself, and learned ones, wait for none of its workers.
    sent = [row for row in is_open if row["kind"] in {kind.name for kind in SENT}]
    assert 0 < len(sent) < len(is_open)
    for queue_class, queue in zip(QueueClass, seen.queues, strict=True):
        waiting = [row for row in sent if row["queue_class"] == queue_class and row["state"] == LeaseState.PENDING]
        own = [row for row in sent if row["queue_class"] == queue_class]
        assert (queue.queue_class, queue.waiting, queue.in_flight) == (
            *(queue_class, len(waiting)),
            len(own) - len(waiting),
        )
        assert queue.oldest_seconds == pytest.approx(max(row["created_at"] for row in waiting), abs=400)
    assert seen.waiting == sum(queue.waiting for queue in seen.queues)
    assert [(each.team, each.waiting, each.in_flight) for each in seen.teams] == [
        (
            team,
            sum(row["team"] == team and row["state"] == LeaseState.PENDING for row in sent),
            sum(row["team"] == team and row["state"] in IN_FLIGHT for row in sent),
        )
        for team in TEAMS
    ]


@pytest.mark.parametrize("seed", range(3))
def test_work_that_was_tried_before_is_told_from_its_first_attempt(engine: Engine, seed: int) -> None:
    rows = fill(engine, seed)
    with reading(engine) as connection:
        counted = count_work(connection)
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["state"] in OPEN_STATES:
            key = row["kind"], row["queue_class"], row["team"], row["state"]
            groups.setdefault(key, []).append(row)
    assert {(each.kind, each.queue_class, each.team, each.state) for each in counted} == set(groups)
    assert len(counted) == len(groups)
    for each in counted:
        those = groups[each.kind, each.queue_class, each.team, each.state]
        before = sum(row["attempts"] > (row["state"] == LeaseState.RUNNING) for row in those)
        assert (each.amount, each.retried) == (len(those), before)
        assert each.age == pytest.approx(max(row["created_at"] for row in those), abs=400)


@pytest.mark.parametrize("seed", range(3))
def test_running_tasks_are_with_their_worker_or_astray(engine: Engine, seed: int) -> None:
    rows = fill(engine, seed)
    seen = look(engine)
    names = {kind.name for kind in IN_WORKERS}
    running = [row for row in rows if row["kind"] in names and row["state"] == LeaseState.RUNNING]
    running.sort(key=lambda row: (row["kind"], row["id"]))
    held = {each.id: each.holds for each in seen.workers} | {"gone": seen.astray}
    assert [each.id for each in seen.workers] == sorted(WORKERS)
    assert {each.id: each.beating for each in seen.workers} == {
        name: beat < SILENT_SECONDS for name, beat in WORKERS.items()
    }
    assert seen.processes == 6
    for worker, tasks in held.items():
        those = [row for row in running if row["worker"] == worker]
        assert [(each.kind, each.id, each.attempt) for each in tasks] == [
            (row["kind"], row["id"], row["attempts"]) for row in those
        ]
        assert [each.seconds for each in tasks] == [pytest.approx(row["claimed_at"], abs=400) for row in those]


@pytest.mark.parametrize("seed", range(3))
def test_work_of_models_is_counted_by_metric_with_the_workers_that_could_do_it(engine: Engine, seed: int) -> None:
    rows = fill(engine, seed)
    lacking: tuple[tuple[str, str, float, list[str] | None], ...] = (
        ("learned", "a", 1.0, None),
        ("learned", "b", 1.0, ["comet"]),
        ("learned", "c", 1.0, ["comet", "bleurt"]),
        ("learned", "d", 30_000.0, None),
        ("", "e", 1.0, None),
    )
    with create_engine(engine.url).begin() as connection:
        for queue, name, beat, lacks in lacking:
            add(connection, Worker, 1, id=name, queue=queue, lacks=lacks, beat_at=now() - beat)
    with reading(engine) as connection:
        found = read_learned_work(connection, SILENT_SECONDS)
    expected = []
    for metric, workers in (("bleurt", 2), ("comet", 1)):
        those = [row for row in rows if row.get("specification") == metric and row["state"] in OPEN_STATES]
        running = sum(row["state"] == LeaseState.RUNNING for row in those)
        contents, scored = (sum(row[name] for row in those) for name in ("segments", "scored"))
        expected.append(LearnedWork(metric, len(those) - running, running, contents, scored, workers))
    assert found == tuple(expected)


@pytest.mark.parametrize("seed", range(3))
def test_comparisons_and_metrics_tasks_are_as_far_as_their_parts(engine: Engine, seed: int) -> None:
    draw = Random(seed)
    comparisons: dict[int, dict[str, Any]] = {}
    trials, parts = [], []
    with create_engine(engine.url).begin() as connection:
        for number in range(1, 13):
            state = draw.choice(list(ComparisonState))
            comparisons[number] = {"state": state, "reason": f"reason {number}", "trials": 100 * number}
            known = {"content_hash": f"{number}", "remaining": number}
            add(connection, Comparison, number, id=number, **known, **comparisons[number])
        for number in range(1, 80):
            first = draw.randrange(100)
            row = {"comparison_id": draw.randrange(1, 13), "state": draw.choice(list(LeaseState))}
            row |= {"first_trial": first, "last_trial": first + draw.randrange(1, 50)}
            trials.append(row)
            add(connection, Trials, number, id=number, **row)
            part = {"campaign_id": draw.randrange(1, 4), "state": draw.choice(list(LeaseState))}
            parts.append(part)
            add(connection, MetricsTaskPart, number, id=number, **part)
    for wanted in ([1], [5, 2, 9], list(comparisons), []):
        with reading(engine) as connection:
            found = read_comparison_progress(connection, wanted)
        states = Counter(comparisons[each]["state"] for each in wanted)
        assert (found.running, found.done) == (states[ComparisonState.RUNNING], states[ComparisonState.DONE])
        assert found.open == found.running
        failed = [each for each in sorted(wanted) if comparisons[each]["state"] == ComparisonState.FAILED]
        assert found.failures == tuple(f"reason {each}" for each in failed)
        assert found.trials == sum(100 * each for each in wanted)
        assert found.trials_done == sum(
            row["last_trial"] - row["first_trial"]
            for row in trials
            if row["comparison_id"] in wanted and row["state"] == LeaseState.DONE
        )
    for campaign in range(5):
        of_campaign = [part["state"] for part in parts if part["campaign_id"] == campaign]
        with reading(engine) as connection:
            progress = read_columns_progress(connection, campaign)
        assert progress == ColumnsProgress(sum(each not in CLOSED for each in of_campaign), len(of_campaign))
    running = [each for each, row in comparisons.items() if row["state"] == ComparisonState.RUNNING]
    assert [(each.id, each.trials, each.tasks_left) for each in look(engine).comparisons] == [
        (each, 100 * each, each) for each in running
    ]
