"""Finding what was lost."""

import threading

import pytest
from sqlalchemy import Engine, func, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.reductions import enqueue_reductions
from models.queue.kinds.registry import SENT
from models.queue.kinds.shards import SHARD
from models.queue.sweep import find_exhausted
from models.queue.task_kind import give_up
from models.schema.base import now
from models.schema.learned import LearnedShard
from models.schema.queue import (
    Comparison,
    CorpusCount,
    Evaluation,
    Leased,
    MetricsTaskPart,
    Reduction,
    Shard,
    Trials,
    Worker,
)
from models.schema.states import IN_FLIGHT, LeaseState
from runtime.settings import Settings
from scheduler.enqueue.randomization import request_comparison
from scheduler.ingest.campaigns import IngestResult
from scheduler.recovery import enqueue_missing_reductions, reclaim_all, sweep
from scheduler.telemetry import GIVEN_UP, MESSAGES_LOST, RECLAIMED, new_counters
from steelyard.metrics import built_in
from tests.databases import waits_for_a_lock
from tests.faults.cluster import until
from tests.models.kinds.rows import KINDS, add_metrics_task_part, claim, queue_row, row_of
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.tasks import KIND_OF, claim_task, policy

one_kind = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Where databases cannot differ."""


@pytest.fixture(autouse=True)
def vowels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learned metric that is known here alone."""
    monkeypatch.setitem(built_in.LEARNED, "vowels", "tests.worker.learned_metric:Vowels")


@pytest.fixture
def settings(database_url: str) -> Settings:
    return one_block_shards(database_url)


@pytest.fixture
def job(engine: Engine, settings: Settings) -> IngestResult:
    with writing(engine) as connection:
        connection.execute(insert(Worker).values(id="w", host="h", pid=1, version="1", concurrency=1))
    return queue_job(engine, settings, segments=600, systems=2)


def shards(engine: Engine) -> list[tuple[str, int]]:
    with reading(engine) as connection:
        rows = connection.execute(select(Shard.state, Shard.attempts).order_by(Shard.id))
        return [(row.state, row.attempts) for row in rows]


def start(engine: Engine, *, lease: float = 60) -> None:
    """One shard runs, one is enqueued, one waits."""
    with writing(engine) as connection:
        first, second, _ = connection.scalars(select(Shard.id).order_by(Shard.id)).all()
        claim_task(connection, SHARD, first, owner="o", worker="w", lease_seconds=lease, max_attempts=3)
        connection.execute(update(Shard).where(Shard.id == second).values(state=LeaseState.ENQUEUED, enqueued_at=now()))


@pytest.mark.usefixtures("job")
def test_living_work_is_left_alone(engine: Engine, settings: Settings) -> None:
    start(engine)
    assert sweep(engine, settings) == 0
    assert shards(engine) == [("running", 1), ("enqueued", 0), ("pending", 0)]


@pytest.mark.usefixtures("job")
def test_a_lease_that_is_over_is_reclaimed(
    engine: Engine, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    start(engine, lease=-1)
    assert sweep(engine, settings) == 1
    assert shards(engine) == [("pending", 1), ("enqueued", 0), ("pending", 0)]
    assert "worker w exceeded its lease" in caplog.text


@pytest.mark.usefixtures("job")
def test_the_work_of_a_silent_worker_is_reclaimed(engine: Engine, settings: Settings) -> None:
    start(engine)
    with writing(engine) as connection:
        connection.execute(update(Worker).values(beat_at=now() - 20))
    assert sweep(engine, settings) == 1
    assert shards(engine)[0] == ("pending", 1)
    with reading(engine) as connection:
        assert connection.scalar(select(Shard.error).order_by(Shard.id).limit(1)) == "worker w stopped responding."


@pytest.mark.usefixtures("job")
def test_old_hints_are_sent_again(engine: Engine, settings: Settings) -> None:
    start(engine)
    with writing(engine) as connection:
        connection.execute(update(Shard).where(Shard.state == LeaseState.ENQUEUED).values(enqueued_at=now() - 60))
    assert sweep(engine, settings) == 1
    assert shards(engine) == [("running", 1), ("pending", 0), ("pending", 0)]


def test_a_row_that_somebody_holds_does_not_hold_up_the_others(
    postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine = make_engine(postgres_url)
    settings = one_block_shards(postgres_url)
    queue_job(engine, settings, segments=800, systems=2)
    with writing(engine) as connection:
        running, lost, waiting, held = connection.scalars(select(Shard.id).order_by(Shard.id)).all()
        for shard in (running, lost):
            claim_task(connection, SHARD, shard, owner="o", worker="w", lease_seconds=60, max_attempts=3)
        sent = update(Shard).where(Shard.id.in_([waiting, held]))
        connection.execute(sent.values(state=LeaseState.ENQUEUED, enqueued_at=now() - 100))
    with writing(engine) as frozen:
        frozen.execute(select(Shard).where(Shard.id.in_([running, held])).with_for_update())
        assert sweep(engine, settings) == 3
        assert shards(engine) == [("running", 1), ("pending", 1), ("pending", 0), ("enqueued", 0)]
        assert f"Shard {running} is locked by a process that does not continue" in caplog.text
    assert sweep(engine, settings) == 2
    assert shards(engine) == [("pending", 1), ("pending", 1), ("pending", 0), ("pending", 0)]
    engine.dispose()


@one_kind
@KINDS
def test_of_every_kind_of_work_what_is_lost_is_found(engine: Engine, settings: Settings, table: type[Leased]) -> None:
    """It waits longer after each attempt; a message that nobody heeded is sent again at once."""
    settings, counters = settings.model_copy(update={"retry_seconds": 1000.0}), new_counters()
    key = queue_row(engine, table)
    for attempt in (1, 2):
        assert claim(engine, table, key, owner=f"task:{attempt}", lease_seconds=-1) is not None
        assert sweep(engine, settings, counters) == 1
        row = row_of(engine, table, key)
        said = "worker w exceeded its lease."
        assert (row.state, row.attempts, row.owner, row.error) == (LeaseState.PENDING, attempt, None, said)
        assert row.not_before - row.now == pytest.approx(1000 * attempt, abs=60)
        assert counters.total(RECLAIMED.name, KIND_OF[table].name) == attempt
    if KIND_OF[table].message is None:
        return
    old = {"state": LeaseState.ENQUEUED, "enqueued_at": now() - 60, "not_before": 0.0}
    with writing(engine) as connection:
        connection.execute(update(table).where(table.id == key).values(**old))
    assert sweep(engine, settings, counters) == 1
    row = row_of(engine, table, key)
    assert (row.state, row.attempts, row.enqueued_at, row.not_before) == (LeaseState.PENDING, 2, None, 0.0)
    assert counters.total(MESSAGES_LOST.name) == 1


@one_kind
@KINDS
@pytest.mark.parametrize("used", [True, False])
def test_of_every_kind_of_work_all_is_reclaimed(
    engine: Engine, settings: Settings, table: type[Leased], used: bool
) -> None:
    key = queue_row(engine, table)
    assert claim(engine, table, key) is not None
    if KIND_OF[table].message is None:
        # Learned workers are processes of their own, which go on.
        assert reclaim_all(engine, settings, used=used) == 0
        assert row_of(engine, table, key).state == LeaseState.RUNNING
        return
    assert reclaim_all(engine, settings, used=used) == 1
    row = row_of(engine, table, key)
    assert (row.state, row.attempts, row.owner) == (LeaseState.PENDING, 1 if used else 0, None)


@one_kind
def test_a_sweep_finds_those_for_whom_nothing_is_done(engine: Engine, settings: Settings) -> None:
    """Evaluations that nobody adds up, and such as wait for a count of corpus statistics that is gone."""
    job = queue_job(engine, settings, segments=200, systems=3, metrics=["nist"])
    *_, last = job.all_evaluations
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.id == last).values(state="reducing", remaining=0))
        connection.execute(update(CorpusCount).values(state=LeaseState.CANCELLED))
    assert sweep(engine, settings) == 2
    with reading(engine) as connection:
        parts = select(CorpusCount.first_block, CorpusCount.last_block).where(CorpusCount.state == LeaseState.PENDING)
        assert connection.execute(parts).all() == [(0, 1)]
        theirs = select(Evaluation.reduction_id).where(Evaluation.id == last)
        assert connection.scalar(theirs) == connection.scalar(select(Reduction.id))
    assert sweep(engine, settings) == 0


def tried_twice(engine: Engine, settings: Settings, table: type[Leased]) -> None:
    """One row of the table, on which others wait, was tried twice and waits for the third attempt."""
    metric = {CorpusCount: "nist", LearnedShard: "vowels"}.get(table, "bleu")
    job = queue_job(engine, settings, segments=100, systems=2, metrics=[metric])
    if table is Reduction:
        with writing(engine) as connection:
            connection.execute(update(Shard).values(state=LeaseState.DONE, ended_at=now()))
            for evaluation in job.all_evaluations:
                enqueue_reductions(connection, [evaluation])
    elif table is Trials:
        work_off(settings)
        pair = tuple((evaluation,) for evaluation in job.all_evaluations)
        request_comparison(engine, settings, job.protocols[0], [pair], [0], trials=200, seed=3)
    elif table is MetricsTaskPart:
        with writing(engine) as connection:
            add_metrics_task_part(connection)
    with writing(engine) as connection:
        first = connection.scalar(select(func.min(table.id)).where(table.state == LeaseState.PENDING))
        values = {"attempts": 2, "error": "It broke."}
        connection.execute(update(table).where(table.id == first).values(**values))


@pytest.mark.parametrize("table", [*(kind.table for kind in SENT), LearnedShard])
def test_work_that_may_not_be_tried_again_ends_with_a_reason(
    table: type[Leased], engine: Engine, settings: Settings
) -> None:
    """An operator allows fewer attempts than it had: nobody can claim it any more."""
    settings = settings.model_copy(update={"at_once_seconds": 0.0})
    tried_twice(engine, settings, table)
    assert sweep(engine, settings) == 0
    fewer, counters = settings.model_copy(update={"max_attempts": 2}), new_counters()
    assert sweep(engine, fewer, counters) == 1
    assert counters.total(GIVEN_UP.name, KIND_OF[table].name) == 1
    assert sweep(engine, fewer) == 0
    allowed = "It broke. No further attempt is allowed: STEELYARD_MAX_ATTEMPTS is 2."
    with reading(engine) as connection:
        states = list(connection.execute(select(table.state, table.attempts).order_by(table.id)))
        evaluations = connection.execute(select(Evaluation.state, Evaluation.reason).order_by(Evaluation.id)).all()
        comparisons = connection.execute(select(Comparison.state, Comparison.reason)).all()
    if table in (Shard, LearnedShard):
        # Of two evaluations: each gets a shard of its own, with all attempts.
        assert states == [("failed", 2), ("pending", 0), ("pending", 0)]
    else:
        assert states[0] == ("failed", 2)
    if table is Reduction:
        assert evaluations[0] == ("failed", f"The shards could not be added up (tried 2 times): {allowed}")
        assert evaluations[1].state == "reducing"
    elif table is CorpusCount:
        failed = (
            "failed",
            f"Segments 1 to 256 in the references could not be counted for nist (tried 2 times): {allowed}",
        )
        assert evaluations == [failed, failed]
    elif table is Trials:
        assert comparisons[0].state == "failed"
        assert comparisons[0].reason.endswith(f"could not be made (tried 2 times): {allowed}")


def test_a_worker_that_allows_more_attempts_may_win(engine: Engine, settings: Settings) -> None:
    """It claims the row between the look and the end of it, and may hand it back."""
    tried_twice(engine, settings, Shard)
    with writing(engine) as connection:
        [(_, key)] = find_exhausted(connection, settings.model_copy(update={"max_attempts": 2}))
        assert not give_up(connection, SHARD, key, policy(3)), "it has an attempt left"
        assert claim_task(connection, SHARD, key, owner="o", worker="w", lease_seconds=60, max_attempts=3)
        assert not give_up(connection, SHARD, key, policy(2))
    assert shards(engine) == [("running", 3)]


@pytest.mark.parametrize("state", [None, *LeaseState])
def test_evaluations_left_in_reducing_are_taken_up(engine: Engine, job: IngestResult, state: LeaseState | None) -> None:
    """Each by a reduction of its own, where theirs has ended or is gone; one that is open will end them."""
    with writing(engine) as connection:
        row = insert(Reduction).values(protocol_id=job.protocols[0], state=state).returning(Reduction.id)
        theirs = connection.scalar(row) if state else None
        connection.execute(update(Evaluation).values(state="reducing", reduction_id=theirs, remaining=0))
    left = 0 if state in (LeaseState.PENDING, *IN_FLIGHT) else 2
    assert [enqueue_missing_reductions(engine) for _ in range(2)] == [left, 0]
    with reading(engine) as connection:
        found = set(connection.scalars(select(Evaluation.reduction_id)))
        new = set(connection.scalars(select(Reduction.id))) - {theirs}
    assert (found, len(new)) == ((new, 2) if left else ({theirs}, 0))


@pytest.mark.usefixtures("job")
def test_after_a_crash_attempts_count_and_after_a_stop_they_do_not(engine: Engine, settings: Settings) -> None:
    start(engine)
    assert reclaim_all(engine, settings, used=False) == 2
    assert shards(engine) == [("pending", 0)] * 3
    start(engine)
    assert reclaim_all(engine, settings, used=True) == 2
    assert shards(engine) == [("pending", 1), ("pending", 0), ("pending", 0)]


@pytest.mark.usefixtures("job")
def test_who_crashes_the_command_each_time_fails(engine: Engine, settings: Settings) -> None:
    few = settings.model_copy(update={"max_attempts": 1})
    with writing(engine) as connection:
        first = connection.scalars(select(Shard.id).order_by(Shard.id)).first()
        assert first is not None
        claim_task(connection, SHARD, first, owner="o", worker="w", lease_seconds=60, max_attempts=1)
    reclaim_all(engine, few, used=True)
    # Split into one shard for each of the two evaluations.
    assert [state for state, _ in shards(engine)] == ["failed", "pending", "pending", "pending", "pending"]


def test_what_is_cancelled_meanwhile_is_not_reduced(postgres_url: str) -> None:
    """Who takes up forgotten evaluations waits for those who hold them, and then leaves them alone."""
    engine = make_engine(postgres_url)
    [one, two] = queue_job(engine, one_block_shards(postgres_url), segments=10, systems=2).all_evaluations
    with writing(engine) as connection:
        connection.execute(update(Evaluation).values(state="reducing", remaining=0))
    thread = threading.Thread(target=enqueue_missing_reductions, args=(engine,))
    with writing(engine) as connection:
        assert cancel_evaluations(connection, [one]) == [one]
        thread.start()
        until(lambda: waits_for_a_lock(engine), "the one who takes them up")
    thread.join(60)
    with reading(engine) as connection:
        states = connection.execute(select(Evaluation.id, Evaluation.state, Evaluation.reduction_id)).all()
    assert sorted(states) == [(one, "cancelled", None), (two, "reducing", 1)]
    engine.dispose()


@pytest.mark.usefixtures("job")
def test_what_is_reclaimed_is_counted(engine: Engine, settings: Settings) -> None:
    counters, few = new_counters(), settings.model_copy(update={"max_attempts": 2})
    counted = [(RECLAIMED.name, SHARD.name), (GIVEN_UP.name, SHARD.name), (MESSAGES_LOST.name,)]
    start(engine, lease=-1)
    with writing(engine) as connection:
        connection.execute(update(Shard).where(Shard.state == LeaseState.ENQUEUED).values(enqueued_at=now() - 60))
    assert sweep(engine, few, counters) == 2
    assert [counters.total(*each) for each in counted] == [1, 0, 1]
    start(engine, lease=-1)
    assert sweep(engine, few, counters) == 1
    assert [counters.total(*each) for each in counted] == [2, 1, 1]


@pytest.mark.usefixtures("job")
def test_of_a_worker_that_is_silent_for_long_the_row_goes(engine: Engine, settings: Settings) -> None:
    with writing(engine) as connection:
        for silent, name in ((61, "gone"), (59, "silent")):
            row = {"id": name, "host": "h", "pid": 1, "version": "1", "concurrency": 1}
            beat_at = now() - silent * settings.silent_seconds
            connection.execute(insert(Worker).values(**row, beat_at=beat_at))
    sweep(engine, settings)
    with reading(engine) as connection:
        assert set(connection.scalars(select(Worker.id))) == {"w", "silent"}


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize("used", [True, False])
def test_what_a_command_left_can_be_begun_at_once(engine: Engine, settings: Settings, used: bool) -> None:
    """Also a row that says it runs and not for whom, as people edit it."""
    later = settings.model_copy(update={"retry_seconds": 1000.0})
    start(engine)
    with writing(engine) as connection:
        last = connection.scalar(select(func.max(Shard.id)))
        connection.execute(update(Shard).where(Shard.id == last).values(state=LeaseState.RUNNING, attempts=2))
    assert reclaim_all(engine, later, used=used) == 3
    assert shards(engine) == [("pending", 1 if used else 0), ("pending", 0), ("pending", 1)]
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).where(Shard.not_before > now())) == 0
        assert set(connection.scalars(select(Shard.enqueued_at))) == {None}


def test_of_waiting_work_without_attempts_what_was_ended_meanwhile_is_not_counted(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried_twice(engine, settings, Shard)
    monkeypatch.setattr("scheduler.recovery.give_up", lambda *_: False)
    counters = new_counters()
    assert sweep(engine, settings.model_copy(update={"max_attempts": 2}), counters) == 0
    assert counters.total(GIVEN_UP.name, SHARD.name) == 0
