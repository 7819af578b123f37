"""Counters of open work are compared with the rows, and mended."""

import threading

import pytest
from sqlalchemy import Engine, delete, func, insert, select, text, update

from models.database.session import make_engine, reading, writing
from models.queue.consistency import find_broken_comparisons, recount
from models.queue.kinds.comparisons import start_comparison
from models.queue.kinds.shards import SHARD
from models.results.randomizations import RandomizationPlan
from models.schema.base import now
from models.schema.queue import (
    Comparison,
    Evaluation,
    Shard,
    ShardEvaluation,
    Trials,
    Worker,
)
from models.schema.results import Randomization, Score
from models.schema.states import LeaseState
from runtime.settings import Settings
from scheduler import maintenance
from scheduler.enqueue.randomization import request_comparison
from scheduler.maintenance import Maintenance, recount_open
from scheduler.recovery import sweep
from steelyard.metrics.metric import EDITION
from tests.databases import waits_for_a_lock
from tests.faults.cluster import until
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.scheduler.test_maintenance import count, evaluations
from tests.tasks import claim_task, complete_shard
from worker.context import WorkerContext
from worker.handlers import do


def test_counters_are_set_by_the_shards(engine: Engine, database_url: str, caplog: pytest.LogCaptureFixture) -> None:
    job = queue_job(engine, one_block_shards(database_url), segments=600, systems=4)
    few, many, *_, none = job.all_evaluations
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.id == few).values(remaining=1))
        connection.execute(update(Evaluation).where(Evaluation.id == many).values(remaining=7))
        connection.execute(delete(ShardEvaluation).where(ShardEvaluation.evaluation_id == none))
    assert recount_open(engine) == 3
    assert evaluations(engine) == [("queued", 3)] * 3 + [("reducing", 0)]
    assert f"Evaluation {many} waited for 7 shards instead of 3" in caplog.text
    assert recount_open(engine) == 0


def test_a_shard_that_completes_meanwhile_counts_once(postgres_url: str) -> None:
    """The counter was wrong; who mends it waits until the shard is done, and counts then."""
    engine = make_engine(postgres_url)
    [evaluation] = queue_job(engine, one_block_shards(postgres_url), segments=600, systems=1).all_evaluations
    found: list[tuple[int, int] | None] = []

    def mend() -> None:
        with writing(engine) as connection:
            found.append(recount(connection, evaluation))

    thread = threading.Thread(target=mend)
    with writing(engine) as connection:
        connection.execute(update(Evaluation).values(remaining=9))
        [first, *_] = connection.scalars(select(Shard.id).order_by(Shard.id))
        claim = claim_task(connection, SHARD, first, owner="o", worker="w", lease_seconds=60, max_attempts=3)
    assert claim is not None
    with writing(engine) as connection:
        assert complete_shard(connection, claim, []).accepted
        thread.start()
        until(lambda: waits_for_a_lock(engine), "the one who mends")
    thread.join(60)
    assert found == [(8, 2)]
    assert evaluations(engine) == [("running", 2)]
    engine.dispose()


def test_what_has_ended_is_not_counted_again(engine: Engine, database_url: str) -> None:
    """Nor is what is under way: sent, running and waiting shards are all to come."""
    settings = one_block_shards(database_url)
    ended, under_way = queue_job(engine, settings, segments=600, systems=2).all_evaluations
    with writing(engine) as connection:
        first, second, _ = connection.scalars(select(Shard.id).order_by(Shard.id))
        connection.execute(update(Shard).where(Shard.id == first).values(state=LeaseState.RUNNING))
        connection.execute(update(Shard).where(Shard.id == second).values(state=LeaseState.ENQUEUED))
        connection.execute(update(Evaluation).where(Evaluation.id == ended).values(state="done", remaining=0))
    assert recount_open(engine) == 0
    for evaluation in (ended, under_way):
        with writing(engine) as connection:
            assert recount(connection, evaluation) is None
    assert evaluations(engine) == [("done", 0), ("queued", 3)]


def test_a_comparison_under_way_is_not_broken(engine: Engine, database_url: str) -> None:
    protocol = queue_job(engine, one_block_shards(database_url), segments=10, systems=1).protocols[0]
    for seed in (1, 2):
        with writing(engine) as connection:
            ranges = [(0, 30), (30, 40), (40, 70), (70, 99)]
            start_comparison(
                connection,
                RandomizationPlan(protocol, (), (), 99, seed),
                ranges,
                queue_class=0,
                team="",
                edition=EDITION,
            )
    with writing(engine) as connection:
        for key, state in ((1, LeaseState.RUNNING), (2, LeaseState.ENQUEUED), (3, LeaseState.DONE)):
            connection.execute(update(Trials).where(Trials.id == key).values(state=state))
        connection.execute(update(Comparison).where(Comparison.id == 1).values(remaining=3))
        assert find_broken_comparisons(connection) == []
        for key, state in ((4, LeaseState.CANCELLED), (8, LeaseState.FAILED)):
            connection.execute(update(Trials).where(Trials.id == key).values(state=state))
        connection.execute(update(Comparison).values(remaining=Comparison.remaining - 1))
        assert find_broken_comparisons(connection) == [1, 2], "they would end with fewer trials than were asked for"
        connection.execute(update(Comparison).where(Comparison.id == 1).values(state="failed"))
        assert find_broken_comparisons(connection) == [2]


EDITS = {
    "a shard is deleted": "DELETE FROM shard WHERE id = (SELECT min(id) FROM shard)",
    "all shards are deleted": "DELETE FROM shard",
    "a shard works for nobody": "DELETE FROM shard_evaluation WHERE shard_id = (SELECT min(id) FROM shard)",
    "all shards work for nobody": "DELETE FROM shard_evaluation",
    "too many are waited for": "UPDATE evaluation SET remaining = remaining + 2",
    "too few are waited for": "UPDATE evaluation SET remaining = 1",
    "none are waited for": "UPDATE evaluation SET remaining = 0",
    "shards are said to be done": "UPDATE shard SET state = 'done'",
    "shards are said to have failed": "UPDATE shard SET state = 'failed'",
    "shards are said to be cancelled": "UPDATE shard SET state = 'cancelled'",
    "shards are said to run": "UPDATE shard SET state = 'running'",
    "shards run for ever": "UPDATE shard SET state = 'running', owner = 'o', worker = 'w'",
    "shards are said to be sent": "UPDATE shard SET state = 'enqueued'",
    "shards may not begin": "UPDATE shard SET not_before = 1e11",
    "attempts are used up": "UPDATE shard SET attempts = 99",
    "evaluations are said to be reduced": "UPDATE evaluation SET state = 'reducing', remaining = 0",
}
"""Of a job that waits."""


LATER_EDITS = {
    "the reduction is deleted": "UPDATE evaluation SET reduction_id = NULL; DELETE FROM reduction",
    "the reduction is said to be done": "UPDATE reduction SET state = 'done'",
    "statistics are deleted": "DELETE FROM statistics WHERE first_block = 1",
    "all statistics are deleted": "DELETE FROM statistics",
    "evaluations are said to run": "UPDATE evaluation SET state = 'running'",
    "shards of a reduced job are deleted": "DELETE FROM shard",
}
"""Of a job whose shards are done."""


@pytest.mark.few(10)
@pytest.mark.parametrize("edit", [*EDITS, *LATER_EDITS])
def test_whatever_people_edit_every_evaluation_ends(engine: Engine, database_url: str, edit: str) -> None:
    """With scores, or with a reason; in the rounds of two minutes."""
    settings = one_block_shards(database_url, recount_seconds=1e-9)
    with writing(engine) as connection:
        connection.execute(insert(Worker).values(id="w", host="h", pid=1, version="1", concurrency=1))
    queue_job(engine, settings, segments=600)
    if edit in LATER_EDITS:
        do_shards(settings)
    with writing(engine) as connection:
        for statement in (EDITS | LATER_EDITS)[edit].split(";"):
            assert connection.execute(text(statement)).rowcount
    kept = Maintenance(engine, settings)
    for _ in range(6):
        with writing(engine) as connection:
            connection.execute(update(Worker).values(beat_at=now()))
        kept.run_once()
        sweep(engine, settings)
        work_off(settings)
    with reading(engine) as connection:
        rows = connection.execute(select(Evaluation.state, Evaluation.reason)).all()
        scores = connection.scalar(select(func.count()).select_from(Score))
    assert {row.state for row in rows} <= {"done", "failed"}
    assert all(row.reason for row in rows if row.state == "failed")
    assert scores == sum(row.state == "done" for row in rows)
    for row in rows:
        if "no statistics" in (row.reason or ""):
            assert row.reason.endswith("`steelyard submission retry` recomputes what is missing.")


def do_shards(settings: Settings) -> None:
    """All shards that wait, and no reduction."""
    context = WorkerContext(settings)
    context.shutting_down.set_once("nothing further is to be done")
    with reading(context.engine) as connection:
        shards = list(connection.scalars(select(Shard.id)))
    for shard in shards:
        do(context, SHARD, shard, "task")
    context.close()


@pytest.mark.parametrize(
    "edit",
    [
        "DELETE FROM trials WHERE id = (SELECT min(id) FROM trials)",
        "UPDATE trials SET state = 'done'",
        "UPDATE trials SET state = 'failed' WHERE id = (SELECT min(id) FROM trials)",
        "UPDATE comparison SET remaining = 7",
    ],
)
def test_whatever_people_edit_every_comparison_ends(engine: Engine, database_url: str, edit: str) -> None:
    """Never with fewer trials than were asked for."""
    settings = one_block_shards(database_url, recount_seconds=1e-9, at_once_seconds=0.0, shard_seconds=1e-6)
    job = queue_job(engine, settings, segments=100)
    work_off(settings)
    pairs = [((job.all_evaluations[0],), (job.all_evaluations[1],))]
    request_comparison(engine, settings, job.protocols[0], pairs, [0], trials=200, seed=3)
    kept = Maintenance(engine, settings)
    kept.run_once()
    with writing(engine) as connection:
        assert connection.scalar(select(Comparison.state)) == "running"
        connection.execute(text(edit))
    kept.run_once()
    with reading(engine) as connection:
        ended = connection.execute(select(Comparison.state, Comparison.reason)).one()
    assert tuple(ended) == ("failed", maintenance.BROKEN)
    assert count(engine, Randomization) == 0
