"""What Prometheus sees: every figure against rows that were put there, and names in docs/how-to/operations.md."""

import os
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import insert, select, update

from models.database.session import make_engine, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.shards import SHARD
from models.schema.base import now
from models.schema.queue import Evaluation, Shard, Worker
from models.schema.states import LeaseState, QueueClass
from runtime.settings import Settings
from runtime.telemetry import exposition
from scheduler.loop import SchedulerLoop, SchedulerStatus
from scheduler.recovery import sweep
from scheduler.telemetry import SchedulerMetrics, new_counters
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.scheduler.test_dispatch import App
from tests.servers import free_port
from tests.tasks import claim_task
from web.access_log import AccessLog
from worker.context import WorkerContext
from worker.telemetry import WorkerMetrics

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parsed(text: bytes) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def scraped(*collectors: object) -> Samples:
    return parsed(exposition(collectors))


def value(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get((name, frozenset(labels.items())))


def test_what_the_database_knows(database_url: str) -> None:
    settings = one_block_shards(database_url)
    engine = make_engine(database_url)
    empty = scraped(SchedulerMetrics(settings, new_counters(), lambda: False))
    assert value(empty, "steelyard_queue_oldest_seconds", **{"class": "campaign"}) == 0
    assert value(empty, "steelyard_evaluations", state="queued") == 0
    assert value(empty, "steelyard_scheduler_leading") == 0
    job = queue_job(engine, settings, segments=600, systems=2)
    queue_job(engine, settings, segments=300, systems=1, campaign="night", queue_class=QueueClass.NIGHTLY, seed=2)
    row = {"host": "here", "pid": 7}
    workers = (("a", "1.0", 2, 0), ("b", "1.0", 3, 0), ("c", "1.1", 4, 0), ("dead", "1.0", 16, 100))
    with writing(engine) as connection:
        for name, version, processes, ago in workers:
            values = {**row, "id": name, "version": version, "concurrency": processes, "beat_at": now() - ago}
            connection.execute(insert(Worker).values(**values))
        first, second, *_ = connection.scalars(select(Shard.id).order_by(Shard.id)).all()
        connection.execute(update(Shard).values(created_at=now() - 50))
        connection.execute(update(Shard).where(Shard.id == second).values(created_at=now() - 500, attempts=1))
        claim_task(connection, SHARD, first, owner="o", worker="a", lease_seconds=60, max_attempts=3)
        cancelled = job.all_evaluations[-1:]
        cancel_evaluations(connection, cancelled, None)
    found = scraped(SchedulerMetrics(settings, new_counters(), lambda: True))
    assert value(found, "steelyard_scheduler_leading") == 1
    assert value(found, "steelyard_database_reachable") == 1
    assert value(found, "steelyard_queue_waiting", **{"class": "campaign", "kind": "shards"}) == 2
    assert value(found, "steelyard_queue_waiting", **{"class": "nightly", "kind": "shards"}) == 2
    assert value(found, "steelyard_queue_waiting", **{"class": "nightly", "kind": "trials"}) == 0
    assert value(found, "steelyard_queue_in_flight", **{"class": "campaign", "kind": "shards"}) == 1
    assert 499 < (value(found, "steelyard_queue_oldest_seconds", **{"class": "campaign"}) or 0) < 800
    assert 49 < (value(found, "steelyard_queue_oldest_seconds", **{"class": "nightly"}) or 0) < 400
    assert value(found, "steelyard_queue_retried", kind="shards") == 1
    assert value(found, "steelyard_workers", version="1.0") == 2
    assert value(found, "steelyard_pool_processes", version="1.0") == 5
    assert value(found, "steelyard_pool_processes", version="1.1") == 4
    assert value(found, "steelyard_evaluations", state="running") == 1
    assert value(found, "steelyard_evaluations", state="cancelled") == 1


def test_what_a_scheduler_counts(database_url: str) -> None:
    settings = one_block_shards(database_url, max_attempts=2)
    engine = make_engine(database_url)
    queue_job(engine, settings, segments=512, systems=1)
    failing = queue_job(engine, settings, segments=256, systems=1, campaign="other", seed=2)
    counters = new_counters()
    with writing(engine) as connection:
        first, third, second = connection.scalars(select(Shard.id).order_by(Shard.id)).all()
        connection.execute(update(Shard).where(Shard.id == second).values(attempts=1))
        for key in (first, second):
            claim_task(connection, SHARD, key, owner=f"t:{key}", worker="gone", lease_seconds=60, max_attempts=2)
        connection.execute(
            update(Shard).where(Shard.id == third).values(state=LeaseState.ENQUEUED, enqueued_at=now() - 100)
        )
    sweep(engine, settings, counters)
    assert counters.total("steelyard_scheduler_reclaimed", "shards") == 2
    assert counters.total("steelyard_scheduler_given_up", "shards") == 1
    assert counters.total("steelyard_scheduler_messages_lost") == 1
    with writing(engine) as connection:
        (evaluation,) = failing.all_evaluations
        assert connection.scalar(select(Evaluation.state).where(Evaluation.id == evaluation)) == "failed"


def test_rounds_are_timed_and_broken_ones_counted(sqlite_url: str, tmp_path: Path) -> None:
    settings = Settings(database_url=sqlite_url)
    signs = SchedulerStatus()
    app = App()
    rounds = SchedulerLoop(make_engine(sqlite_url), app, settings, status=signs)
    signs.leading = True
    assert rounds.run_once()
    assert signs.pulse.succeeds(100).ok
    assert signs.counters.buckets("steelyard_scheduler_tick_seconds")[0][-1] == 1
    gone = SchedulerLoop(make_engine(f"sqlite:///{tmp_path / 'none' / 'x.db'}"), app, settings, status=signs)
    with pytest.raises(Exception, match="unable to open"):
        gone.run_once()
    assert signs.counters.total("steelyard_scheduler_database_errors") == 1
    assert "unable to open" in signs.pulse.succeeds(100).reason


def test_a_database_that_is_away_is_reported_and_asked_again() -> None:
    settings = Settings(database_url=f"postgresql://me@127.0.0.1:{free_port()}/x")
    found = scraped(SchedulerMetrics(settings, new_counters(), lambda: False))
    assert value(found, "steelyard_database_reachable") == 0
    assert value(found, "steelyard_scheduler_messages_sent_total") == 0
    assert not [name for name, _ in found if name.startswith("steelyard_queue")]


async def _answer(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body"})


def test_docs_tell_what_is_there(sqlite_url: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "operations.md").read_text()
    told = {
        (name, kind, tuple(sorted(re.findall(r"`(\w+)`", labels))))
        for name, kind, labels in re.findall(r"^\| `(steelyard_\w+)` \| (\w+) \| (.*?) \|", page, re.MULTILINE)
    }
    context = WorkerContext(Settings(database_url=sqlite_url), 1)
    with writing(context.engine) as connection:
        row = {"id": "w", "host": "here", "pid": 7, "version": "1", "concurrency": 1}
        connection.execute(insert(Worker).values(**row))
    # As if this process were one of the pool.
    context.counters._numbers[0] = os.getpid()
    web = AccessLog(_answer)
    TestClient(web).get("/")
    collectors = (
        WorkerMetrics(context.counters),
        SchedulerMetrics(context.settings, new_counters(), lambda: True),
        *web.collectors,
    )
    there = set()
    for family in text_string_to_metric_families(exposition(collectors).decode()):
        # When a counter began is added by the library.
        if family.name.startswith("steelyard_") and not family.name.endswith("_created"):
            assert family.samples, family.name
            name = f"{family.name}_total" if family.type == "counter" else family.name
            there.add((name, family.type, tuple(sorted({*family.samples[0].labels} - {"le"}))))
            assert family.documentation.endswith(".")
            assert not re.search(r"_(total|count|sum|bucket)$", family.name)
    assert told == there
    for alert in re.findall(r"\b(steelyard_\w+)", page):
        base = re.sub(r"_(bucket|sum|count)$", "", alert)
        assert base in {name for name, _, _ in there}, f"the page speaks of {alert}, which is not there"
