"""Shards of one message: claimed, read and stored together, and each of them stands for itself."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from billiard.exceptions import TimeLimitExceeded, WorkerLostError
from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

import worker.handlers
import worker.preemption
import worker.runners
from models.database.session import reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.shards import SHARD, ClaimedShard
from models.queue.lease import held_by
from models.queue.task_kind import complete_several
from models.schema.base import now
from models.schema.corpus import TextBlock
from models.schema.queue import Evaluation, Reduction, Shard
from models.schema.results import Score, Statistics
from models.schema.states import LeaseState
from scheduler.admin import recompute
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.statements import caught
from tests.worker.processes.test_dead_processes import lose
from worker.context import WorkerContext
from worker.handlers import do, do_several
from worker.telemetry import DONE, DROPPED, FAILURES

one_kind = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Where databases cannot differ."""

SEGMENTS, SYSTEMS = 256 * 6 + 44, 2
"""Seven shards of all systems."""


@pytest.fixture
def context(database_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(one_block_shards(database_url))
    yield context
    context.close()


@pytest.fixture
def shards(context: WorkerContext) -> list[int]:
    job(context)
    with reading(context.engine) as connection:
        return list(connection.scalars(select(Shard.id).order_by(Shard.id)))


def job(context: WorkerContext) -> None:
    queue_job(context.engine, context.settings, segments=SEGMENTS, systems=SYSTEMS, metrics=["bleu", "chrf", "ter"])


@pytest.fixture(autouse=True)
def however_slow_the_machine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is stored early, or looked for, because time has passed."""
    monkeypatch.setattr(worker.handlers, "UNSTORED_SECONDS", 1e6)
    monkeypatch.setattr(worker.preemption, "EVERY_SECONDS", 1e6)


Results = tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]


def results(context: WorkerContext) -> Results:
    """All statistics and scores, to the bit, by the order of their evaluations."""
    with reading(context.engine) as connection:
        first = connection.scalar(select(Evaluation.id).order_by(Evaluation.id).limit(1)) or 0
        statistics = select(
            Statistics.evaluation_id - first,
            Statistics.metric,
            Statistics.first_block,
            Statistics.last_block,
            Statistics.blob,
        )
        scores = select(
            Score.evaluation_id - first, Score.metric, Score.signature, Score.score, Score.sums, Score.replicate_scores
        )
        return tuple(sorted(tuple(row) for row in connection.execute(each)) for each in (statistics, scores))  # type: ignore[return-value]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Results:
    """What shards give that are done one by one."""
    file = tmp_path_factory.mktemp("singles") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    context = WorkerContext(one_block_shards(f"sqlite:///{file}"))
    job(context)
    work_off(context.settings)
    found = results(context)
    context.close()
    return found


def rows(context: WorkerContext) -> dict[int, tuple[str, int, str | None]]:
    """The state, the attempts and the error of each shard."""
    with reading(context.engine) as connection:
        found = connection.execute(select(Shard.id, Shard.state, Shard.attempts, Shard.error))
        return {row.id: (row.state, row.attempts, row.error) for row in found}


def remaining(context: WorkerContext) -> list[tuple[str, int]]:
    with reading(context.engine) as connection:
        found = connection.execute(select(Evaluation.state, Evaluation.remaining).order_by(Evaluation.id))
        return [(row.state, row.remaining) for row in found]


DONE_ONCE = ("done", 1, None)


def at_shard(monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[ClaimedShard], None]) -> None:
    """Have something happen when the shard of this place is computed."""
    score, seen = worker.runners.score_texts, list[int]()

    def score_or_act(claim: ClaimedShard, *others: Any) -> object:
        seen.append(claim.key)
        if len(seen) == number:
            act(claim)
        return score(claim, *others)

    monkeypatch.setattr(worker.runners, "score_texts", score_or_act)


@pytest.mark.parametrize("seed", range(3))
def test_all_groupings_give_the_same(context: WorkerContext, shards: list[int], seed: int, expected: Results) -> None:
    """Whatever the order, and however many are done together."""
    draw = random.Random(seed)
    left = draw.sample(shards, len(shards))
    while left:
        some, left = left[: (size := draw.randint(1, 5))], left[size:]
        before = remaining(context)
        do_several(context, SHARD, some, "task")
        if left:
            assert remaining(context) == [("running", number - len(some)) for _, number in before]
    assert remaining(context) == [("done", 0)] * SYSTEMS
    assert results(context) == expected
    with reading(context.engine) as connection:
        assert len(connection.execute(select(Reduction.id)).all()) == 1
    assert context.counters.total(DONE.name, SHARD.name) == len(shards)


def test_shards_of_several_campaigns(context: WorkerContext) -> None:
    """Of other protocols, metrics and systems: those that end together are reduced for each protocol."""
    for seed, metrics in ((1, ["bleu"]), (2, ["chrf"]), (3, ["bleu"])):
        queue_job(
            context.engine, context.settings, segments=300, systems=seed, metrics=metrics, campaign=str(seed), seed=seed
        )
    keys = sorted(rows(context))
    do_several(context, SHARD, keys, "task")
    assert set(rows(context).values()) == {DONE_ONCE}
    assert remaining(context) == [("done", 0)] * 6
    with reading(context.engine) as connection:
        assert len(connection.execute(select(Reduction.id)).all()) == 3


@one_kind
def test_eight_take_no_more_statements_than_one(context: WorkerContext, shards: list[int]) -> None:
    # What is done once for an evaluation and for a connection.
    do(context, SHARD, shards[0], "task")
    counts = []
    for keys in (shards[1:2], shards[2:6]):
        with caught() as statements:
            do_several(context, SHARD, keys, "task")
        counts.append(len(statements))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("place", [1, 4, 7])
def test_one_that_fails_harms_no_other(
    context: WorkerContext, shards: list[int], monkeypatch: pytest.MonkeyPatch, place: int, expected: Results
) -> None:
    def fail(_claim: ClaimedShard) -> None:
        raise ValueError("no such thing")

    at_shard(monkeypatch, place, fail)
    do_several(context, SHARD, shards, "task")
    found = rows(context)
    assert found.pop(shards[place - 1]) == ("pending", 1, "ValueError: no such thing")
    assert set(found.values()) == {DONE_ONCE}
    assert remaining(context) == [("running", 1)] * SYSTEMS
    assert [context.counters.total(each.name, SHARD.name) for each in (DONE, FAILURES)] == [len(shards) - 1, 1]
    do(context, SHARD, shards[place - 1], "task")
    assert results(context) == expected


@one_kind
def test_one_whose_text_cannot_be_read_harms_no_other(context: WorkerContext, shards: list[int]) -> None:
    with writing(context.engine) as connection:
        connection.execute(delete(TextBlock).where(TextBlock.block == 2))
    do_several(context, SHARD, shards, "task")
    found = rows(context)
    state, attempts, error = found.pop(shards[2])
    assert (state, attempts) == ("pending", 1)
    assert error is not None
    assert "KeyError" in error
    assert set(found.values()) == {DONE_ONCE}


@one_kind
@pytest.mark.parametrize("bad", [[], [1, 3]])
def test_what_cannot_be_stored_together_is_stored_one_by_one(
    context: WorkerContext, shards: list[int], monkeypatch: pytest.MonkeyPatch, bad: list[int]
) -> None:
    unstorable = [shards[each] for each in bad]

    def store(connection: Any, kind: Any, done: Any) -> Any:
        completions = complete_several(connection, kind, done)
        if len(done) > 1 or done[0][0].key in unstorable:
            raise IntegrityError("INSERT", {}, Exception("it is there"))
        return completions

    monkeypatch.setattr(worker.handlers, "complete_several", store)
    do_several(context, SHARD, shards, "task")
    found = rows(context)
    for key in unstorable:
        state, attempts, _ = found.pop(key)
        assert (state, attempts) == ("pending", 1)
    assert set(found.values()) == {DONE_ONCE}
    assert [number for _, number in remaining(context)] == [len(bad)] * SYSTEMS


def test_a_message_that_comes_twice(context: WorkerContext, shards: list[int], expected: Results) -> None:
    for _ in range(2):
        do_several(context, SHARD, shards, "task")
    assert set(rows(context).values()) == {DONE_ONCE}
    assert results(context) == expected


def test_those_that_are_no_longer_free_are_left(context: WorkerContext, shards: list[int]) -> None:
    """Done, cancelled, claimed by somebody else, of another edition, gone, or without attempts left."""
    do(context, SHARD, shards[0], "task")
    with writing(context.engine) as connection:
        for key, values in {
            shards[1]: {"state": LeaseState.CANCELLED},
            shards[2]: {"state": LeaseState.RUNNING, "owner": "o", "worker": "w", "lease_until": now() + 60},
            shards[3]: {"edition": context.edition + 1, "state": LeaseState.ENQUEUED, "enqueued_at": now()},
            shards[4]: {"attempts": context.settings.max_attempts},
        }.items():
            connection.execute(update(Shard).where(Shard.id == key).values(**values))
    before = rows(context)
    do_several(context, SHARD, [*shards, shards[-1] + 1000], "task")
    found = rows(context)
    # Its own workers are told once more.
    assert found.pop(shards[3]) == ("pending", 0, None)
    assert {key: found[key] for key in shards[5:]} == dict.fromkeys(shards[5:], DONE_ONCE)
    assert all(found[key] == before[key] for key in (*shards[:3], shards[4]))
    assert [number for _, number in remaining(context)] == [len(shards) - 3] * SYSTEMS


def test_an_evaluation_that_is_cancelled_meanwhile(
    context: WorkerContext, shards: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one goes on, and the shards that both have count for it."""
    with reading(context.engine) as connection:
        first = connection.scalar(select(Evaluation.id).order_by(Evaluation.id).limit(1))
    assert first is not None

    def cancel(_claim: ClaimedShard) -> None:
        with writing(context.engine) as connection:
            cancel_evaluations(connection, [first])

    at_shard(monkeypatch, 2, cancel)
    do_several(context, SHARD, shards[:4], "task")
    assert [rows(context)[key] for key in shards[:4]] == [DONE_ONCE] * 4
    assert remaining(context) == [("cancelled", 7), ("running", 3)]
    with reading(context.engine) as connection:
        assert first not in set(connection.scalars(select(Statistics.evaluation_id)))


def test_an_evaluation_that_is_reset_meanwhile(
    context: WorkerContext, shards: list[int], monkeypatch: pytest.MonkeyPatch, expected: Results
) -> None:
    """It has other shards then, and counts only those."""
    with reading(context.engine) as connection:
        first = connection.scalar(select(Evaluation.id).order_by(Evaluation.id).limit(1))
    assert first is not None

    def reset(_claim: ClaimedShard) -> None:
        with writing(context.engine) as connection:
            cancel_evaluations(connection, [first])
        assert recompute(context.engine, context.settings, [first]).evaluations == (first,)

    at_shard(monkeypatch, 2, reset)
    do_several(context, SHARD, shards[:4], "task")
    (state, left), other = remaining(context)
    with reading(context.engine) as connection:
        fresh = list(connection.scalars(select(Shard.id).where(Shard.id > shards[-1]).order_by(Shard.id)))
    assert (state, left) == ("queued", len(fresh))
    assert other == ("running", 3)
    do_several(context, SHARD, [*shards[4:], *fresh], "task")
    assert remaining(context) == [("done", 0)] * SYSTEMS
    assert results(context)[1] == expected[1]


@one_kind
def test_some_of_them_taken_over_meanwhile(
    context: WorkerContext, shards: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def take(claim: ClaimedShard) -> None:
        with writing(context.engine) as connection:
            lost = held_by(Shard, shards[1:3], claim.owner)
            assert connection.execute(update(Shard).where(lost).values(owner="somebody else")).rowcount == 2

    at_shard(monkeypatch, 4, take)
    do_several(context, SHARD, shards, "task")
    found = rows(context)
    assert [found.pop(key)[0] for key in shards[1:3]] == ["running"] * 2
    assert set(found.values()) == {DONE_ONCE}
    assert [context.counters.total(each.name, SHARD.name) for each in (DONE, DROPPED)] == [len(shards) - 2, 2]
    assert [number for _, number in remaining(context)] == [2] * SYSTEMS


def test_a_worker_that_stops_begins_no_other(
    context: WorkerContext, shards: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_shard(monkeypatch, 2, lambda _: context.shutting_down.set_once("it stops"))
    do_several(context, SHARD, shards, "task")
    found = rows(context)
    assert [found[key] for key in shards[:2]] == [DONE_ONCE] * 2
    assert [found[key] for key in shards[2:]] == [("pending", 0, None)] * (len(shards) - 2)
    with reading(context.engine) as connection:
        left = connection.execute(select(Shard.owner, Shard.lease_until).where(Shard.state == LeaseState.PENDING))
        assert set(map(tuple, left)) == {(None, None)}


@one_kind
def test_what_took_long_is_stored_before_the_next_begins(
    context: WorkerContext, shards: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.handlers, "UNSTORED_SECONDS", -1.0)
    seen = []
    at_shard(monkeypatch, 3, lambda _: seen.append([rows(context)[key] for key in shards[:3]]))
    do_several(context, SHARD, shards, "task")
    assert seen == [[DONE_ONCE, DONE_ONCE, ("running", 1, None)]]
    assert set(rows(context).values()) == {DONE_ONCE}


class Died(BaseException):
    """Nobody catches it."""


@pytest.mark.parametrize("error", [WorkerLostError("signal 9"), TimeLimitExceeded(120)])
def test_those_of_a_process_that_died_are_tried_again(
    context: WorkerContext, shards: list[int], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Each costs an attempt, and none is given up for the time that another took."""

    def die(_claim: ClaimedShard) -> None:
        raise Died

    at_shard(monkeypatch, 2, die)
    with pytest.raises(Died):
        do_several(context, SHARD, shards[:3], "t1")
    assert [rows(context)[key] for key in shards[:3]] == [("running", 1, None)] * 3
    with writing(context.engine) as connection:
        connection.execute(update(Shard).values(claimed_at=now() - 121))
        connection.execute(update(Shard).where(Shard.id == shards[3]).values(state=LeaseState.ENQUEUED))
    lose(context, "score_shard", "t1", shards[:4], error)
    assert [rows(context)[key][:2] for key in shards[:4]] == [("pending", 1)] * 3 + [("pending", 0)]


@one_kind
def test_other_work_may_run_between_two_of_them(
    context: WorkerContext, shards: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    happened = []

    class Noted:
        def __init__(self, *_: object) -> None:
            pass

        def __call__(self) -> None:
            happened.append("look")

    monkeypatch.setattr(worker.handlers, "Preemption", Noted)
    monkeypatch.setattr(worker.runners, "score_texts", lambda claim, *_: happened.append(shards.index(claim.key)) or [])
    do_several(context, SHARD, shards[:3], "task")
    assert happened == [0, "look", 1, "look", 2]
