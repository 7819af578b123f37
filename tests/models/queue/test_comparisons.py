"""Comparisons: their trials claimed, completed and released in every order, a test is stored once."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, Engine, delete, func, select, update

from models.database.session import make_engine, reading, writing
from models.queue.kinds.comparisons import TRIALS, ClaimedTrials, prefer, start_comparison
from models.queue_status.progress import ComparisonProgress, read_comparison_progress
from models.results.randomizations import (
    Pair,
    RandomizationPlan,
    StoredTest,
    read_randomizations,
    store_randomizations,
)
from models.results.randomizations import (
    tested_systems as systems_tested,
)
from models.schema.queue import Comparison, Evaluation, Trials
from models.schema.results import Randomization, Score, SystemRuns
from models.schema.states import LeaseState, QueueClass
from steelyard.metrics.metric import EDITION
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.tasks import claim_task, complete_task, release_task

RUNNING = ComparisonProgress(running=1, done=0, failures=(), trials=99, trials_done=0)
RANGES = [(0, 40), (40, 70), (70, 99)]


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def plan(engine: Engine, database_url: str) -> RandomizationPlan:
    """Three systems, of which the last has two runs."""
    settings = one_block_shards(database_url)
    job = queue_job(engine, settings, segments=20, systems=3, metrics=["wer", "per"], runs={2: 2})
    work_off(settings)
    a, b, c, d = job.all_evaluations
    pairs = (Pair(0, 0, 1), Pair(0, 0, 2), Pair(1, 1, 2))
    return RandomizationPlan(job.protocols[0], ((a,), (b,), (c, d)), pairs, 99, 7)


def start(engine: Engine, plan: RandomizationPlan) -> int:
    with writing(engine) as connection:
        return start_comparison(connection, plan, RANGES, queue_class=0, team="", edition=EDITION)


def keys(engine: Engine) -> list[int]:
    with reading(engine) as connection:
        return list(connection.scalars(select(Trials.id).order_by(Trials.id)))


def states(engine: Engine) -> list[str]:
    with reading(engine) as connection:
        return list(connection.scalars(select(Trials.state).order_by(Trials.id)))


def claim(connection: Connection, key: int, owner: str = "o", max_attempts: int = 3) -> ClaimedTrials | None:
    return claim_task(connection, TRIALS, key, owner=owner, worker="w", lease_seconds=60, max_attempts=max_attempts)


def claimed(engine: Engine, key: int, owner: str = "o") -> ClaimedTrials:
    with writing(engine) as connection:
        found = claim(connection, key, owner)
    assert found is not None
    return found


def completed(engine: Engine, mine: ClaimedTrials, counts: list[int]) -> bool:
    with writing(engine) as connection:
        return complete_task(connection, TRIALS, mine, np.array(counts)).accepted


def progress(engine: Engine, comparison: int) -> ComparisonProgress:
    with reading(engine) as connection:
        return read_comparison_progress(connection, [comparison])


def stored(engine: Engine) -> list[tuple[int, int]]:
    """(metric, as large) of all tests."""
    with reading(engine) as connection:
        rows = connection.execute(
            select(Randomization.metric, Randomization.as_large).order_by(Randomization.metric, Randomization.b_id)
        )
        return [(row.metric, row.as_large) for row in rows]


def test_the_whole_way(engine: Engine, plan: RandomizationPlan) -> None:
    comparison = start(engine, plan)
    assert progress(engine, comparison) == RUNNING
    first, second, third = keys(engine)
    mine = claimed(engine, third)
    assert (mine.plan, mine.first_trial, mine.last_trial) == (plan, 70, 99)
    assert completed(engine, mine, [1, 2, 3])
    assert completed(engine, claimed(engine, first), [10, 20, 30])
    assert progress(engine, comparison) == replace(RUNNING, trials_done=69)
    assert stored(engine) == []
    assert completed(engine, claimed(engine, second), [5, 0, 0])
    assert progress(engine, comparison) == replace(RUNNING, running=0, done=1, trials_done=99)
    assert sorted(stored(engine)) == [(0, 16), (0, 22), (1, 33)]
    with reading(engine) as connection:
        assert set(connection.scalars(select(Trials.counts))) == {None}
        scores = {
            (row.evaluation_id, row.metric): row.score
            for row in connection.execute(select(Score.evaluation_id, Score.metric, Score.score))
        }
        wer = read_randomizations(connection, plan.systems, 0, trials=99, seed=7)
        assert read_randomizations(connection, plan.systems, 0, trials=100, seed=7) == {}
        assert read_randomizations(connection, plan.systems, 0, trials=99, seed=8) == {}
        assert read_randomizations(connection, plan.systems[1:], 0, trials=99, seed=7) == {}
    a, b, (c, d) = (*plan.systems,)
    assert wer == {
        (a, b): StoredTest(scores[b[0], 0] - scores[a[0], 0], 16),
        (a, (c, d)): StoredTest((scores[c, 0] + scores[d, 0]) / 2 - scores[a[0], 0], 22),
    }


def test_only_one_claim_wins_and_trials_count_once(engine: Engine, plan: RandomizationPlan) -> None:
    comparison = start(engine, plan)
    key = keys(engine)[0]
    mine = claimed(engine, key)
    with writing(engine) as connection:
        assert claim(connection, key, "other") is None
    assert [completed(engine, mine, [1, 1, 1]) for _ in range(2)] == [True, False]
    assert progress(engine, comparison).trials_done == 40
    with reading(engine) as connection:
        assert connection.scalar(select(Comparison.remaining)) == 2


def test_a_stale_owner_is_fenced(engine: Engine, plan: RandomizationPlan) -> None:
    start(engine, plan)
    key = keys(engine)[0]
    stale = claimed(engine, key, "stale")
    with writing(engine) as connection:
        assert release_task(connection, TRIALS, key, "stale", "silent", max_attempts=3, delay_seconds=0)
    fresh = claimed(engine, key, "fresh")
    assert not completed(engine, stale, [9, 9, 9])
    with writing(engine) as connection:
        assert not release_task(connection, TRIALS, key, "stale", "late", max_attempts=3, delay_seconds=0)
    for mine in (fresh, *(claimed(engine, key) for key in keys(engine)[1:])):
        assert completed(engine, mine, [1, 1, 1])
    assert stored(engine) == [(0, 3), (0, 3), (1, 3)]


def test_two_last_ones_at_once_are_added_up_once(engine: Engine, plan: RandomizationPlan) -> None:
    comparison = start(engine, plan)
    first, *last_two = keys(engine)
    completed(engine, claimed(engine, first), [1, 1, 1])
    claims = [claimed(engine, key) for key in last_two]
    barrier = threading.Barrier(2)
    accepted: list[bool] = []

    def complete(mine: ClaimedTrials) -> None:
        with writing(engine) as connection:
            # On PostgreSQL both transactions are open before either writes.
            if engine.dialect.name == "postgresql":
                connection.execute(select(func.count()).select_from(Trials))
                barrier.wait(60)
            accepted.append(complete_task(connection, TRIALS, mine, np.array([1, 2, 3])).accepted)

    threads = [threading.Thread(target=complete, args=(each,)) for each in claims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert accepted == [True, True]
    assert sorted(stored(engine)) == [(0, 3), (0, 5), (1, 7)]
    assert progress(engine, comparison).done == 1


def test_out_of_attempts_they_fail_the_comparison_with_a_reason(engine: Engine, plan: RandomizationPlan) -> None:
    comparison = start(engine, plan)
    first, second, third = keys(engine)
    running = claimed(engine, third)
    with writing(engine) as connection:
        connection.execute(update(Trials).where(Trials.id == first).values(state=LeaseState.ENQUEUED))
    for owner, expected in (("1", "pending"), ("2", "failed")):
        claimed(engine, second, owner)
        with writing(engine) as connection:
            assert release_task(connection, TRIALS, second, owner, "it rained.", max_attempts=2, delay_seconds=0)
        assert states(engine)[1] == expected
    assert states(engine) == ["cancelled", "failed", "running"]
    assert progress(engine, comparison) == replace(
        RUNNING, running=0, failures=("Trials 41 to 70 could not be made (tried 2 times): it rained.",)
    )
    # Whoever is still at it writes in vain, and what was sent already is not begun.
    assert completed(engine, running, [1, 1, 1])
    with writing(engine) as connection:
        connection.execute(update(Trials).where(Trials.id == first).values(state=LeaseState.ENQUEUED))
        assert claim(connection, first) is None
    assert states(engine) == ["cancelled", "failed", "done"]
    assert stored(engine) == []
    # The next one begins anew, and does not mind what is left of this one.
    again = start(engine, plan)
    assert again != comparison
    assert states(engine)[3:] == ["pending"] * 3


def test_an_error_that_stays_fails_at_once(engine: Engine, plan: RandomizationPlan) -> None:
    comparison = start(engine, plan)
    key = keys(engine)[0]
    claimed(engine, key)
    with writing(engine) as connection:
        release_task(connection, TRIALS, key, "o", "no.", max_attempts=3, delay_seconds=0, permanent=True)
    assert progress(engine, comparison).failures == ("Trials 1 to 40 could not be made (tried once): no.",)


def test_the_same_contest_is_started_once_while_it_runs(engine: Engine, plan: RandomizationPlan) -> None:
    comparison = start(engine, plan)
    assert start(engine, plan) == comparison
    assert len(keys(engine)) == 3
    other = RandomizationPlan(plan.protocol_id, plan.systems, plan.pairs, 99, 8)
    assert start(engine, other) != comparison
    for key in keys(engine)[:3]:
        completed(engine, claimed(engine, key), [1, 1, 1])
    # It has ended: who asks for it now does so because its tests are missing.
    assert start(engine, plan) not in {comparison, None}


def test_many_who_start_the_same_at_once_get_one(engine: Engine, plan: RandomizationPlan) -> None:
    barrier = threading.Barrier(4)
    found: list[int] = []

    def begin() -> None:
        barrier.wait(60)
        found.append(start(engine, plan))

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 4
    assert len(set(found)) == 1
    assert len(keys(engine)) == 3


def test_what_is_stored_stays(engine: Engine, plan: RandomizationPlan) -> None:
    for counts in ([1, 2, 3], [4, 5, 6]):
        with writing(engine) as connection:
            assert store_randomizations(connection, plan, np.array(counts)) is None
    assert sorted(stored(engine)) == [(0, 1), (0, 2), (1, 3)]


def test_many_who_store_at_once_do_not_wait_for_each_other_for_ever(engine: Engine, plan: RandomizationPlan) -> None:
    barrier = threading.Barrier(4)
    failed: list[BaseException] = []
    a, b, c = plan.systems
    orders = [(a, b, c), (c, b, a), (b, c, a), (c, a, b)]

    def store(systems: tuple[tuple[int, ...], ...]) -> None:
        pairs = tuple(Pair(metric, x, y) for metric in (0, 1) for x, y in ((0, 1), (0, 2), (1, 2)))
        barrier.wait(60)
        try:
            with writing(engine) as connection:
                store_randomizations(
                    connection,
                    RandomizationPlan(plan.protocol_id, systems, pairs, 99, 7),
                    np.arange(6, dtype=np.int64),
                )
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=store, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert len(stored(engine)) == 6


@pytest.mark.parametrize("gone", [0, 2, 3], ids=["the only run", "the first of two runs", "the last of two runs"])
def test_a_deleted_evaluation_takes_its_tests_along_and_no_others(
    engine: Engine, plan: RandomizationPlan, gone: int
) -> None:
    with writing(engine) as connection:
        store_randomizations(connection, plan, np.array([1, 2, 3]))
    evaluation = [each for runs in plan.systems for each in runs][gone]
    with writing(engine) as connection:
        connection.execute(delete(Evaluation).where(Evaluation.id == evaluation))
    # Pairs: the first and second system, the first and third, the second and third.
    assert sorted(stored(engine)) == ([(1, 3)] if gone == 0 else [(0, 1)])
    with reading(engine) as connection:
        left = [runs for runs in plan.systems if evaluation not in runs]
        assert set(systems_tested(connection, plan.systems)) == set(left)
        of_gone = select(func.count()).select_from(SystemRuns).where(SystemRuns.evaluation_id == evaluation)
        assert connection.scalar(of_gone) == 0


@pytest.mark.parametrize("change", [delete(Evaluation), update(Evaluation).values(state="queued")])
def test_an_evaluation_that_is_deleted_or_requeued_meanwhile_fails_the_comparison(
    engine: Engine, plan: RandomizationPlan, change: Any
) -> None:
    comparison = start(engine, plan)
    mine = [claimed(engine, key) for key in keys(engine)]
    evaluation = plan.systems[1][0]
    with writing(engine) as connection:
        connection.execute(change.where(Evaluation.id == evaluation))
    for each in mine:
        assert completed(engine, each, [1, 1, 1])
    assert stored(engine) == []
    assert progress(engine, comparison).failures == (
        f"Evaluation {evaluation} was deleted or recomputed during the comparison.",
    )


def test_what_is_preferred_waits_before_all_other_trials(engine: Engine, plan: RandomizationPlan) -> None:
    """Only what waits changes its class: the messages of the others lie in the queues of theirs."""
    wanted, other = start(engine, plan), start(engine, replace(plan, seed=8))
    with writing(engine) as connection:
        connection.execute(update(Trials).values(queue_class=QueueClass.INTERACTIVE))
        sent = Trials.first_trial == 40
        connection.execute(update(Trials).where(sent).values(state=LeaseState.ENQUEUED))
        for preferred, behind in ((wanted, other), (other, wanted)):
            prefer(connection, [preferred])
            found = connection.execute(select(Trials.comparison_id, Trials.first_trial, Trials.queue_class))
            assert {(row.comparison_id, row.first_trial): row.queue_class for row in found} == {
                **{(preferred, first): QueueClass.CAMPAIGN for first in (0, 70)},
                **{(behind, first): QueueClass.NIGHTLY for first in (0, 70)},
                **{(each, 40): QueueClass.INTERACTIVE for each in (wanted, other)},
            }
