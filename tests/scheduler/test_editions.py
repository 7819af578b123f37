"""Work of several editions in one queue."""

import pytest
from sqlalchemy import Engine, delete, func, insert, select, update

from models.database.session import reading, writing
from models.queue.kinds.comparisons import start_comparison
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import SHARD
from models.queue_status.overview import read_overview
from models.results.randomizations import RandomizationPlan
from models.schema.base import now
from models.schema.queue import Comparison, CorpusCount, CorpusStatistics, Evaluation, Reduction, Shard, Trials, Worker
from models.schema.results import Score, Statistics
from models.schema.states import ComparisonState, LeaseState, QueueClass
from runtime.settings import Settings
from scheduler import admin, editions
from scheduler.dispatch import dispatch
from scheduler.editions import Editions
from scheduler.enqueue import corpus_statistics, evaluations, randomization, reuse
from scheduler.enqueue.randomization import request_comparison
from scheduler.ingest.campaigns import IngestResult
from steelyard.metrics.metric import EDITION, edition_name, edition_with
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.scheduler.test_dispatch import App
from tests.tasks import claim_task
from worker.context import WorkerContext
from worker.handlers import do

OLD, NEW = EDITION, EDITION + 1


@pytest.fixture
def settings(database_url: str) -> Settings:
    return one_block_shards(database_url)


def become(monkeypatch: pytest.MonkeyPatch, edition: int) -> None:
    """Be a release of that edition."""
    for module in (reuse, randomization, admin, editions, corpus_statistics, evaluations):
        monkeypatch.setattr(module, "EDITION", edition)


def add_worker(engine: Engine, name: str, edition: int) -> None:
    with writing(engine) as connection:
        row = {"id": name, "host": "h", "pid": 1, "version": "1", "concurrency": 2, "edition": edition}
        connection.execute(insert(Worker).values(**row))


def do_all(settings: Settings, edition: int) -> None:
    """Do in this process all that waits, in the order in which it is needed."""
    context = WorkerContext(settings)
    context.edition = edition
    for kind in (CORPUS_COUNT, SHARD, REDUCTION):
        table = kind.table
        with reading(context.engine) as connection:
            keys = list(connection.scalars(select(table.id).where(table.state == LeaseState.PENDING)))
        for key in keys:
            do(context, kind, key, "task")
    context.close()


def states(engine: Engine, table: type[Shard] | type[CorpusCount]) -> set[tuple[int, str]]:
    with reading(engine) as connection:
        return {(row.edition, row.state) for row in connection.execute(select(table.edition, table.state))}


def stored(engine: Engine) -> list[tuple[int, int, float | None, bytes]]:
    with reading(engine) as connection:
        rows = connection.execute(select(Score).order_by(Score.evaluation_id, Score.metric))
        return [(row.evaluation_id, row.metric, row.score, row.sums) for row in rows]


def evaluation_states(engine: Engine) -> set[tuple[int, str]]:
    with reading(engine) as connection:
        return {(row.edition, row.state) for row in connection.execute(select(Evaluation.edition, Evaluation.state))}


def test_what_an_older_edition_began_is_started_again(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    queue_job(engine, settings, segments=600, systems=2, metrics=["bleu", "nist"])
    do_all(settings, OLD)
    done = stored(engine)
    assert len(done) == 4
    job = queue_job(engine, settings, segments=600, systems=2, metrics=["bleu", "nist"], seed=2, campaign="other")
    context = WorkerContext(settings)
    with reading(engine) as connection:
        first = connection.scalars(select(CorpusCount.id).where(CorpusCount.state == LeaseState.PENDING)).first()
    do(context, CORPUS_COUNT, first, "task")
    context.close()
    become(monkeypatch, NEW)

    add_worker(engine, "old", OLD)
    assert Editions().run_once(engine, settings) == 0, "somebody is there who can finish it"
    with writing(engine) as connection:
        connection.execute(update(Worker).values(beat_at=now() - 1e6))
    assert Editions().run_once(engine, settings) == 2
    assert f"2 evaluations of edition {edition_name(OLD)}" in caplog.text
    assert Editions().run_once(engine, settings) == 0
    assert evaluation_states(engine) == {(OLD, "done"), (NEW, "queued")}
    assert states(engine, Shard) == {(OLD, "done"), (OLD, "cancelled"), (NEW, "pending")}
    assert states(engine, CorpusCount) == {(OLD, "done"), (OLD, "cancelled"), (NEW, "pending")}
    with reading(engine) as connection:
        # What was counted in the one is not for the other.
        assert sorted(connection.scalars(select(CorpusStatistics.edition))) == [OLD, OLD, NEW]

    do_all(settings, OLD)
    assert evaluation_states(engine) == {(OLD, "done"), (NEW, "queued")}, "another edition has nothing to do with it"
    do_all(settings, NEW)
    assert evaluation_states(engine) == {(OLD, "done"), (NEW, "done")}
    new = [row for row in stored(engine) if row[0] in job.all_evaluations]
    assert len(new) == 4
    assert [row for row in stored(engine) if row not in new] == done


def test_statistics_of_an_older_edition_are_dropped(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queue_job(engine, settings, segments=600, systems=1)
    context = WorkerContext(settings)
    with reading(engine) as connection:
        shards = list(connection.scalars(select(Shard.id).order_by(Shard.id)))
    for shard in shards[:2]:
        do(context, SHARD, shard, "task")
    with writing(engine) as connection:
        # All shards are done, and nobody is left to add them up.
        claim_task(connection, SHARD, shards[2], owner="o", worker="w", lease_seconds=60, max_attempts=3)
        connection.execute(update(Shard).where(Shard.id == shards[2]).values(state=LeaseState.DONE))
        evaluations.enqueue_reductions(connection, job.all_evaluations)
    become(monkeypatch, NEW)
    assert Editions().run_once(engine, settings) == 1
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Statistics)) == 0
        assert set(connection.scalars(select(Reduction.state))) == {"cancelled"}
    do_all(settings, NEW)
    assert evaluation_states(engine) == {(NEW, "done")}
    context.close()


def test_what_a_newer_edition_queued_waits(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as newer:
        become(newer, NEW)
        job = queue_job(engine, settings, segments=300, systems=2)
    with writing(engine) as connection:
        start_comparison(connection, RandomizationPlan(1, (), (), 9, 1), [(0, 9)], queue_class=0, team="", edition=NEW)
    add_worker(engine, "old", OLD)
    add_worker(engine, "new", NEW)
    looked = Editions()
    assert looked.run_once(engine, settings) == 0
    assert not caplog.text, "there is one who makes it"
    with writing(engine) as connection:
        connection.execute(delete(Worker).where(Worker.id == "new"))
    assert [looked.run_once(engine, settings) for _ in range(2)] == [0, 0]
    assert caplog.text.count(f"2 evaluations wait for a worker of edition {edition_name(NEW)}") == 1
    with reading(engine) as connection:
        assert connection.scalars(select(Comparison.state)).all() == [ComparisonState.RUNNING]
    assert evaluation_states(engine) == {(NEW, "queued")}
    assert dispatch(engine, App(), settings) == 0, "nobody would read it"
    with reading(engine) as connection:
        assert read_overview(connection, silent_seconds=10).unserved == {NEW: 2}
    # A message that reaches the wrong worker none the less.
    with writing(engine) as connection:
        connection.execute(update(Shard).values(state=LeaseState.ENQUEUED, enqueued_at=now()))
        [shard, *_] = connection.scalars(select(Shard.id))
    context = WorkerContext(settings)
    do(context, SHARD, shard, "task")
    context.close()
    with reading(engine) as connection:
        row = connection.execute(select(Shard.state, Shard.attempts).where(Shard.id == shard)).one()
    assert row == (LeaseState.PENDING, 0)
    assert job.all_evaluations


def test_every_edition_has_queues_and_a_window_of_its_own(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = settings.model_copy(update={"smallest_window": 1, "window_factor": 1.0})
    queue_job(engine, small, segments=256 * 6, systems=1)
    with monkeypatch.context() as newer:
        become(newer, NEW)
        queue_job(engine, small, segments=256 * 6, systems=1, seed=2, campaign="newer")
    add_worker(engine, "old", OLD)
    app = App()
    assert dispatch(engine, app, small) == 2
    add_worker(engine, "new", NEW)
    assert dispatch(engine, app, small) == 2
    assert [queue for _, _, queue in app.sent] == [
        QueueClass.CAMPAIGN.queue_of(edition) for edition in (OLD, OLD, NEW, NEW)
    ]
    assert states(engine, Shard) == {(edition, state) for edition in (OLD, NEW) for state in ("pending", "enqueued")}


def test_trials_of_an_older_edition_are_asked_for_again(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    job: IngestResult = queue_job(engine, settings, segments=300, systems=2)
    work_off(settings)
    a, b = job.all_evaluations
    patient = settings.model_copy(update={"at_once_seconds": 0.0})
    pairs = [((a,), (b,))]
    assert request_comparison(engine, patient, job.protocols[0], pairs, [0], trials=100, seed=1)
    become(monkeypatch, NEW)
    assert Editions().run_once(engine, settings) == 0
    with reading(engine) as connection:
        state, reason = connection.execute(select(Comparison.state, Comparison.reason)).one()
        assert (state, set(connection.scalars(select(Trials.state)))) == (ComparisonState.FAILED, {"cancelled"})
    assert "Compare again" in reason
    assert request_comparison(engine, patient, job.protocols[0], pairs, [0], trials=100, seed=1)
    with reading(engine) as connection:
        assert NEW in set(connection.scalars(select(Trials.edition)))


def test_a_worker_whose_python_has_another_unicode_mixes_with_nobody(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What is one character, and which its small letter, comes from Python's tables."""
    ours, later = edition_with("15.0.0"), edition_with("15.1.0")
    assert ours < later < edition_with("16.0.0")
    become(monkeypatch, ours)
    queue_job(engine, settings, segments=600, systems=2, metrics=["bleu:case=lc", "nist"])
    do_all(settings, later)
    assert evaluation_states(engine) == {(ours, "queued")}
    assert states(engine, Shard) == {(ours, "pending")}
    add_worker(engine, "later", later)
    assert dispatch(engine, App(), settings) == 0, "no message reaches its queues"
    with reading(engine) as connection:
        unserved = read_overview(connection, silent_seconds=10).unserved
    assert unserved == {ours: 2}
    assert [edition_name(edition) for edition in unserved] == ["2 (Unicode 15.0)"]
    do_all(settings, ours)
    assert evaluation_states(engine) == {(ours, "done")}
    done = stored(engine)

    # The scheduler's Python is renewed, too: what it queues from now on has no part in what was counted before.
    become(monkeypatch, later)
    job = queue_job(
        engine, settings, segments=600, systems=2, metrics=["bleu:case=lc", "nist"], campaign="again", seed=2
    )
    do_all(settings, ours)
    assert evaluation_states(engine) == {(ours, "done"), (later, "queued")}
    do_all(settings, later)
    assert evaluation_states(engine) == {(ours, "done"), (later, "done")}
    assert [row for row in stored(engine) if row[0] not in job.all_evaluations] == done
