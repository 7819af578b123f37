"""What metrics must know of all references: prepared before any shard, once for all who need it."""

import pytest
from sqlalchemy import func, select, update

import worker.computing.corpus_statistics
import worker.handlers
import worker.runners
from models.database import migrate
from models.database.session import reading, writing
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.registry import BY_MESSAGE
from models.schema.queue import (
    CorpusCount,
    CorpusStatistics,
    Evaluation,
    ProtocolStatistics,
    Shard,
)
from models.schema.results import Score
from models.schema.states import NOT_YET, LeaseState, QueueClass
from scheduler.clock_jumps import ClockJumps
from scheduler.dispatch import dispatch
from scheduler.enqueue.corpus_statistics import enqueue_missing_counts
from scheduler.ingest.campaigns import IngestResult, NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from scheduler.maintenance import repair
from steelyard.metrics.metric import EDITION
from steelyard.metrics.needed_statistics import needed_statistics
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.scheduler.clocks import read_clock
from tests.scheduler.jobs import queue_job, similar_text, some_text
from tests.scheduler.test_dispatch import App
from worker.computing.corpus_statistics import read_corpus_statistics
from worker.context import WorkerContext
from worker.errors import CorpusStatisticsMissing
from worker.handlers import do


def queue(context: WorkerContext, **others: object) -> IngestResult:
    """Three blocks, two systems."""
    return queue_job(context.engine, context.settings, **{"segments": 600, "systems": 2, "metrics": ["nist"], **others})


def sent(context: WorkerContext) -> list[tuple[str, int]]:
    """What the scheduler sends now."""
    app = App()
    dispatch(context.engine, app, context.settings)
    return [(task, key) for task, key, _ in app.sent]


def work(context: WorkerContext) -> None:
    """Do what is sent, until nothing is."""
    while messages := sent(context):
        for task, key in messages:
            do(context, BY_MESSAGE[task], key, "task")


def states(context: WorkerContext, table: type = Evaluation) -> list[str]:
    with reading(context.engine) as connection:
        return list(connection.scalars(select(table.state).order_by(table.id)))


def amount(context: WorkerContext, table: type) -> int:
    with reading(context.engine) as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def test_shards_wait_for_the_references(context: WorkerContext) -> None:
    queue(context, metrics=["bleu", "nist", "nist:order=2,5"])
    messages = sent(context)
    assert [task for task, _ in messages] == ["prepare"] * 3
    for number, (_, key) in enumerate(reversed(messages)):
        assert sent(context) == []
        do(context, CORPUS_COUNT, key, f"task{number}")
        do(context, CORPUS_COUNT, key, "late")
    # The task of the last part has merged as well.
    assert states(context, CorpusCount) == ["done"] * 4
    assert amount(context, CorpusStatistics) == 1, "orders 1-5 and 2,5 need the same counts"
    assert {task for task, _ in sent(context)} == {"score_shard"}
    with writing(context.engine) as connection:
        connection.execute(update(Shard).values(state=LeaseState.PENDING))
    work(context)
    assert states(context) == ["done", "done"]
    reference = some_text(600, 1)
    expected = score_systems(
        Segments(references=[reference], hypotheses=[similar_text(reference, 1000 + number) for number in range(2)]),
        [parse_metric("nist")],
    )[0]
    with reading(context.engine) as connection:
        found = connection.scalars(select(Score.score).where(Score.metric == 1).order_by(Score.evaluation_id))
        assert list(found) == expected.scores.tolist()


def test_shards_that_wait_for_references_are_not_looked_at(context: WorkerContext) -> None:
    queue(context, metrics=["nist"])

    def not_before() -> set[float]:
        with reading(context.engine) as connection:
            return set(connection.scalars(select(Shard.not_before)))

    assert not_before() == {NOT_YET}
    # It is no delay that somebody has forgotten, nor one by a clock that was wrong.
    repair(context.engine, context.settings)
    ClockJumps().correct(context.engine, context.settings, read_clock(context.engine))
    assert not_before() == {NOT_YET}
    prepare_all(context)
    assert max(not_before()) < NOT_YET
    # As it is where the state was stored in the moment in which they were queued.
    with writing(context.engine) as connection:
        connection.execute(update(Shard).values(not_before=NOT_YET))
    assert sent(context) == []
    enqueue_missing_counts(context.engine, context.settings)
    assert {task for task, _ in sent(context)} == {"score_shard"}


def test_shards_of_another_edition_wait_for_the_statistics_of_theirs(context: WorkerContext) -> None:
    """Its own scheduler releases them, beside this one while a release is replaced."""
    queue(context, metrics=["nist"])
    with writing(context.engine) as connection:
        for table in (Shard, CorpusStatistics):
            connection.execute(update(table).values(edition=EDITION + 1))
    enqueue_missing_counts(context.engine, context.settings)
    with reading(context.engine) as connection:
        assert set(connection.scalars(select(Shard.not_before))) == {NOT_YET}


def test_shards_queued_by_the_release_before_wait_for_the_references_too(context: WorkerContext) -> None:
    queue(context, metrics=["nist"])
    with writing(context.engine) as connection:
        connection.execute(update(Shard).values(not_before=0))
    assert {task for task, _ in sent(context)} == {"prepare"}


def test_a_process_reads_them_once_of_its_edition_alone(context: WorkerContext) -> None:
    job = queue(context)
    with reading(context.engine) as connection, pytest.raises(CorpusStatisticsMissing):
        read_corpus_statistics(connection, job.protocols[0], ["nist"])
    prepare_all(context)
    with reading(context.engine) as connection:
        first, again = (read_corpus_statistics(connection, job.protocols[0], ["nist"]) for _ in range(2))
        with pytest.raises(CorpusStatisticsMissing):
            read_corpus_statistics(connection, job.protocols[0], ["nist"], EDITION + 1)
    ((key, way),) = needed_statistics([parse_metric("nist")]).items()
    whole = way.read(way.merge([way.count(Segments(references=[some_text(600, 1)], hypotheses=[]))]))
    assert first[key] is again[key]
    assert first[key].bits.tolist() == whole.bits.tolist()
    assert first[key].words.tolist() == whole.words.tolist()


def test_references_with_too_many_words_fail_who_wants_them_weighed(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.metrics.ngram.ngram_table.MOST_WORDS", 3000)
    queue(context)
    work(context)
    assert states(context) == ["failed"] * 2
    with reading(context.engine) as connection:
        (reason,) = set(connection.scalars(select(Evaluation.reason)))
    assert "NIST counts the n-grams of up to 3,000" in reason


def prepare_all(context: WorkerContext) -> None:
    for _, key in sent(context):
        do(context, CORPUS_COUNT, key, "task")


@pytest.mark.parametrize("tasks", [0, 2, 3])
def test_what_the_release_before_counted_is_counted_again(context: WorkerContext, tasks: int) -> None:
    """Its tables of n-grams have another format, whether it was done with all, some or none of them."""
    queue(context)
    messages = sent(context)
    for _, key in messages[:tasks]:
        do(context, CORPUS_COUNT, key, "task")
    migrate.downgrade(context.settings.database_url, "20261218")
    migrate.upgrade(context.settings.database_url)
    with reading(context.engine) as connection:
        blobs = [*connection.scalars(select(CorpusStatistics.blob)), *connection.scalars(select(CorpusCount.part))]
    assert blobs == [None] * (1 + max(3, tasks + tasks // 3))
    for _, key in messages[tasks:]:
        do(context, CORPUS_COUNT, key, "sent by the release before")
    enqueue_missing_counts(context.engine, context.settings)
    work(context)
    assert states(context) == ["done"] * 2


def test_it_is_prepared_once_for_all_who_come_later(context: WorkerContext) -> None:
    reference, other = some_text(300, 1), some_text(300, 2)
    test_set = NewTestSet("set", {"A": reference, "B": other})

    def take(system: int, labels: list[str], metric: str) -> None:
        text = similar_text(reference, system)
        ingest_campaign(
            context.engine,
            context.settings,
            campaign="c",
            test_set=test_set,
            submissions=[NewSubmission(f"s{system}", text)],
            protocols=[NewProtocol(labels, [parse_metric(metric)], 0)],
        )

    take(1, ["A", "B"], "nist")
    take(2, ["B", "A"], "nist")
    assert (amount(context, CorpusStatistics), amount(context, CorpusCount)) == (1, 2)
    work(context)
    assert amount(context, CorpusCount) == 3
    take(3, ["A", "B"], "nist")
    take(4, ["A", "B"], "nist:order=5")
    work(context)
    assert states(context) == ["done"] * 4
    assert amount(context, CorpusCount) == 3, "the second submission prepares nothing"
    take(5, ["A"], "nist")
    take(6, ["A", "B"], "nist:case=lc")
    assert amount(context, CorpusStatistics) == 3, "other references and other words are counted apart"
    assert amount(context, ProtocolStatistics) == 5
    work(context)
    assert states(context) == ["done"] * 6


def test_two_references_with_the_same_text_are_not_one(context: WorkerContext) -> None:
    reference = some_text(300, 1)
    ingest_campaign(
        context.engine,
        context.settings,
        campaign="c",
        test_set=NewTestSet("set", {"A": reference, "B": reference}),
        submissions=[NewSubmission("s", similar_text(reference, 1))],
        protocols=[NewProtocol(labels, [parse_metric("nist")], 0) for labels in (["A"], ["A", "B"], ["B"])],
    )
    assert amount(context, CorpusStatistics) == 2
    work(context)
    assert states(context) == ["done"] * 3


def test_metrics_that_need_nothing_wait_for_nothing(context: WorkerContext) -> None:
    queue(context, metrics=["nist"], campaign="waits")
    queue(context, metrics=["bleu"])
    assert {task for task, _ in sent(context)} == {"prepare", "score_shard"}
    with reading(context.engine) as connection:
        enqueued = set(connection.scalars(select(Shard.protocol_id).where(Shard.state == LeaseState.ENQUEUED)))
        waiting = set(connection.scalars(select(ProtocolStatistics.protocol_id)))
    assert len(enqueued) == 1
    assert not enqueued & waiting


def test_somebody_urgent_hurries_what_he_waits_for(context: WorkerContext) -> None:
    queue(context, queue_class=QueueClass.NIGHTLY, team="n")
    with reading(context.engine) as connection:
        assert set(connection.scalars(select(CorpusCount.queue_class))) == {QueueClass.NIGHTLY}
    queue(context, queue_class=QueueClass.INTERACTIVE, campaign="other", replicates=0, team="i")
    with reading(context.engine) as connection:
        assert set(connection.scalars(select(CorpusCount.queue_class))) == {QueueClass.INTERACTIVE}
    assert amount(context, CorpusCount) == 3


def test_corpus_counts_take_places_in_the_window(context: WorkerContext) -> None:
    context.settings = context.settings.model_copy(update={"smallest_window": 5})
    queue(context, segments=256 * 20, metrics=["nist"], campaign="waits", team="a")
    queue(context, segments=256 * 20, metrics=["bleu"], team="b")
    messages = sent(context)
    # The teams share, in seconds of work: a count of corpus statistics takes less.
    assert sorted(task for task, _ in messages) == ["prepare"] * 4 + ["score_shard"]
    assert sent(context) == []


def test_a_process_keeps_a_few_states(context: WorkerContext) -> None:
    for seed in range(1, worker.computing.corpus_statistics.KEPT + 3):
        queue(context, seed=seed, segments=20, campaign=f"c{seed}")
    work(context)
    assert set(states(context)) == {"done"}
    assert len(worker.computing.corpus_statistics._kept) == worker.computing.corpus_statistics.KEPT
    with reading(context.engine) as connection:
        hashes = set(connection.scalars(select(CorpusStatistics.content_hash)))
    assert set(worker.computing.corpus_statistics._kept) < hashes
