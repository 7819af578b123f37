"""What a learned worker takes, and how it keeps a shard while it is being scored."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select, update

from models.database.session import reading, writing
from models.queue.kinds.learned_shards import LEARNED_SHARD
from models.results.segment_scores import read_segment_scores
from models.schema.base import now
from models.schema.learned import LearnedShard, SegmentScore
from steelyard.errors import MissingResource
from steelyard.metrics.preparation.score_store import Scored
from steelyard.metrics.resources import Resources
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.tasks import claim_task
from tests.worker.learned_metric import Vowels
from worker.context import WorkerContext
from worker.errors import TakenOver
from worker.learned import running, scoring
from worker.learned.running import LearnedWorker
from worker.learned.store import StoredScores

DIGESTS = [bytes([number]) * 32 for number in range(3)]


@pytest.fixture
def context(sqlite_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(one_block_shards(sqlite_url, learned_shard_tokens=1, lease_seconds=200.0))
    yield context
    context.close()


def missing_on(monkeypatch: pytest.MonkeyPatch, *devices: str) -> None:
    def scorer(self: Vowels, _resources: Resources) -> str:
        if self.device in devices:
            raise MissingResource("There is no model here.")
        return "vowels"

    monkeypatch.setattr(Vowels, "scorer", scorer)


def test_it_takes_what_it_has_the_model_for_and_says_what_it_lacks(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue_job(context.engine, context.settings, segments=40, systems=1, metrics=["vowels", "vowels:device=tpu"])
    with reading(context.engine) as connection:
        key = {row.specification: row.id for row in connection.execute(select(LearnedShard))}
    said: list[tuple[str, ...]] = []
    monkeypatch.setattr(running, "note_missing_models", lambda _connection, _worker, lacks: said.append(lacks))
    worker = LearnedWorker(context.settings, "cpu")
    missing_on(monkeypatch, "cpu")
    assert [worker._next() for _ in range(2)] == [key["vowels:device=tpu"]] * 2
    assert said == [("vowels",)], "once"
    missing_on(monkeypatch, "cpu", "tpu")
    assert worker._next() is None
    missing_on(monkeypatch)
    assert worker._next() == key["vowels"]
    assert said == [("vowels",), ("vowels", "vowels:device=tpu"), ()]
    with writing(context.engine) as connection:
        connection.execute(update(LearnedShard).values(not_before=now() + 1000))
    assert worker._next() is None
    worker._context.close()


def test_a_second_call_to_stop_waits_no_longer(context: WorkerContext) -> None:
    worker = LearnedWorker(context.settings, "cpu")
    worker.stop()
    assert (worker._stopped.is_set(), worker._hurried.is_set()) == (True, False)
    worker.stop()
    assert worker._hurried.is_set()
    worker._context.close()
    failed = LearnedWorker(context.settings, "cpu")
    failed._end("The tables are those of another release.")
    assert (failed._code, failed._stopped.is_set()) == (1, True)
    failed._context.close()


def held_store(context: WorkerContext) -> StoredScores:
    """Of the only shard, which this worker holds for a minute."""
    queue_job(context.engine, context.settings, segments=40, systems=1, metrics=["vowels"])
    claimed = context.write(
        lambda connection: claim_task(
            connection, LEARNED_SHARD, 1, owner="o", worker="w", lease_seconds=60, max_attempts=3
        )
    )
    return StoredScores(context, claimed)


def shard(context: WorkerContext) -> Any:
    with reading(context.engine) as connection:
        return connection.execute(select(LearnedShard)).one()


def lose(context: WorkerContext) -> None:
    with writing(context.engine) as connection:
        connection.execute(update(LearnedShard).values(owner="another"))


def test_what_is_known_stays_and_what_is_new_is_kept_with_the_lease_renewed(context: WorkerContext) -> None:
    store = held_store(context)
    until = shard(context).lease_until
    assert store.known("model", DIGESTS) == {}
    assert shard(context).lease_until > until + 100
    kept = store.keep("model", {digest: Scored((1.0,)) for digest in DIGESTS[:2]})
    assert kept == dict.fromkeys(DIGESTS[:2], (1.0,))
    assert (store.contents, store.computed) == (3, 2)
    assert (shard(context).scored, shard(context).segments) == (2, 3)
    with writing(context.engine) as connection:
        connection.execute(update(SegmentScore).values(used_at=1.0))
    again = StoredScores(context, store._claim)
    assert again.known("model", DIGESTS[1:]) == {DIGESTS[1]: (1.0,)}
    assert (again.contents, again.computed, shard(context).scored) == (2, 0, 1)
    with reading(context.engine) as connection:
        used = dict(connection.execute(select(SegmentScore.content_hash, SegmentScore.used_at)).all())
    assert [used[digest] > 1.0 for digest in DIGESTS[:2]] == [False, True], "what is used is not deleted as old"


def test_who_lost_the_shard_learns_it_and_its_scores_are_kept(context: WorkerContext) -> None:
    store = held_store(context)
    lose(context)
    with pytest.raises(TakenOver):
        store.known("model", DIGESTS)
    with pytest.raises(TakenOver):
        store.keep("model", {DIGESTS[0]: Scored((1.0,))})
    with reading(context.engine) as connection:
        assert read_segment_scores(connection, "model", DIGESTS) == {DIGESTS[0]: (1.0,)}


def test_the_lease_is_kept_during_a_long_batch_and_not_after_it(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = held_store(context)
    store._context.settings = context.settings.model_copy(update={"lease_seconds": 0.03})
    renewed, real = threading.Semaphore(0), StoredScores._renew

    def renew(self: StoredScores, connection: Any) -> bool:
        renewed.release()
        return real(self, connection)

    monkeypatch.setattr(StoredScores, "_renew", renew)
    with store.held():
        assert all(renewed.acquire(timeout=60) for _ in range(3))
        threads = [each for each in threading.enumerate() if each.name == "lease"]
    assert len(threads) == 1
    assert not threads[0].is_alive()


def test_the_lease_lasts_for_two_more_tries(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float | None] = []

    class Clock(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout)
            return True

    store = held_store(context)
    monkeypatch.setattr("worker.learned.store.threading", SimpleNamespace(Event=Clock, Thread=threading.Thread))
    with store.held():
        pass
    assert waited == [pytest.approx(context.settings.lease_seconds / 3)]


def test_what_was_counted_in_references_is_theirs_and_of_their_kind_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counted:
        def state_of(self, whole: Any) -> tuple[Any, ...]:
            counts.append(1)
            return whole.references, whole.variable_references

    counts: list[int] = []
    monkeypatch.setattr(scoring, "_counted", {})
    monkeypatch.setattr(scoring, "Segments", lambda **values: type("Whole", (), values))
    resources = Resources(None)  # type: ignore[arg-type]

    def states(*references: bytes, variable: bool = False, key: str = "n") -> Any:
        return scoring._states({key: Counted()}, list(references), variable, resources)[key]  # type: ignore[dict-item]

    asked = [((b"a",), False), ((b"a",), True), ((b"a", b"b"), False), ((b"b", b"a"), False), ((b"ab",), False)]
    for _ in range(2):
        for references, variable in asked:
            assert states(*references, variable=variable) == (list(references), variable)
    assert len(counts) == len(asked), "once each"
    assert scoring._states({}, [b"a"], False, resources) == {}
    for number in range(2 * scoring.MOST_COUNTED):
        states(b"%d" % number)
    assert len(scoring._counted) == scoring.MOST_COUNTED
    states(b"%d" % (2 * scoring.MOST_COUNTED - 1))
    assert len(counts) == len(asked) + 2 * scoring.MOST_COUNTED, "the last ones are kept"
