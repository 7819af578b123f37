"""What holds for every kind of leased work alike, and that nothing happens to the work of others."""

import threading
from typing import Any

import pytest
from sqlalchemy import Engine, func, insert, select, update

from models.database.session import make_engine, reading, writing
from models.errors import RowsHeld
from models.queue.evaluation_end import cancel_evaluations, fail_evaluations, lock_evaluations
from models.queue.kinds import reductions
from models.queue.kinds.reductions import REDUCTION, enqueue_reductions
from models.queue.lease import claim_rows, complete_rows, refusals
from models.schema.base import now
from models.schema.learned import LearnedColumn, LearnedShard
from models.schema.queue import (
    Comparison,
    CorpusCount,
    Evaluation,
    Leased,
    MetricsTaskPart,
    Reduction,
    Shard,
    Trials,
)
from models.schema.results import Score
from models.schema.states import ColumnState, EvaluationState, Fault, LeaseState
from steelyard.metrics.metric import EDITION
from tests.databases import waits_for_a_lock
from tests.faults.cluster import until
from tests.models.kinds.rows import KINDS, claim, ends, queue_row, release, row_of, waiting_keys
from tests.models.queue.test_shards import results, score_rows
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.tasks import complete_shard, complete_task


@KINDS
def test_work_of_another_edition_is_left_to_others(engine: Engine, table: type[Leased]) -> None:
    key = queue_row(engine, table)
    with writing(engine) as connection:
        connection.execute(update(table).values(state=LeaseState.ENQUEUED, enqueued_at=now()))
    assert claim(engine, table, key, edition=EDITION + 1) is None
    assert row_of(engine, table, key).state == LeaseState.PENDING
    claimed = claim(engine, table, key, edition=EDITION)
    assert claimed is not None
    assert (row_of(engine, table, key).state, claimed.owner) == (LeaseState.RUNNING, "o")


@KINDS
def test_what_is_released_waits_longer_each_time_and_then_fails(engine: Engine, table: type[Leased]) -> None:
    key = queue_row(engine, table)
    for attempt in (1, 2):
        assert claim(engine, table, key) is not None
        assert release(engine, table, key, delay_seconds=1000.0)
        row = row_of(engine, table, key)
        assert (row.state, row.attempts, row.error) == (LeaseState.PENDING, attempt, "no.")
        assert row.not_before - row.now == pytest.approx(1000 * attempt, abs=30)
    assert claim(engine, table, key) is not None
    assert release(engine, table, key, delay_seconds=1000.0)
    row = row_of(engine, table, key)
    assert (row.state, row.attempts, row.error) == (LeaseState.FAILED, 3, "no.")


SAID = {
    Shard: "Segments 1 to 256 could not be scored ({}): no.",
    Reduction: "The shards could not be added up ({}): no.",
    CorpusCount: "Segments 1 to 256 in the references could not be counted for nist ({}): no.",
    Trials: "Trials 101 to 200 could not be made ({}): no.",
    LearnedShard: "Segments 1 to 256 were not scored ({}): no.",
}


@KINDS
@pytest.mark.parametrize("permanent", [True, False])
def test_whose_fault_it_is_when_the_last_attempt_fails(engine: Engine, table: type[Leased], permanent: bool) -> None:
    """What comes again whoever tries is the fault of the input; all else is ours."""
    key = queue_row(engine, table)
    # Of several outputs each would be tried alone first.
    with writing(engine) as connection:
        if table is Shard:
            cancel_evaluations(connection, [1])
        if table is LearnedShard:
            ours = LearnedColumn.evaluation_id == 1
            connection.execute(update(LearnedColumn).where(ours).values(state=ColumnState.DONE))
    for _ in range(1 if permanent else 2):
        assert claim(engine, table, key) is not None
        assert release(engine, table, key, max_attempts=2, permanent=permanent)
    if table is MetricsTaskPart:
        # A table waits for it, and says the reason; no evaluation does.
        assert (row_of(engine, table, key).state, row_of(engine, table, key).error) == ("failed", "no.")
        with reading(engine) as connection:
            assert set(connection.scalars(select(Evaluation.reason))) == {None}
        return
    ended: Any = {
        Trials: select(Comparison).where(Comparison.id == 1),
        # The other metrics of the evaluation are not touched.
        LearnedShard: select(LearnedColumn).where(LearnedColumn.evaluation_id == 2),
    }.get(table, select(Evaluation).where(Evaluation.id == 2))
    with reading(engine) as connection:
        found = connection.execute(ended).one()
    assert (found.state, found.reason) == ("failed", SAID[table].format("tried once" if permanent else "tried 2 times"))
    assert found.finished_at == pytest.approx(row_of(engine, table, key).now, abs=60)
    if table not in (Trials, LearnedShard):
        assert found.fault == (Fault.INPUT if permanent else Fault.PLATFORM)


@pytest.mark.usefixtures("others")
def test_scores_and_ends_are_those_of_the_job(engine: Engine, sqlite_url: str) -> None:
    job = queue_job(engine, one_block_shards(sqlite_url), segments=300, systems=3)
    shards = waiting_keys(engine, Shard, job)
    for key in shards:
        claimed = claim(engine, Shard, key)
        with writing(engine) as connection:
            assert complete_shard(connection, claimed, results(claimed)).accepted
    [key] = waiting_keys(engine, Reduction, job)
    assert claim(engine, Reduction, key) is not None
    assert release(engine, Reduction, key, permanent=True)
    first, second, third = waiting_keys(engine, Reduction, job)
    with writing(engine) as connection:
        cancel_evaluations(connection, job.all_evaluations[2:])
    for key in (first, second):
        mine = claim(engine, Reduction, key)
        with writing(engine) as connection:
            assert complete_task(connection, REDUCTION, mine, score_rows(mine)).accepted
    assert claim(engine, Reduction, third) is None
    assert row_of(engine, Reduction, third).state == LeaseState.CANCELLED
    assert ends(engine, job) == ["done", "done", "cancelled"]


@pytest.mark.parametrize(
    ("products", "scores", "shared"),
    [
        (2, 1, [1] * 5),
        (3, 1, [1, 2, 2]),
        (4, 1, [2, 3]),
        (3, 5, [2, 3]),
        (10, 1, [5]),
        (11, 1, [5]),
        (2, 11, [5]),
        (1, 2, [1] * 5),
    ],
)
def test_much_to_add_up_is_shared_by_several_reductions(
    engine: Engine, sqlite_url: str, monkeypatch: pytest.MonkeyPatch, products: int, scores: int, shared: list[int]
) -> None:
    settings = one_block_shards(sqlite_url)
    job = queue_job(engine, settings, segments=200, systems=5, replicates=100, metrics=["bleu", "ter"])
    monkeypatch.setattr(reductions, "SHARED_PRODUCTS", products * 200 * 101)
    monkeypatch.setattr(reductions, "SHARED_SCORES", scores)
    work_off(settings)
    with reading(engine) as connection:
        ours = select(func.count()).where(Evaluation.id.in_(job.all_evaluations)).group_by(Evaluation.reduction_id)
        assert sorted(connection.scalars(ours)) == shared
    assert ends(engine, job) == ["done"] * 5


@pytest.mark.usefixtures("others")
def test_scores_take_the_place_of_those_that_are_there_and_what_ended_meanwhile_gets_none(
    engine: Engine, sqlite_url: str
) -> None:
    job = queue_job(engine, one_block_shards(sqlite_url), segments=200, systems=3)
    kept, cancelled, failed = job.all_evaluations
    with writing(engine) as connection:
        theirs = Evaluation.id.in_(job.all_evaluations)
        connection.execute(update(Evaluation).where(theirs).values(reason="tried before", remaining=0))
        (reduction,) = enqueue_reductions(connection, job.all_evaluations)
    mine = claim(engine, Reduction, reduction)
    rows = score_rows(mine)
    old = {"specification": "o", "title": "o", "signature": "o", "higher_is_better": False, "scale": 1.0}
    old |= {"columns": ["o"], "sums": b"o", "score": 9.0, "replicate_scores": b"o", "details": {"o": 1.0}}
    with writing(engine) as connection:
        connection.execute(insert(Score).values(evaluation_id=kept, metric=0, **old))
        assert cancel_evaluations(connection, [cancelled], "not wanted") == [cancelled]
        assert fail_evaluations(connection, [failed], "no") == [failed]
        assert complete_task(connection, REDUCTION, mine, [{**row, "details": {}} for row in rows]).accepted
        found = connection.execute(select(Score)).all()
        evaluations = connection.execute(select(Evaluation).where(theirs).order_by(Evaluation.id)).all()
    assert [dict(row._mapping) for row in found] == [{**rows[0], "details": {}}]
    assert [(row.state, row.reason) for row in evaluations] == [
        ("done", None),
        ("cancelled", "not wanted"),
        ("failed", "no"),
    ]
    ended = row_of(engine, Reduction, reduction)
    for moment in (*(row.finished_at for row in evaluations), ended.ended_at):
        assert moment == pytest.approx(ended.now, abs=60)


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    ("other", "shards_wait", "parts_wait"),
    [
        ({"state": "queued"}, True, True),
        ({"state": "running"}, True, True),
        ({"state": "queued", "edition": EDITION + 1}, True, False),
        ({"state": "reducing"}, False, False),
        ({"state": "done"}, False, False),
        ({"state": "failed"}, False, False),
    ],
)
def test_work_goes_on_while_somebody_waits_for_it(
    engine: Engine, sqlite_url: str, other: dict[str, Any], shards_wait: bool, parts_wait: bool
) -> None:
    """What is counted in the references serves one edition; who has all his shards needs neither."""
    job = queue_job(engine, one_block_shards(sqlite_url), segments=300, systems=2, metrics=["nist"])
    one, two = job.all_evaluations
    before = [waiting_keys(engine, table, job) for table in (Shard, CorpusCount)]
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.id == two).values(**other))
        cancel_evaluations(connection, [one])
    after = [waiting_keys(engine, table, job) for table in (Shard, CorpusCount)]
    expected = [keys if wait else [] for keys, wait in zip(before, (shards_wait, parts_wait), strict=True)]
    assert after == expected
    assert all(before)


@pytest.mark.usefixtures("others")
def test_a_corpus_count_that_fails_fails_the_evaluations_that_wait_for_it(engine: Engine, sqlite_url: str) -> None:
    job = queue_job(engine, one_block_shards(sqlite_url), segments=300, systems=2, metrics=["nist"])
    first, _ = waiting_keys(engine, CorpusCount, job)
    assert claim(engine, CorpusCount, first) is not None
    assert release(engine, CorpusCount, first, permanent=True)
    assert ends(engine, job) == ["failed"] * 2


@pytest.mark.parametrize("table", [Reduction, CorpusCount, Trials, LearnedShard])
@pytest.mark.parametrize("attempts_left", [True, False])
def test_what_is_completed_meanwhile_is_not_released(
    postgres_url: str, table: type[Leased], attempts_left: bool
) -> None:
    """Whoever releases it waits for its owner who hands it in, and then leaves it alone: done stays done."""
    engine = make_engine(postgres_url)
    key = queue_row(engine, table)
    assert claim(engine, table, key) is not None
    released: list[bool] = []
    thread = threading.Thread(
        target=lambda: released.append(release(engine, table, key, max_attempts=3 if attempts_left else 1))
    )
    with writing(engine) as connection:
        assert complete_rows(connection, table, {key: {}}, "o")
        thread.start()
        until(lambda: waits_for_a_lock(engine), "the one who releases it")
    thread.join(60)
    assert released == [False]
    assert row_of(engine, table, key).state == LeaseState.DONE
    engine.dispose()


def test_who_waits_is_locked_in_the_order_of_their_ids(postgres_url: str) -> None:
    """Also where the database has them in another order; whoever wants them, too, waits."""
    engine = make_engine(postgres_url)
    evaluations = queue_job(engine, one_block_shards(postgres_url), segments=10, systems=3).all_evaluations
    with writing(engine) as connection:
        for evaluation in evaluations[1::-1]:
            # A row that is written anew stands behind the others.
            connection.execute(update(Evaluation).where(Evaluation.id == evaluation).values(reason="moved"))
    states = [EvaluationState.QUEUED]
    with writing(engine) as first:
        # As they are found where the planner does not come by an index.
        for way in ("indexscan", "indexonlyscan", "bitmapscan"):
            first.exec_driver_sql(f"SET LOCAL enable_{way} = off")
        assert lock_evaluations(first, evaluations[::-1], states) == evaluations
        with writing(engine) as second:
            free = select(Evaluation.id).with_for_update(skip_locked=True)
            assert list(second.scalars(free)) == []
    engine.dispose()


@KINDS
def test_two_who_refuse_a_row_do_so_one_after_the_other(postgres_url: str, table: type[Leased]) -> None:
    """Else the second would not know what the first has said, and they would hand it on for ever."""
    engine = make_engine(postgres_url)
    key = queue_row(engine, table)
    assert claim(engine, table, key) is not None
    with writing(engine) as first:
        assert refusals(first, table, key, "o") == set()
        with pytest.raises(RowsHeld), writing(engine, lock_seconds=0.05) as second:
            refusals(second, table, key, "o")
    engine.dispose()


@pytest.mark.parametrize("table", [Shard, CorpusCount])
def test_who_cancels_does_not_wait_for_one_who_claims(postgres_url: str, table: type[Leased]) -> None:
    """He holds the evaluation that the other will want next: they would wait for each other for ever."""
    engine = make_engine(postgres_url)
    key = queue_row(engine, table, segments=300)
    with writing(engine) as first:
        assert claim_rows(first, table, [key], owner="o", worker="w", lease_seconds=60, max_attempts=3)
        with writing(engine, lock_seconds=0.2) as second:
            assert cancel_evaluations(second, [1, 2]) == [1, 2]
    with reading(engine) as connection:
        states = list(connection.scalars(select(table.state).order_by(table.id)))
    assert states == ["running", "cancelled"]
    engine.dispose()
