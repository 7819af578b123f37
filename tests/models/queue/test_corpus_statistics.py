"""Corpus statistics: counts are claimed, merged and released in every order, and the statistics stored once."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, func, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.corpus_statistics import (
    CORPUS_COUNT,
    ClaimedCorpusCount,
    counted_parts,
    read_part,
)
from models.queue.kinds.corpus_statistics_plan import (
    lock_incomplete_statistics,
    missing_ranges,
    raise_priority,
)
from models.queue.task_kind import Completion
from models.schema.queue import CorpusCount, CorpusStatistics, Evaluation, Shard
from models.schema.states import LeaseState
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.ingest.campaigns import IngestResult
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.tasks import claim_task, complete_task, release_task
from worker.computing.corpus_statistics import merging_work
from worker.errors import PartsMissing


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def job(engine: Engine, database_url: str) -> IngestResult:
    """Two evaluations whose references are counted in three parts (blocks of 256, 256 and 88 segments)."""
    return queue_job(engine, one_block_shards(database_url), segments=600, systems=2, metrics=["nist"])


def rows(engine: Engine) -> list[tuple[int, int, bool, str]]:
    with reading(engine) as connection:
        found = connection.execute(select(CorpusCount).order_by(CorpusCount.id)).all()
    return [(row.first_block, row.last_block, row.merges, row.state) for row in found]


def keys(engine: Engine) -> list[int]:
    with reading(engine) as connection:
        return list(connection.scalars(select(CorpusCount.id).order_by(CorpusCount.id)))


def claim(connection: Connection, key: int, owner: str = "o", max_attempts: int = 3) -> ClaimedCorpusCount | None:
    return claim_task(
        connection, CORPUS_COUNT, key, owner=owner, worker="w", lease_seconds=60, max_attempts=max_attempts
    )


def claimed(engine: Engine, key: int, owner: str = "o") -> ClaimedCorpusCount:
    with writing(engine) as connection:
        found = claim(connection, key, owner)
    assert found is not None
    return found


def count(engine: Engine, key: int) -> Completion:
    mine = claimed(engine, key)
    with writing(engine) as connection:
        return complete_task(connection, CORPUS_COUNT, mine, f"part {mine.first_block}".encode())


def evaluations(engine: Engine) -> list[tuple[str, str | None]]:
    with reading(engine) as connection:
        found = connection.execute(select(Evaluation.state, Evaluation.reason).order_by(Evaluation.id))
        return [(row.state, row.reason) for row in found]


@pytest.mark.usefixtures("job")
def test_the_whole_way(engine: Engine) -> None:
    assert rows(engine) == [(first, first + 1, False, "pending") for first in range(3)]
    first, second, third = keys(engine)
    assert count(engine, third) == Completion(accepted=True)
    assert count(engine, first) == Completion(accepted=True)
    last = count(engine, second)
    assert last.ready is not None
    assert rows(engine)[3:] == [(0, 3, True, "pending")]
    mine = claimed(engine, last.ready[1])
    assert mine.merges
    with writing(engine) as connection:
        parts = [read_part(connection, each) for each in counted_parts(connection, mine.corpus_statistics_id)]
        assert parts == [b"part 0", b"part 1", b"part 2"]
        assert complete_task(connection, CORPUS_COUNT, mine, b"state").accepted
        assert not complete_task(connection, CORPUS_COUNT, mine, b"again").accepted
    with reading(engine) as connection:
        assert list(connection.scalars(select(CorpusStatistics.blob))) == [b"state"]
        assert set(connection.scalars(select(CorpusCount.part))) == {None}
    assert evaluations(engine) == [("queued", None)] * 2


@pytest.mark.usefixtures("job")
def test_what_is_not_covered_once_is_not_merged(engine: Engine) -> None:
    *_, last = (count(engine, key) for key in keys(engine))
    assert last.ready is not None
    mine = claimed(engine, last.ready[1])
    third = keys(engine)[2]
    edits = [{"part": None}, {"part": b"part", "first_block": 1}, {"first_block": 3, "last_block": 4}]
    for edit in edits:
        with writing(engine) as connection:
            connection.execute(update(CorpusCount).where(CorpusCount.id == third).values(**edit))
            with pytest.raises(PartsMissing, match=r"no part, or two, for segment (257|513)\."):
                merging_work(connection, mine)
            # One whose part is gone is counted again.
            state = lock_incomplete_statistics(connection, mine.corpus_statistics_id)
            assert state is not None
            assert missing_ranges(connection, state) == ([] if edit == edits[1] else [(2, 3)])


@pytest.mark.usefixtures("job")
def test_only_one_claim_wins_and_a_part_counts_once(engine: Engine) -> None:
    key = keys(engine)[0]
    mine = claimed(engine, key)
    with writing(engine) as connection:
        assert claim(connection, key, "other") is None
    for accepted in (True, False):
        with writing(engine) as connection:
            assert complete_task(connection, CORPUS_COUNT, mine, b"part").accepted is accepted


@pytest.mark.usefixtures("job")
def test_a_stale_owner_is_fenced(engine: Engine) -> None:
    key = keys(engine)[0]
    stale = claimed(engine, key, "stale")
    with writing(engine) as connection:
        assert release_task(connection, CORPUS_COUNT, key, "stale", "silent", max_attempts=3, delay_seconds=0)
    fresh = claimed(engine, key, "fresh")
    with writing(engine) as connection:
        assert not complete_task(connection, CORPUS_COUNT, stale, b"stale").accepted
        assert not release_task(connection, CORPUS_COUNT, key, "stale", "late", max_attempts=3, delay_seconds=0)
        assert complete_task(connection, CORPUS_COUNT, fresh, b"fresh").accepted
    with reading(engine) as connection:
        assert connection.scalar(select(CorpusCount.part).where(CorpusCount.id == key)) == b"fresh"


@pytest.mark.usefixtures("job")
def test_two_last_parts_at_once_start_one_merge(engine: Engine) -> None:
    first, *last_two = keys(engine)
    count(engine, first)
    claims = [claimed(engine, key) for key in last_two]
    barrier = threading.Barrier(2)
    found: list[Completion] = []

    def complete(mine: ClaimedCorpusCount) -> None:
        with writing(engine) as connection:
            # On PostgreSQL both transactions are open before either writes.
            if engine.dialect.name == "postgresql":
                connection.execute(select(func.count()).select_from(CorpusCount))
                barrier.wait(60)
            found.append(complete_task(connection, CORPUS_COUNT, mine, b"part"))

    threads = [threading.Thread(target=complete, args=(each,)) for each in claims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [each.accepted for each in found] == [True, True]
    assert sum(each.ready is not None for each in found) == 1
    assert [row for row in rows(engine) if row[2]] == [(0, 3, True, "pending")]


def test_a_part_that_is_cancelled_meanwhile_is_not_missing_in_the_merge(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever cancels does not hold the state, so it may happen between two looks at the parts."""
    engine = make_engine(postgres_url)
    queue_job(engine, one_block_shards(postgres_url), segments=600, systems=2, metrics=["nist"])
    first, second, third = keys(engine)
    count(engine, first)
    mine = claimed(engine, second)

    def look_and_cancel(*looked: Any) -> list[tuple[int, int]]:
        found = missing_ranges(*looked)
        with writing(engine) as other:
            other.execute(update(CorpusCount).where(CorpusCount.id == third).values(state=LeaseState.CANCELLED))
        return found

    monkeypatch.setattr("models.queue.kinds.corpus_statistics_plan.missing_ranges", look_and_cancel)
    with writing(engine) as connection:
        assert complete_task(connection, CORPUS_COUNT, mine, b"part") == Completion(accepted=True)
    assert [row[3] for row in rows(engine)] == ["done", "done", "cancelled"]
    engine.dispose()


def priorities(engine: Engine) -> list[tuple[int, str, float | None]]:
    with reading(engine) as connection:
        found = connection.execute(select(CorpusCount).order_by(CorpusCount.id)).all()
    return [(row.queue_class, row.team, row.due_at) for row in found]


@pytest.mark.usefixtures("job")
def test_what_was_counted_is_merged_in_the_turn_of_the_most_urgent_part(engine: Engine) -> None:
    given = [(2, "a", 1.0), (0, "b", 2.0), (0, "c", None)]
    with writing(engine) as connection:
        for key, (queue_class, team, due_at) in zip(keys(engine), given, strict=True):
            values = {"queue_class": queue_class, "team": team, "due_at": due_at, "edition": 7}
            connection.execute(update(CorpusCount).where(CorpusCount.id == key).values(**values))
        connection.execute(update(CorpusStatistics).values(edition=7))
        connection.execute(update(Evaluation).values(edition=7))
        # More urgent, but nobody waited for it.
        row = {"corpus_statistics_id": 1, "first_block": 0, "last_block": 1, "queue_class": 0, "edition": 7}
        cancelled = insert(CorpusCount).values(**row, id=0, state=LeaseState.CANCELLED, team="d", due_at=3.0)
        connection.execute(cancelled)
    for key in keys(engine)[1:]:
        count(engine, key)
    assert priorities(engine) == [(0, "d", 3.0), *given, (0, "b", 2.0)]
    with reading(engine) as connection:
        assert set(connection.scalars(select(CorpusCount.edition))) == {7}


@pytest.mark.usefixtures("job")
def test_what_somebody_needs_soon_waits_no_longer_than_he_does(engine: Engine) -> None:
    """It goes up a class or comes to be due earlier, never the other way round; and only what waits still can."""
    first, second, third = keys(engine)
    with writing(engine) as connection:
        row = {"content_hash": "x", "key": "k", "metric": "nist", "reference_texts": [], "segments": 1}
        other = connection.execute(
            insert(CorpusStatistics).values(**row, variable_references=False).returning(CorpusStatistics.id)
        ).scalar_one()
        values = {"corpus_statistics_id": other, "first_block": 0, "last_block": 1, "queue_class": 2, "due_at": 9.0}
        connection.execute(insert(CorpusCount).values(**values))
        for key, changes in (
            (first, {"queue_class": 2, "due_at": None}),
            (second, {"queue_class": 0, "due_at": 9.0}),
            (third, {"queue_class": 2, "due_at": 3.0, "state": LeaseState.RUNNING}),
        ):
            connection.execute(update(CorpusCount).where(CorpusCount.id == key).values(**changes))
        state = connection.scalar(select(CorpusCount.corpus_statistics_id).where(CorpusCount.id == first))
        assert state is not None
        raise_priority(connection, state, 1)
    assert priorities(engine) == [(1, "", None), (0, "", 9.0), (2, "", 3.0), (2, "", 9.0)]
    for due_at, expected in ((5.0, 5.0), (7.0, 5.0), (4.0, 4.0)):
        with writing(engine) as connection:
            raise_priority(connection, state, 1, due_at)
        assert priorities(engine) == [(1, "", expected), (0, "", expected), (2, "", 3.0), (2, "", 9.0)]


@pytest.mark.usefixtures("job")
def test_out_of_attempts_it_fails_all_who_wait_and_the_others_are_not_counted_in_vain(engine: Engine) -> None:
    first, second, _ = keys(engine)
    for attempt, expected in (("1", "pending"), ("2", "failed")):
        claimed(engine, second, attempt)
        with writing(engine) as connection:
            assert release_task(
                connection, CORPUS_COUNT, second, attempt, "it exploded.", max_attempts=2, delay_seconds=0
            )
        assert rows(engine)[1][3] == expected
    reason = "Segments 257 to 512 in the references could not be counted for nist (tried 2 times): it exploded."
    assert evaluations(engine) == [("failed", reason)] * 2
    assert [state for *_, state in rows(engine)] == ["cancelled", "failed", "cancelled"]
    with reading(engine) as connection:
        assert set(connection.scalars(select(Shard.state))) == {"cancelled"}
    with writing(engine) as connection:
        assert claim(connection, first) is None


def test_queued_again_it_counts_what_is_missing(engine: Engine, job: IngestResult, database_url: str) -> None:
    first, second, _ = keys(engine)
    count(engine, first)
    claimed(engine, second)
    with writing(engine) as connection:
        release_task(connection, CORPUS_COUNT, second, "o", "no", max_attempts=3, delay_seconds=0, permanent=True)
    assert [state for state, _ in evaluations(engine)] == ["failed"] * 2
    with writing(engine) as connection:
        enqueue_evaluations(connection, one_block_shards(database_url), job.protocols[0], job.submissions)
    assert rows(engine)[3:] == [(1, 2, False, "pending"), (2, 3, False, "pending")]
    *_, fourth, fifth = keys(engine)
    assert count(engine, fourth).ready is None
    assert count(engine, fifth).ready is not None


def test_a_merge_that_failed_is_tried_again(engine: Engine, job: IngestResult, database_url: str) -> None:
    merge = [count(engine, key) for key in keys(engine)][-1].ready[1]
    assert merge is not None
    claimed(engine, merge)
    with writing(engine) as connection:
        release_task(connection, CORPUS_COUNT, merge, "o", "no memory", max_attempts=3, delay_seconds=0, permanent=True)
    reason = "What was counted in the references could not be merged for nist (tried once): no memory"
    assert evaluations(engine) == [("failed", reason)] * 2
    with writing(engine) as connection:
        enqueue_evaluations(connection, one_block_shards(database_url), job.protocols[0], job.submissions)
    assert rows(engine)[3:] == [(0, 3, True, "failed"), (0, 3, True, "pending")]


def test_what_nobody_needs_any_more_is_not_counted(engine: Engine, job: IngestResult) -> None:
    first, _, third = keys(engine)
    running = claimed(engine, first)
    with writing(engine) as connection:
        cancel_evaluations(connection, job.all_evaluations[:1])
    assert [state for *_, state in rows(engine)] == ["running", "pending", "pending"]
    with writing(engine) as connection:
        # One slips through: somebody is just looking at it.
        connection.execute(update(CorpusCount).where(CorpusCount.id == third).values(state=LeaseState.RUNNING))
        cancel_evaluations(connection, job.all_evaluations[1:])
        connection.execute(update(CorpusCount).where(CorpusCount.id == third).values(state=LeaseState.ENQUEUED))
    assert [state for *_, state in rows(engine)] == ["running", "cancelled", "enqueued"]
    with writing(engine) as connection:
        assert claim(connection, third) is None
        assert complete_task(connection, CORPUS_COUNT, running, b"part") == Completion(accepted=True)
    assert [state for *_, state in rows(engine)] == ["done", "cancelled", "cancelled"]


def test_counts_are_needed_by_evaluations_of_their_own_edition_alone(engine: Engine, job: IngestResult) -> None:
    """Metrics of another edition may split texts otherwise: such evaluations have counts of their own."""
    first, second = job.all_evaluations
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.id == second).values(edition=Evaluation.edition + 1))
        theirs = keys(engine)[2]
        connection.execute(update(CorpusCount).where(CorpusCount.id == theirs).values(edition=CorpusCount.edition + 1))
        cancel_evaluations(connection, [first])
    assert [state for *_, state in rows(engine)] == ["cancelled", "cancelled", "pending"]


@pytest.mark.parametrize("table", [CorpusCount, CorpusStatistics])
def test_what_is_large_stands_behind_what_is_looked_at(table: Any) -> None:
    """SQLite would read megabytes of each row, 50 times a second, to know its state."""
    assert list(table.__table__.columns)[-1].name in {"part", "blob"}
