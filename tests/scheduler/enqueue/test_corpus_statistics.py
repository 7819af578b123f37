"""What metrics must know of all references: prepared before any shard, once for all who need it."""

from collections.abc import Iterator

import pytest
from sqlalchemy import delete, func, insert, select, update

import worker.computing.corpus_statistics
import worker.handlers
from metrics import parse_metric
from metrics.base import EDITION
from metrics.batch import Batch
from metrics.errors import MetricsError
from metrics.measure import measure
from metrics.preparation import preparations
from metrics.segments import Segments
from models.database.migrate import REVISION
from models.database.session import reading, writing
from models.queue.corpus_statistics import claim_preparation
from models.queue.evaluation_end import cancel_evaluations
from models.queue.state_chunks import store_chapter
from models.schema.base import now
from models.schema.queue import Evaluation, Preparation, PreparedChapter, PreparedState, ProtocolState, Shard, Worker
from models.schema.results import Score
from models.schema.states import NOT_YET, LeaseState, QueueClass
from scheduler.clock_jumps import Clock
from scheduler.dispatch import dispatch
from scheduler.enqueue.corpus_statistics import prepare_forgotten
from scheduler.enqueue.evaluations import queue_evaluations
from scheduler.ingest.campaigns import Intake, NewProtocol, NewSubmission, NewTestSet, take_in
from scheduler.maintenance import mend
from scheduler.recovery import reclaim_all, sweep
from tests.scheduler.jobs import one_block_shards, queue_job, similar_text, some_text
from tests.scheduler.test_dispatch import App
from worker.context import Station
from worker.errors import StateMissing
from worker.handlers import do_preparation, do_shard


@pytest.fixture
def station(database_url: str) -> Iterator[Station]:
    worker.computing.corpus_statistics._kept.clear()
    # Its worker beats only once, and must not seem to have died where the machine is slow.
    station = Station(one_block_shards(database_url, silent_seconds=1000.0))
    with writing(station.engine) as connection:
        release = {"version": station.version, "revision": REVISION}
        connection.execute(insert(Worker).values(id=station.worker, host="h", pid=1, concurrency=2, **release))
    yield station
    station.close()


def queue(station: Station, **others: object) -> Intake:
    """Three blocks, two systems."""
    return queue_job(station.engine, station.settings, **{"segments": 600, "systems": 2, "metrics": ["nist"], **others})


def sent(station: Station) -> list[tuple[str, int]]:
    """What the scheduler sends now."""
    app = App()
    dispatch(station.engine, app, station.settings)
    return [(task, key) for task, key, _ in app.sent]


def work(station: Station) -> None:
    """Do what is sent, until nothing is."""
    while hints := sent(station):
        for task, key in hints:
            {"prepare": do_preparation, "score_shard": do_shard}[task](station, key, "task")


def states(station: Station, table: type = Evaluation) -> list[str]:
    with reading(station.engine) as connection:
        return list(connection.scalars(select(table.state).order_by(table.id)))


def amount(station: Station, table: type) -> int:
    with reading(station.engine) as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def test_shards_wait_for_the_references(station: Station) -> None:
    queue(station, metrics=["bleu", "nist", "nist:order=2,5"])
    hints = sent(station)
    assert [task for task, _ in hints] == ["prepare"] * 3
    for number, (_, key) in enumerate(reversed(hints)):
        assert sent(station) == []
        do_preparation(station, key, f"task{number}")
        do_preparation(station, key, "late")
    # The task of the last part has merged as well.
    assert states(station, Preparation) == ["done"] * 4
    assert amount(station, PreparedState) == 1, "orders 1-5 and 2,5 need the same counts"
    assert {task for task, _ in sent(station)} == {"score_shard"}
    with writing(station.engine) as connection:
        connection.execute(update(Shard).values(state=LeaseState.PENDING))
    work(station)
    assert states(station) == ["done", "done"]
    reference = some_text(600, 1)
    expected = measure(
        Segments(references=[reference], hypotheses=[similar_text(reference, 1000 + number) for number in range(2)]),
        [parse_metric("nist")],
    )[0]
    with reading(station.engine) as connection:
        found = connection.scalars(select(Score.score).where(Score.metric == 1).order_by(Score.evaluation_id))
        assert list(found) == expected.scores.tolist()


def test_shards_that_wait_for_references_are_not_looked_at(station: Station) -> None:
    queue(station, metrics=["nist"])

    def not_before() -> set[float]:
        with reading(station.engine) as connection:
            return set(connection.scalars(select(Shard.not_before)))

    assert not_before() == {NOT_YET}
    # It is no delay that somebody has forgotten, nor one by a clock that was wrong.
    mend(station.engine, station.settings)
    Clock().mend(station.engine, station.settings)
    assert not_before() == {NOT_YET}
    prepare_all(station)
    assert max(not_before()) < NOT_YET
    # As it is where the state was stored in the moment in which they were queued.
    with writing(station.engine) as connection:
        connection.execute(update(Shard).values(not_before=NOT_YET))
    assert sent(station) == []
    prepare_forgotten(station.engine, station.settings)
    assert {task for task, _ in sent(station)} == {"score_shard"}


def test_shards_queued_by_the_release_before_wait_for_the_references_too(station: Station) -> None:
    queue(station, metrics=["nist"])
    with writing(station.engine) as connection:
        connection.execute(update(Shard).values(not_before=0))
    assert {task for task, _ in sent(station)} == {"prepare"}


@pytest.mark.parametrize("largest", [1, 3500])
def test_large_states_are_kept_in_chapters(station: Station, monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    """Each part has one, or the first two share one."""
    monkeypatch.setattr("metrics.information.LARGEST_CHAPTER", largest)
    job = queue(station)
    prepare_all(station)
    with reading(station.engine) as connection:
        assert list(connection.scalars(select(PreparedState.blob))) == [b""]
        rows = connection.execute(select(PreparedChapter).order_by(PreparedChapter.first_block)).all()
        assert [(row.first_block, row.last_block) for row in rows] == (
            [(0, 1), (1, 2), (2, 3)] if largest == 1 else [(0, 2), (2, 3)]
        )
        reference = some_text(600, 1)
        ((key, way),) = preparations([parse_metric("nist")]).items()
        whole = way.read(way.merge([way.count(Batch(Segments(references=[reference], hypotheses=[])))]))
        for blocks in ((0, 1), (1, 3), (0, 3)):
            found = worker.computing.corpus_statistics.read_states(connection, job.protocols[0], ["nist"], blocks)[key]
            again = worker.computing.corpus_statistics.read_states(connection, job.protocols[0], ["nist"], blocks)[key]
            assert found is again
            assert len(found.bits) <= len(whole.bits)
        # All chapters have all n-grams.
        assert found.bits.tolist() == whole.bits.tolist()
        assert found.words.tolist() == whole.words.tolist()
    work(station)
    assert states(station) == ["done"] * 2
    outputs = [similar_text(reference, 1000 + number) for number in range(2)]
    expected = measure(Segments(references=[reference], hypotheses=outputs), [parse_metric("nist")])[0]
    with reading(station.engine) as connection:
        found = connection.scalars(select(Score.score).order_by(Score.evaluation_id))
        assert list(found) == expected.scores.tolist()


def prepare_all(station: Station) -> None:
    for _, key in sent(station):
        do_preparation(station, key, "task")


def test_chapters_of_a_merge_that_died_are_replaced(station: Station, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.information.LARGEST_CHAPTER", 1)
    queue(station)
    hints = sent(station)
    for _, key in hints[:-1]:
        do_preparation(station, key, "task")
    with monkeypatch.context() as patch:
        # The lease is lost after the second chapter.
        stored = []

        def lose(connection, claim, **chapter):  # type: ignore[no-untyped-def]
            stored.append(chapter["first_block"])
            if len(stored) == 3:
                update_owner = update(Preparation).where(Preparation.id == claim.preparation_id).values(owner="other")
                connection.execute(update_owner)
            return store_chapter(connection, claim, **chapter)

        patch.setattr(worker.handlers, "store_chapter", lose)
        do_preparation(station, hints[-1][1], "task")
    assert stored == [0, 1, 2]
    assert amount(station, PreparedChapter) == 2
    assert states(station, Preparation) == ["done"] * 3 + ["running"]
    monkeypatch.setattr("metrics.information.LARGEST_CHAPTER", 3500)
    with writing(station.engine) as connection:
        connection.execute(update(Preparation).where(Preparation.merges).values(state=LeaseState.PENDING, owner=None))
    work(station)
    with reading(station.engine) as connection:
        rows = connection.execute(select(PreparedChapter).order_by(PreparedChapter.first_block)).all()
    assert [(row.first_block, row.last_block) for row in rows] == [(0, 2), (2, 3)]
    assert states(station) == ["done"] * 2


def test_a_chapter_that_is_lost_is_missed(station: Station, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.information.LARGEST_CHAPTER", 1)
    job = queue(station)
    prepare_all(station)
    with writing(station.engine) as connection:
        connection.execute(delete(PreparedChapter).where(PreparedChapter.first_block == 1))
    with reading(station.engine) as connection:
        assert worker.computing.corpus_statistics.read_states(connection, job.protocols[0], ["nist"], (2, 3))
        for blocks in ((0, 3), (1, 2), (0, 2), (1, 3)):
            with pytest.raises(StateMissing):
                worker.computing.corpus_statistics.read_states(connection, job.protocols[0], ["nist"], blocks)


def test_it_is_prepared_once_for_all_who_come_later(station: Station) -> None:
    reference, other = some_text(300, 1), some_text(300, 2)
    test_set = NewTestSet("set", {"A": reference, "B": other})

    def take(system: int, labels: list[str], metric: str) -> None:
        text = similar_text(reference, system)
        take_in(
            station.engine,
            station.settings,
            campaign="c",
            test_set=test_set,
            submissions=[NewSubmission(f"s{system}", text)],
            protocols=[NewProtocol(labels, [parse_metric(metric)], 0)],
        )

    take(1, ["A", "B"], "nist")
    take(2, ["B", "A"], "nist")
    assert (amount(station, PreparedState), amount(station, Preparation)) == (1, 2)
    work(station)
    assert amount(station, Preparation) == 3
    take(3, ["A", "B"], "nist")
    take(4, ["A", "B"], "nist:order=5")
    work(station)
    assert states(station) == ["done"] * 4
    assert amount(station, Preparation) == 3, "the second submission prepares nothing"
    take(5, ["A"], "nist")
    take(6, ["A", "B"], "nist:case=lc")
    assert amount(station, PreparedState) == 3, "other references and other words are counted apart"
    assert amount(station, ProtocolState) == 5
    work(station)
    assert states(station) == ["done"] * 6


def test_two_references_with_the_same_text_are_not_one(station: Station) -> None:
    reference = some_text(300, 1)
    take_in(
        station.engine,
        station.settings,
        campaign="c",
        test_set=NewTestSet("set", {"A": reference, "B": reference}),
        submissions=[NewSubmission("s", similar_text(reference, 1))],
        protocols=[NewProtocol(labels, [parse_metric("nist")], 0) for labels in (["A"], ["A", "B"], ["B"])],
    )
    assert amount(station, PreparedState) == 2
    work(station)
    assert states(station) == ["done"] * 3


@pytest.mark.parametrize("found_by", ["the worker", "the sweep"])
def test_what_this_release_does_not_count_fails_all_who_wait_and_can_be_tried_again(
    station: Station, found_by: str
) -> None:
    """As after an upgrade to a release whose metric needs something else."""
    job = queue(station)
    other = queue(station, metrics=["nist:case=lc"], campaign="other")
    mine = select(ProtocolState.prepared_state_id).where(ProtocolState.protocol_id == job.protocols[0])
    with writing(station.engine) as connection:
        connection.execute(
            update(PreparedState).where(PreparedState.id.in_(mine)).values(key="earlier", content_hash="earlier")
        )
        if found_by == "the sweep":
            cancelled = update(Preparation).where(Preparation.prepared_state_id.in_(mine))
            connection.execute(cancelled.values(state=LeaseState.CANCELLED))
    if found_by == "the sweep":
        assert sweep(station.engine, station.settings) == 1
        assert sweep(station.engine, station.settings) == 0
    work(station)
    assert states(station) == ["failed"] * 2 + ["done"] * 2
    with reading(station.engine) as connection:
        reasons = set(connection.scalars(select(Evaluation.reason).where(Evaluation.id.in_(job.all_evaluations))))
    assert len(reasons) == 1
    assert 'nist does not need "earlier" of the references in this release.' in str(reasons)
    with writing(station.engine) as connection:
        queue_evaluations(connection, station.settings, job.protocols[0], job.submissions)
    work(station)
    assert states(station) == ["done"] * 4
    assert amount(station, ProtocolState) == len({*job.protocols, *other.protocols})


def test_metrics_that_need_nothing_wait_for_nothing(station: Station) -> None:
    queue(station, metrics=["nist"], campaign="waits")
    queue(station, metrics=["bleu"])
    assert {task for task, _ in sent(station)} == {"prepare", "score_shard"}
    with reading(station.engine) as connection:
        enqueued = set(connection.scalars(select(Shard.protocol_id).where(Shard.state == LeaseState.ENQUEUED)))
        waiting = set(connection.scalars(select(ProtocolState.protocol_id)))
    assert len(enqueued) == 1
    assert not enqueued & waiting


def test_what_can_never_be_counted_fails_all_who_wait_and_can_be_tried_again(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise MetricsError("An n-gram occurs too often.")

    job = queue(station)
    with monkeypatch.context() as patch:
        patch.setattr(worker.handlers, "counting_work", refuse)
        work(station)
    with reading(station.engine) as connection:
        reasons = set(connection.scalars(select(Evaluation.reason)))
    assert states(station) == ["failed"] * 2
    start = "Segments 1 to 256 in the references could not be counted for nist (tried once): "
    assert reasons == {f"{start}An n-gram occurs too often."}
    assert sent(station) == []
    with writing(station.engine) as connection:
        queue_evaluations(connection, station.settings, job.protocols[0], job.submissions)
    work(station)
    assert states(station) == ["done"] * 2


def test_what_raises_is_tried_again(station: Station, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no such thing")

    queue(station)
    with monkeypatch.context() as patch:
        patch.setattr(worker.handlers, "counting_work", fail)
        (_, first), *_ = sent(station)
        do_preparation(station, first, "task")
    with reading(station.engine) as connection:
        row = connection.execute(select(Preparation.state, Preparation.error).where(Preparation.id == first)).one()
    assert tuple(row) == ("pending", "ValueError: no such thing")
    sweep(station.engine, station.settings)
    with writing(station.engine) as connection:
        connection.execute(update(Preparation).values(state=LeaseState.PENDING))
    work(station)
    assert states(station) == ["done"] * 2


def test_a_merge_whose_process_died_is_found(station: Station) -> None:
    queue(station)
    hints = sent(station)
    for _, key in hints[:-1]:
        do_preparation(station, key, "task")
    claim = worker.handlers.claim_preparation
    lost = []

    def die_at_the_merge(connection, key, **claims):  # type: ignore[no-untyped-def]
        if key != hints[-1][1]:
            lost.append(key)
            return None
        return claim(connection, key, **claims)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker.handlers, "claim_preparation", die_at_the_merge)
        do_preparation(station, hints[-1][1], "task")
    assert len(lost) == 1, "the task did not go on to merge"
    assert sent(station) == [("prepare", lost[0])]
    # Now it dies after its claim: the lease says so.
    with writing(station.engine) as connection:
        assert claim(connection, lost[0], owner="o", worker=station.worker, lease_seconds=-1, max_attempts=3)
    assert sweep(station.engine, station.settings) == 1
    work(station)
    assert states(station) == ["done"] * 2


@pytest.mark.parametrize("counted", [0, 1, 3])
def test_what_was_cancelled_at_the_wrong_moment_is_made_anew(station: Station, counted: int) -> None:
    """As when one evaluation is cancelled while another that needs the same is being queued."""
    queue(station)
    for _, key in sent(station)[:counted]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(worker.handlers, "do_preparation", lambda *_: None)
            do_preparation(station, key, "task")
    with writing(station.engine) as connection:
        unfinished = Preparation.state != LeaseState.DONE
        connection.execute(update(Preparation).where(unfinished).values(state=LeaseState.CANCELLED))
    before = amount(station, Preparation)
    assert sent(station) == []
    assert sweep(station.engine, station.settings) == 1
    assert sweep(station.engine, station.settings) == 0
    assert amount(station, Preparation) == before + (3 - counted or 1)
    work(station)
    assert states(station) == ["done"] * 2


def test_cancelled_evaluations_leave_no_work_behind(station: Station) -> None:
    job = queue(station)
    (_, first), *_ = sent(station)
    do_preparation(station, first, "task")
    with writing(station.engine) as connection:
        cancel_evaluations(connection, job.all_evaluations)
    assert states(station, Preparation) == ["done", "cancelled", "cancelled"]
    assert sweep(station.engine, station.settings) == 0
    assert sent(station) == []


def test_after_a_crash_attempts_count_and_after_a_stop_they_do_not(station: Station) -> None:
    queue(station)

    def start() -> None:
        (_, first), *_ = sent(station)
        with writing(station.engine) as connection:
            assert claim_preparation(connection, first, owner="o", worker="w", lease_seconds=60, max_attempts=3)

    def attempts() -> list[int]:
        with reading(station.engine) as connection:
            return list(connection.scalars(select(Preparation.attempts).order_by(Preparation.id)))

    start()
    assert reclaim_all(station.engine, station.settings, used=False) == 3
    assert (states(station, Preparation), attempts()) == (["pending"] * 3, [0, 0, 0])
    start()
    assert reclaim_all(station.engine, station.settings, used=True) == 3
    assert (states(station, Preparation), attempts()) == (["pending"] * 3, [1, 0, 0])


def test_old_hints_are_sent_again(station: Station) -> None:
    queue(station)
    hints = sent(station)
    with writing(station.engine) as connection:
        connection.execute(update(Preparation).values(enqueued_at=now() - 40))
    assert sweep(station.engine, station.settings) == 3
    assert sent(station) == hints


def test_somebody_urgent_hurries_what_he_waits_for(station: Station) -> None:
    queue(station, queue_class=QueueClass.NIGHTLY, team="n")
    with reading(station.engine) as connection:
        assert set(connection.scalars(select(Preparation.queue_class))) == {QueueClass.NIGHTLY}
    queue(station, queue_class=QueueClass.INTERACTIVE, campaign="other", replicates=0, team="i")
    with reading(station.engine) as connection:
        assert set(connection.scalars(select(Preparation.queue_class))) == {QueueClass.INTERACTIVE}
    assert amount(station, Preparation) == 3


def test_preparations_take_places_in_the_window(station: Station) -> None:
    station.settings = station.settings.model_copy(update={"smallest_window": 5})
    queue(station, segments=256 * 20, metrics=["nist"], campaign="waits", team="a")
    queue(station, segments=256 * 20, metrics=["bleu"], team="b")
    hints = sent(station)
    # The teams take turns, in seconds of work: a preparation takes less.
    assert sorted(task for task, _ in hints) == ["prepare"] * 4 + ["score_shard"]
    assert sent(station) == []


def test_a_process_keeps_a_few_states(station: Station) -> None:
    for seed in range(1, worker.computing.corpus_statistics.KEPT + 3):
        queue(station, seed=seed, segments=20, campaign=f"c{seed}")
    work(station)
    assert set(states(station)) == {"done"}
    assert len(worker.computing.corpus_statistics._kept) == worker.computing.corpus_statistics.KEPT
    with reading(station.engine) as connection:
        hashes = set(connection.scalars(select(PreparedState.content_hash)))
    assert set(worker.computing.corpus_statistics._kept) < hashes


@pytest.mark.parametrize("other", ["edition", "release"])
def test_what_no_release_can_count_fails_unless_another_release_may(station: Station, other: str) -> None:
    """Workers of another edition will never do it; those of another release of this edition may."""
    queue(station)
    with writing(station.engine) as connection:
        connection.execute(update(PreparedState).values(metric="gone"))
        connection.execute(update(Preparation).values(state="failed"))
        edition = EDITION + 1 if other == "edition" else EDITION
        row = {"id": "other", "host": "h", "pid": 2, "version": "0.0.9", "concurrency": 1, "edition": edition}
        connection.execute(insert(Worker).values(**row))
    prepare_forgotten(station.engine, station.settings)
    with reading(station.engine) as connection:
        rows = connection.execute(select(Evaluation.state, Evaluation.reason)).all()
    if other == "release":
        assert {row.state for row in rows} == {"queued"}
    else:
        assert {row.state for row in rows} == {"failed"}
        assert all('There is no metric "gone"' in row.reason for row in rows)
