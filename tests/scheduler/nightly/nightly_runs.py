"""Small schedules for tests: a test set of 60 segments, outputs in folders by date."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path

from sqlalchemy import Engine, select, update

from models.database.session import reading, writing
from models.nightly.schedules import Baseline
from models.queue.kinds.shards import SHARD
from models.schema.nightly import NightlyRun, Schedule
from models.schema.queue import Shard
from models.schema.states import BaselineKind, LeaseState
from runtime.settings import Settings
from scheduler.ingest.campaigns import store_campaign
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from scheduler.nightly.cron import Calendar
from scheduler.nightly.schedules import NewSchedule, add_schedule
from scheduler.nightly.sources import Source, new_source
from tests.scheduler.jobs import WORDS, similar_text, some_text
from worker.context import WorkerContext
from worker.handlers import do

SEGMENTS = 60
REFERENCE = some_text(SEGMENTS, 1)
DAY = 86400.0


def add(
    engine: Engine,
    folder: Path,
    *,
    name: str = "gate",
    source: Source | None = None,
    test_set: int | None = None,
    **others: object,
) -> int:
    """Store a schedule for 02:30 in Prague, whose next run is the one of 2026-03-02."""
    if source is None:
        source = new_source(f"{folder}/{{date}}/{{system}}.txt", None, 1.0, folder, ["trial"])
    values = {
        "baseline": Baseline(BaselineKind.PREVIOUS),
        "metrics": ["chrf"],
        "replicates": 20,
        "calendar": Calendar("30 2 * * *", "Europe/Prague"),
        **others,
    }
    with writing(engine) as connection:
        campaign = store_campaign(connection, name)
        key = test_set or store_test_set(connection, campaign, NewTestSet("trial", {"A": REFERENCE}))
        schedule = add_schedule(connection, NewSchedule(name, source=source, test_sets=[(key, ["A"])], **values))
        connection.execute(update(Schedule).where(Schedule.id == schedule).values(next_at=due("2026-03-02")))
    return schedule


def due(day: str) -> float:
    """The moment of a run."""
    return Calendar("30 2 * * *", "Europe/Prague").on(date.fromisoformat(day))


def put(folder: Path, day: str, seeds: dict[str, int], *, worse: float = 0.0, segments: int = SEGMENTS) -> None:
    """Write outputs of systems; the same seed makes the same. `worse` is the share of further words that are spoilt."""
    for system, seed in seeds.items():
        path = folder / day / f"{system}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = similar_text(REFERENCE, seed).decode().split("\n")[:segments]
        draw = random.Random(seed)
        spoilt = [
            " ".join(draw.choice(WORDS) if draw.random() < worse else word for word in line.split(" "))
            for line in lines
        ]
        path.write_text("\n".join(spoilt) + "\n")


def nightly_runs(engine: Engine, *columns: str) -> list[tuple[object, ...]]:
    """These columns of all runs, by time."""
    chosen = [getattr(NightlyRun, name) for name in columns]
    with reading(engine) as connection:
        return [tuple(row) for row in connection.execute(select(*chosen).order_by(NightlyRun.due_at, NightlyRun.id))]


def work_off(settings: Settings) -> None:
    """Do all shards that wait, in this process."""
    context = WorkerContext(settings)
    with reading(context.engine) as connection:
        waiting = list(connection.scalars(select(Shard.id).where(Shard.state == LeaseState.PENDING)))
    for shard in waiting:
        do(context, SHARD, shard, "task")
    context.close()
