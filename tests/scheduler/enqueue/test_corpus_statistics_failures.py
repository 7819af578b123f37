"""Corpus statistics that fail, are cancelled or lose their process."""

import pytest
from sqlalchemy import insert, select, update

import worker.computing.corpus_statistics
import worker.handlers
import worker.runners
from models.database.session import reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.schema.base import now
from models.schema.queue import (
    CorpusCount,
    CorpusStatistics,
    Evaluation,
    ProtocolStatistics,
    Worker,
)
from models.schema.states import LeaseState, QueueClass
from scheduler.enqueue.corpus_statistics import enqueue_missing_counts
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.recovery import reclaim_all, sweep
from steelyard.errors import MetricsError
from steelyard.metrics.metric import EDITION
from tests.scheduler.enqueue.test_corpus_statistics import amount, queue, sent, states, work
from tests.tasks import claim_task
from worker.context import WorkerContext
from worker.handlers import do


@pytest.mark.parametrize("found_by", ["the worker", "the sweep"])
def test_what_this_release_does_not_count_fails_all_who_wait_and_can_be_tried_again(
    context: WorkerContext, found_by: str
) -> None:
    """As after an upgrade to a release whose metric needs something else."""
    job = queue(context)
    other = queue(context, metrics=["nist:case=lc"], campaign="other")
    mine = select(ProtocolStatistics.corpus_statistics_id).where(ProtocolStatistics.protocol_id == job.protocols[0])
    with writing(context.engine) as connection:
        connection.execute(
            update(CorpusStatistics).where(CorpusStatistics.id.in_(mine)).values(key="earlier", content_hash="earlier")
        )
        if found_by == "the sweep":
            cancelled = update(CorpusCount).where(CorpusCount.corpus_statistics_id.in_(mine))
            connection.execute(cancelled.values(state=LeaseState.CANCELLED))
    if found_by == "the sweep":
        assert sweep(context.engine, context.settings) == 1
        assert sweep(context.engine, context.settings) == 0
    work(context)
    assert states(context) == ["failed"] * 2 + ["done"] * 2
    with reading(context.engine) as connection:
        reasons = set(connection.scalars(select(Evaluation.reason).where(Evaluation.id.in_(job.all_evaluations))))
    assert len(reasons) == 1
    assert 'nist does not need "earlier" of the references in this release.' in str(reasons)
    with writing(context.engine) as connection:
        enqueue_evaluations(connection, context.settings, job.protocols[0], job.submissions)
    work(context)
    assert states(context) == ["done"] * 4
    assert amount(context, ProtocolStatistics) == len({*job.protocols, *other.protocols})


def test_what_can_never_be_counted_fails_all_who_wait_and_can_be_tried_again(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise MetricsError("An n-gram occurs too often.")

    job = queue(context)
    with monkeypatch.context() as patch:
        patch.setattr(worker.runners, "counting_work", refuse)
        work(context)
    with reading(context.engine) as connection:
        reasons = set(connection.scalars(select(Evaluation.reason)))
    assert states(context) == ["failed"] * 2
    start = "Segments 1 to 256 in the references could not be counted for nist (tried once): "
    assert reasons == {f"{start}An n-gram occurs too often."}
    assert sent(context) == []
    with writing(context.engine) as connection:
        enqueue_evaluations(connection, context.settings, job.protocols[0], job.submissions)
    work(context)
    assert states(context) == ["done"] * 2


def test_what_raises_is_tried_again(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no such thing")

    queue(context)
    with monkeypatch.context() as patch:
        patch.setattr(worker.runners, "counting_work", fail)
        (_, first), *_ = sent(context)
        do(context, CORPUS_COUNT, first, "task")
    with reading(context.engine) as connection:
        row = connection.execute(select(CorpusCount.state, CorpusCount.error).where(CorpusCount.id == first)).one()
    assert tuple(row) == ("pending", "ValueError: no such thing")
    sweep(context.engine, context.settings)
    with writing(context.engine) as connection:
        connection.execute(update(CorpusCount).values(state=LeaseState.PENDING))
    work(context)
    assert states(context) == ["done"] * 2


def test_a_merge_whose_process_died_is_found(context: WorkerContext) -> None:
    queue(context)
    messages = sent(context)
    for _, key in messages[:-1]:
        do(context, CORPUS_COUNT, key, "task")
    claim = worker.handlers.claim_several
    lost = []

    def die_at_the_merge(connection, kind, keys, *given, **claims):  # type: ignore[no-untyped-def]
        if keys != [messages[-1][1]]:
            lost.extend(keys)
            return []
        return claim(connection, kind, keys, *given, **claims)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker.handlers, "claim_several", die_at_the_merge)
        do(context, CORPUS_COUNT, messages[-1][1], "task")
    assert len(lost) == 1, "the task did not go on to merge"
    assert sent(context) == [("prepare", lost[0])]
    # Now it dies after its claim: the lease says so.
    with writing(context.engine) as connection:
        given = {"owner": "o", "worker": context.worker, "lease_seconds": -1, "max_attempts": 3}
        assert claim_task(connection, CORPUS_COUNT, lost[0], **given)
    assert sweep(context.engine, context.settings) == 1
    work(context)
    assert states(context) == ["done"] * 2


@pytest.mark.parametrize("counted", [0, 1, 3])
def test_what_was_cancelled_at_the_wrong_moment_is_made_again(context: WorkerContext, counted: int) -> None:
    """As when one evaluation is cancelled while another that needs the same is being queued."""
    job = queue(context)
    for _, key in sent(context)[:counted]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(worker.handlers, "do", lambda *_: None)
            do(context, CORPUS_COUNT, key, "task")
    with writing(context.engine) as connection:
        unfinished = CorpusCount.state != LeaseState.DONE
        connection.execute(update(CorpusCount).where(unfinished).values(state=LeaseState.CANCELLED))
        urgent = {"queue_class": QueueClass.INTERACTIVE, "team": "i"}
        connection.execute(update(Evaluation).where(Evaluation.id == max(job.all_evaluations)).values(**urgent))
    before = amount(context, CorpusCount)
    assert sent(context) == []
    assert sweep(context.engine, context.settings) == 1
    assert sweep(context.engine, context.settings) == 0
    assert amount(context, CorpusCount) == before + (3 - counted or 1)
    if counted < 3:
        with reading(context.engine) as connection:
            new = connection.execute(select(CorpusCount.queue_class, CorpusCount.team).where(CorpusCount.id > before))
            assert set(new) == {(QueueClass.INTERACTIVE, "i")}, "as urgent as the most urgent who waits"
    work(context)
    assert states(context) == ["done"] * 2


def test_cancelled_evaluations_leave_no_work_behind(context: WorkerContext) -> None:
    job = queue(context)
    (_, first), *_ = sent(context)
    do(context, CORPUS_COUNT, first, "task")
    with writing(context.engine) as connection:
        cancel_evaluations(connection, job.all_evaluations)
    assert states(context, CorpusCount) == ["done", "cancelled", "cancelled"]
    assert sweep(context.engine, context.settings) == 0
    assert sent(context) == []


def test_after_a_crash_attempts_count_and_after_a_stop_they_do_not(context: WorkerContext) -> None:
    queue(context)

    def start() -> None:
        (_, first), *_ = sent(context)
        with writing(context.engine) as connection:
            assert claim_task(connection, CORPUS_COUNT, first, owner="o", worker="w", lease_seconds=60, max_attempts=3)

    def attempts() -> list[int]:
        with reading(context.engine) as connection:
            return list(connection.scalars(select(CorpusCount.attempts).order_by(CorpusCount.id)))

    start()
    assert reclaim_all(context.engine, context.settings, used=False) == 3
    assert (states(context, CorpusCount), attempts()) == (["pending"] * 3, [0, 0, 0])
    start()
    assert reclaim_all(context.engine, context.settings, used=True) == 3
    assert (states(context, CorpusCount), attempts()) == (["pending"] * 3, [1, 0, 0])


def test_old_messages_are_sent_again(context: WorkerContext) -> None:
    queue(context)
    messages = sent(context)
    with writing(context.engine) as connection:
        connection.execute(update(CorpusCount).values(enqueued_at=now() - 40))
    assert sweep(context.engine, context.settings) == 3
    assert sent(context) == messages


@pytest.mark.parametrize("other", ["edition", "release"])
def test_what_no_release_can_count_fails_unless_another_release_may(context: WorkerContext, other: str) -> None:
    """Workers of another edition will never do it; those of another release of this edition may."""
    queue(context)
    with writing(context.engine) as connection:
        connection.execute(update(CorpusStatistics).values(metric="gone"))
        connection.execute(update(CorpusCount).values(state="failed"))
        edition = EDITION + 1 if other == "edition" else EDITION
        row = {"id": "other", "host": "h", "pid": 2, "version": "0.0.9", "concurrency": 1, "edition": edition}
        connection.execute(insert(Worker).values(**row))
    enqueue_missing_counts(context.engine, context.settings)
    with reading(context.engine) as connection:
        rows = connection.execute(select(Evaluation.state, Evaluation.reason)).all()
    if other == "release":
        assert {row.state for row in rows} == {"queued"}
    else:
        assert {row.state for row in rows} == {"failed"}
        assert all('There is no metric "gone"' in row.reason for row in rows)
