"""Counters that are set right, and rows that go when their work ended long ago."""

from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.kinds.comparisons import TRIALS, start_comparison
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.registry import SENT
from models.queue.retention import backfill_ended_at, prune_finished
from models.results.randomizations import RandomizationPlan
from models.schema.base import now
from models.schema.queue import (
    Comparison,
    CorpusCount,
    CorpusStatistics,
    Evaluation,
    Leased,
    Reduction,
    Shard,
    ShardEvaluation,
    Trials,
)
from models.schema.results import Score, Statistics
from models.schema.states import ComparisonState, LeaseState, QueueClass
from scheduler import maintenance
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.enqueue.randomization import request_comparison
from scheduler.maintenance import Maintenance
from steelyard.metrics.metric import EDITION
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.statements import caught
from tests.tasks import KIND_OF
from worker.context import WorkerContext
from worker.handlers import do

DAY = 86400.0


def count(engine: Engine, table: type) -> int:
    with reading(engine) as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def evaluations(engine: Engine) -> list[tuple[str, int]]:
    with reading(engine) as connection:
        rows = connection.execute(select(Evaluation.state, Evaluation.remaining).order_by(Evaluation.id))
        return [(row.state, row.remaining) for row in rows]


def age(engine: Engine, days: float) -> None:
    """All that has ended did so some days earlier."""
    with writing(engine) as connection:
        for table in (Shard, Reduction, CorpusCount, Trials):
            connection.execute(update(table).values(ended_at=table.ended_at - days * DAY))
        connection.execute(update(Comparison).values(finished_at=Comparison.finished_at - days * DAY))


def finished(engine: Engine, url: str) -> list[int]:
    """A protocol whose metric is prepared, with three evaluations that are done and compared."""
    settings = one_block_shards(url, at_once_seconds=0.0)
    job = queue_job(engine, settings, segments=600, metrics=["nist"])
    context = WorkerContext(settings)
    with reading(engine) as connection:
        parts = list(connection.scalars(select(CorpusCount.id).order_by(CorpusCount.id)))
    for part in parts:
        do(context, CORPUS_COUNT, part, "task")
    work_off(settings)
    pairs = [((job.all_evaluations[0],), (job.all_evaluations[1],))]
    request_comparison(engine, settings, job.protocols[0], pairs, [0], trials=200, seed=3)
    with reading(engine) as connection:
        trials = list(connection.scalars(select(Trials.id)))
    for each in trials:
        do(context, TRIALS, each, "task")
    context.close()
    return job.all_evaluations


def test_what_ended_long_ago_goes_and_results_stay(engine: Engine, database_url: str) -> None:
    finished(engine, database_url)
    age(engine, 31)
    # Rows that ended but lately stay.
    with writing(engine) as connection:
        last = connection.scalar(select(func.max(Shard.id)))
        connection.execute(update(Shard).where(Shard.id == last).values(ended_at=now()))
    kept = {table: count(engine, table) for table in (Statistics, Score, CorpusStatistics, Evaluation)}
    assert all(kept.values())
    for _ in range(2):
        with writing(engine) as connection:
            prune_finished(connection, 30 * DAY, 1000)
    assert [count(engine, table) for table in (Shard, Reduction, CorpusCount, Trials, Comparison)] == [1, 0, 0, 0, 0]
    assert {table: count(engine, table) for table in kept} == kept
    assert evaluations(engine) == [("done", 0)] * 3


def test_only_so_many_go_at_once(engine: Engine, database_url: str) -> None:
    finished(engine, database_url)
    age(engine, 31)
    before = count(engine, Shard), count(engine, CorpusCount)
    with writing(engine) as connection:
        # And then the comparison whose trials these were.
        gone = {
            **dict.fromkeys((kind.name for kind in SENT), 1),
            "nightly_run_steps": 0,
            "deliveries": 0,
            "learned_shards": 0,
            "metrics_task_parts": 0,
            "notices": 0,
            "comparisons": 1,
        }
        assert prune_finished(connection, 30 * DAY, 1) == gone
    assert (count(engine, Shard), count(engine, CorpusCount)) == (before[0] - 1, before[1] - 1)


def test_old_rows_go_until_none_is_left(engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few in each round of the scheduler, without a pause as long as there are more; then a minute later again."""
    monkeypatch.setattr(maintenance, "PRUNED_ROWS", 10)
    settings = one_block_shards(database_url)
    [protocol] = queue_job(engine, settings, segments=100, systems=1).protocols
    moment = 1000.0
    monkeypatch.setattr(maintenance, "time", SimpleNamespace(monotonic=lambda: moment))
    usual = count(engine, Shard)

    def end_long_ago(amount: int) -> None:
        row = {"protocol_id": protocol, "first_block": 0, "last_block": 1, "cost": 1.0, "state": "done"}
        with writing(engine) as connection:
            connection.execute(insert(Shard), [{**row, "ended_at": 100.0 + number} for number in range(amount)])

    end_long_ago(47)
    kept = Maintenance(engine, settings)
    seen = []
    kept.run_once()
    for _ in range(6):
        seen.append(count(engine, Shard) - usual)
        kept.prune_more()
    assert seen == [37, 27, 17, 7, 0, 0]
    end_long_ago(3)
    kept.run_once()
    assert count(engine, Shard) - usual == 3, "nothing was due"
    moment += maintenance.PRUNE_SECONDS
    kept.run_once()
    assert count(engine, Shard) == usual


def test_what_an_open_evaluation_rests_on_stays(engine: Engine, database_url: str) -> None:
    """Its shards tell how far it is, its reduction is to be replaced, its parts are to be merged."""
    settings = one_block_shards(database_url)
    queue_job(engine, settings, segments=600, metrics=["nist"])
    context = WorkerContext(settings)
    with reading(engine) as connection:
        first = connection.scalars(select(CorpusCount.id).order_by(CorpusCount.id)).first()
    assert first is not None
    do(context, CORPUS_COUNT, first, "task")
    context.close()
    with writing(engine) as connection:
        shard = connection.scalar(select(func.min(Shard.id)))
        connection.execute(update(Shard).where(Shard.id == shard).values(state=LeaseState.DONE, ended_at=now()))
    age(engine, 31)
    with writing(engine) as connection:
        assert not any(prune_finished(connection, 30 * DAY, 1000).values())


def test_a_failed_evaluation_keeps_what_is_done_when_its_shards_are_gone(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url)
    job = queue_job(engine, settings, segments=600)
    work_off(settings)
    with writing(engine) as connection:
        connection.execute(delete(Score))
        connection.execute(delete(Statistics).where(Statistics.first_block == 1))
        connection.execute(update(Evaluation).values(state="failed", reason="a disk"))
    age(engine, 31)
    with writing(engine) as connection:
        prune_finished(connection, 30 * DAY, 1000)
    assert count(engine, Shard) == 0
    with writing(engine) as connection:
        enqueue_evaluations(connection, settings, job.protocols[0], job.submissions, queue_class=QueueClass.CAMPAIGN)
    with reading(engine) as connection:
        blocks = connection.execute(select(Shard.first_block, Shard.last_block)).all()
    assert [tuple(row) for row in blocks] == [(1, 2)]
    work_off(settings)
    assert evaluations(engine) == [("done", 0)] * 3


def test_rows_of_earlier_releases_get_a_date_first(engine: Engine, database_url: str) -> None:
    finished(engine, database_url)
    with writing(engine) as connection:
        connection.execute(update(Shard).values(ended_at=None))
        amount = count(engine, Shard)
        assert backfill_ended_at(connection) == amount
        assert backfill_ended_at(connection) == 0


def test_it_is_done_at_the_start_and_then_when_it_is_due(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    settings = one_block_shards(sqlite_url)
    finished(engine, sqlite_url)
    age(engine, 31)
    [first, *_] = queue_job(engine, settings, segments=600, metrics=["bleu"], campaign="second").all_evaluations
    kept = Maintenance(engine, settings)
    for _ in range(2):
        with writing(engine) as connection:
            connection.execute(update(Evaluation).where(Evaluation.id == first).values(remaining=7))
        kept.run_once()
    with reading(engine) as connection:
        # The second time nothing was due.
        assert connection.scalar(select(Evaluation.remaining).where(Evaluation.id == first)) == 7
        assert connection.scalar(select(func.count()).where(Shard.state == LeaseState.DONE)) == 0


OLD, YOUNG = 31 * DAY, 29 * DAY


CLOSED = ("done", "failed", "cancelled")


def add_ended(connection: Connection, table: type[Leased], state: str, ago: float | None, **values: Any) -> int:
    row = {
        Shard: {"protocol_id": 1, "first_block": 0, "last_block": 1, "cost": 1.0},
        Reduction: {"protocol_id": 1},
        CorpusCount: {"first_block": 0, "last_block": 1},
        Trials: {"first_trial": 0, "last_trial": 9},
    }[table]
    ended_at = None if ago is None else now() - ago
    inserted = insert(table).values(**{**row, "state": state, "ended_at": ended_at, **values})
    return connection.execute(inserted.returning(table.id)).scalar_one()


@pytest.mark.parametrize("table", [Shard, Reduction, CorpusCount, Trials])
def test_of_each_kind_goes_what_ended_long_ago_and_nobody_needs(
    engine: Engine, database_url: str, table: type[Leased]
) -> None:
    """What works for something open stays, however old it is; what is open stays in any case."""
    queue_job(engine, one_block_shards(database_url), segments=10, systems=2, metrics=["nist"])
    going, staying = [], []
    with writing(engine) as connection:
        connection.execute(update(Shard).values(state="done", ended_at=now()))
        connection.execute(update(CorpusCount).values(state="done", ended_at=now()))
        connection.execute(update(Evaluation).where(Evaluation.id == 1).values(state="done"))
        connection.execute(update(Evaluation).where(Evaluation.id == 2).values(state="reducing"))
        # The first is done with, the second is under way.
        row = {"content_hash": "x", "metric": "nist", "key": "k", "reference_texts": [], "segments": 1}
        merged = {**row, "variable_references": False, "edition": 1, "blob": b"state"}
        connection.execute(insert(CorpusStatistics).values(**merged))
        for seed, state in ((1, "done"), (2, "running")):
            compared = {"protocol_id": 1, "content_hash": f"{seed}", "systems": [], "tests": [], "trials": 9}
            connection.execute(insert(Comparison).values(**compared, seed=seed, state=state, remaining=1))
        states = {False: 2, True: 1}
        for state in LeaseState:
            for ago in (OLD, YOUNG):
                for needed in (False, True):
                    others: dict[str, Any] = {}
                    if table is CorpusCount:
                        others = {"corpus_statistics_id": states[needed], "part": b"part"}
                    if table is Trials:
                        others = {"comparison_id": 2 if needed else 1}
                    key = add_ended(connection, table, state, ago, **others)
                    if table is Shard:
                        member = {"shard_id": key, "evaluation_id": 2 if needed else 1}
                        connection.execute(insert(ShardEvaluation).values(**member))
                    goes = state in CLOSED and ago == OLD and not needed
                    if table is CorpusCount:
                        # Of what is not merged yet, the parts that are counted stay.
                        goes = state in CLOSED and ago == OLD and not (needed and state == "done")
                    if table is Reduction:
                        goes = state in CLOSED and ago == OLD
                    (going if goes else staying).append(key)
        before = set(connection.scalars(select(table.id)))
        gone = prune_finished(connection, 30 * DAY, 1000)
        assert before - set(connection.scalars(select(table.id))) == set(going)
        assert set(staying) <= before
    assert {name: amount for name, amount in gone.items() if amount} == {KIND_OF[table].name: len(going)}


def test_a_reduction_goes_when_those_it_worked_for_have_ended(engine: Engine, database_url: str) -> None:
    queue_job(engine, one_block_shards(database_url), segments=10, systems=4)
    with writing(engine) as connection:
        keys = [add_ended(connection, Reduction, "done", ago) for ago in (OLD, OLD, YOUNG)]
        for evaluation, (state, key) in enumerate(
            [("done", keys[0]), ("reducing", keys[1]), ("done", keys[2]), ("reducing", None)], start=1
        ):
            here = Evaluation.id == evaluation
            connection.execute(update(Evaluation).where(here).values(state=state, reduction_id=key))
        assert prune_finished(connection, 30 * DAY, 1000)["reductions"] == 1
        assert list(connection.scalars(select(Reduction.id).order_by(Reduction.id))) == keys[1:]
        kept = connection.scalars(select(Evaluation.reduction_id).order_by(Evaluation.id))
        assert list(kept) == [None, *keys[1:], None]


def test_a_comparison_goes_when_it_ended_long_ago_and_its_trials_are_gone(engine: Engine, database_url: str) -> None:
    queue_job(engine, one_block_shards(database_url), segments=10, systems=1)
    staying = set()
    with writing(engine) as connection:
        cases = [(state, ago, trials) for state in ComparisonState for ago in (OLD, YOUNG) for trials in (False, True)]
        for seed, (state, ago, trials) in enumerate(cases, start=1):
            row = {"protocol_id": 1, "content_hash": f"{seed}", "systems": [], "tests": [], "trials": 9}
            values = {**row, "seed": seed, "state": state, "remaining": 0, "finished_at": now() - ago}
            connection.execute(insert(Comparison).values(**values))
            if trials:
                add_ended(connection, Trials, "pending", None, comparison_id=seed)
            if state == ComparisonState.RUNNING or ago == YOUNG or trials:
                staying.add(seed)
        assert prune_finished(connection, 30 * DAY, 1000)["comparisons"] == len(cases) - len(staying) == 2
        assert set(connection.scalars(select(Comparison.id))) == staying


@pytest.mark.parametrize("table", [Shard, Reduction, CorpusCount, Trials])
def test_what_ended_without_a_date_gets_one(engine: Engine, database_url: str, table: type[Leased]) -> None:
    """An hour ago; what is open has not ended, and what has a date keeps it."""
    queue_job(engine, one_block_shards(database_url), segments=10, systems=1, metrics=["nist"])
    with writing(engine) as connection:
        start_comparison(
            connection, RandomizationPlan(1, (), (), 9, 1), [(0, 9)], queue_class=0, team="", edition=EDITION
        )
        others = {CorpusCount: {"corpus_statistics_id": 1}, Trials: {"comparison_id": 1}}.get(table, {})
        keys = {state: add_ended(connection, table, state, None, **others) for state in LeaseState}
        dated = add_ended(connection, table, "done", 5.0, **others)
        assert backfill_ended_at(connection) == 3
        ended = {row.id: row for row in connection.execute(select(table.id, (now() - table.ended_at).label("ago")))}
        for state, key in keys.items():
            assert ended[key].ago == (pytest.approx(3600, abs=60) if state in CLOSED else None)
        assert ended[dated].ago < 60


@pytest.mark.parametrize("table", [Shard, Reduction])
def test_retention_waits_for_nobody_who_holds_a_row(postgres_url: str, table: type[Leased]) -> None:
    """And he locks evaluations in the order of their ids, as all do."""
    engine = make_engine(postgres_url)
    queue_job(engine, one_block_shards(postgres_url), segments=10, systems=3)
    with writing(engine) as connection:
        first, second = (add_ended(connection, table, "done", OLD) for _ in range(2))
        connection.execute(update(Evaluation).values(state="done"))
        if table is Reduction:
            connection.execute(update(Evaluation).values(reduction_id=second))
    with writing(engine) as holder:
        holder.execute(select(table.id).where(table.id == first).with_for_update())
        with caught() as statements, writing(engine, lock_seconds=0.5) as connection:
            assert prune_finished(connection, 30 * DAY, 1000)[KIND_OF[table].name] == 1
    locking = [said for said, _ in statements if "FROM evaluation" in said and said.endswith("FOR UPDATE")]
    assert len(locking) == (1 if table is Reduction else 0)
    assert all("ORDER BY evaluation.id" in said for said in locking)
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).where(table.id.in_([first, second]))) == 1
    engine.dispose()


def test_what_waits_longer_than_any_retry_is_stuck(
    engine: Engine, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """And only what was repaired is reported."""
    settings = one_block_shards(database_url, retry_seconds=100.0, max_attempts=3)
    queue_job(engine, settings, segments=600, systems=1)
    with writing(engine) as connection:
        first, second, _ = connection.scalars(select(Shard.id).order_by(Shard.id))
        for key, delay in ((first, 350.0), (second, 370.0)):
            connection.execute(update(Shard).where(Shard.id == key).values(not_before=now() + delay))
    maintenance.repair(engine, settings)
    assert [record.getMessage() for record in caplog.records] == ["1 shards were stuck and return to pending"]
    with reading(engine) as connection:
        later = list(connection.scalars(select(Shard.id).where(Shard.not_before > now())))
    assert later == [first]
