"""Randomization tests: only what is missing is made, at once or in the queue, with the same counts."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, delete, func, insert, select, update

import worker.computing.randomization
from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.queue.kinds import comparisons
from models.queue.kinds.comparisons import prefer
from models.queue_status.progress import ComparisonProgress
from models.results.randomizations import PairTests, Runs
from models.results.statistics import read_statistics
from models.schema.queue import Comparison, Evaluation, Trials, Worker
from models.schema.results import Randomization, Score, Statistics, SystemRuns
from models.schema.states import LeaseState, QueueClass
from runtime.settings import Settings
from scheduler.dispatch import dispatch
from scheduler.embedded.randomize import randomize
from scheduler.enqueue.randomization import request_comparison
from scheduler.errors import BadComparison, ComparisonFailed
from scheduler.ingest.campaigns import IngestResult
from steelyard.metrics.registry import parse_metric
from steelyard.resampling.randomization import permutation_counts
from tests.scheduler.jobs import one_block_shards, queue_job, queue_named, work_off
from tests.scheduler.test_dispatch import App
from worker.context import WorkerContext
from worker.handlers import do

METRICS = ("bleu", "wer")
TRIALS = 750


@pytest.fixture
def settings(sqlite_url: str) -> Settings:
    """Every two hundred trials are a task."""
    return one_block_shards(sqlite_url, at_once_seconds=0.0)


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    engine = make_engine(settings.database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def job(engine: Engine, settings: Settings) -> IngestResult:
    """Four systems, of which the first has three runs, all scored."""
    job = queue_job(engine, settings, segments=300, systems=4, metrics=METRICS, runs={0: 3})
    work_off(settings)
    return job


@pytest.fixture
def systems(job: IngestResult) -> list[Runs]:
    first, *others = job.all_evaluations
    return [(first, *others[3:]), *((each,) for each in others[:3])]


def at_once(settings: Settings) -> Settings:
    return settings.model_copy(update={"at_once_seconds": 1e9})


def ask(
    engine: Engine,
    settings: Settings,
    job: IngestResult,
    pairs: Any,
    metrics: Any = (0, 1),
    trials: int = TRIALS,
    **others: Any,
) -> int | None:
    return request_comparison(engine, settings, job.protocols[0], list(pairs), metrics, trials=trials, seed=3, **others)


def work_off_trials(settings: Settings, *, backwards: bool = False) -> int:
    """Make in this process all trials that wait, each twice; how many tasks there were."""
    context = WorkerContext(settings)
    with reading(context.engine) as connection:
        keys = list(connection.scalars(select(Trials.id).where(Trials.state == LeaseState.PENDING).order_by(Trials.id)))
    for key in reversed(keys) if backwards else keys:
        do(context, comparisons.TRIALS, key, "task")
        do(context, comparisons.TRIALS, key, "again")
    context.close()
    return len(keys)


def stored(engine: Engine) -> set[tuple[Any, ...]]:
    with reading(engine) as connection:
        return {tuple(row) for row in connection.execute(select(Randomization))}


def counts(engine: Engine) -> dict[tuple[int, int, int], int]:
    """(last evaluation of a, last evaluation of b, metric) -> trials that were as large."""
    with reading(engine) as connection:
        last = {row.id: row.evaluation_id for row in connection.execute(select(SystemRuns))}
        return {
            (last[row.a_id], last[row.b_id], row.metric): row.as_large
            for row in connection.execute(select(Randomization))
        }


def test_however_they_are_made_the_counts_are_those_of_the_test(
    engine: Engine, settings: Settings, job: IngestResult, systems: list[Runs], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = list(combinations(range(4), 2))
    named = [(systems[a], systems[b]) for a, b in pairs]
    expected = {}
    with reading(engine) as connection:
        for metric, name in enumerate(METRICS):
            statistics = read_statistics(connection, [each for runs in systems for each in runs], metric)
            found = permutation_counts(
                parse_metric(name), statistics, pairs, seed=3, first_trial=0, last_trial=TRIALS, runs=[3, 1, 1, 1]
            )
            for (a, b), count in zip(named, found.tolist(), strict=True):
                low, high = sorted((a, b))
                expected[low[-1], high[-1], metric] = count
    assert any(0 < count < TRIALS for count in expected.values())

    def clear() -> None:
        with writing(engine) as connection:
            connection.execute(delete(Randomization))

    assert ask(engine, at_once(settings), job, named) is None
    assert counts(engine) == expected
    whole = stored(engine)
    clear()
    assert ask(engine, settings, job, named) is not None
    assert work_off_trials(settings, backwards=True) == 4
    assert counts(engine) == expected
    clear()
    # With memory for two outputs, the statistics are read for a few pairs at a time.
    monkeypatch.setattr(worker.computing.randomization, "LARGEST_TABLE", 2 * 300 * 10)
    assert ask(engine, settings.model_copy(update={"shortest_shard_seconds": 1e9}), job, named) is not None
    assert work_off_trials(settings) == 1
    assert stored(engine) == whole


def test_only_missing_parts_are_made_and_nothing_else_is_touched(
    engine: Engine, settings: Settings, job: IngestResult, systems: list[Runs]
) -> None:
    first, second, third, fourth = systems
    assert ask(engine, at_once(settings), job, combinations(systems[:3], 2)) is None
    before = stored(engine)
    assert len(before) == 6
    # Nothing new, whatever the order of sides and runs.
    turned = [(third, second), (second, first[::-1])]
    assert ask(engine, settings, job, turned) is None
    # A new submission gets all its pairs at once.
    comparison = ask(engine, settings, job, combinations(systems, 2))
    with reading(engine) as connection:
        row = connection.execute(select(Comparison)).one()
    assert row.id == comparison
    new = [tuple(row.systems[side] for side in pair[1:]) for pair in row.tests if pair[0] == 0]
    assert new == [(list(first), list(fourth)), (list(second), list(fourth)), (list(third), list(fourth))]
    work_off_trials(settings)
    after = stored(engine)
    assert before < after
    assert len(after) == 12
    assert ask(engine, settings, job, combinations(systems, 2)) is None
    # Other trials, another seed and another metric are other tests.
    assert ask(engine, settings, job, [(first, second)], trials=100) is not None


def test_one_metric_may_be_there_already(
    engine: Engine, settings: Settings, job: IngestResult, systems: list[Runs]
) -> None:
    assert ask(engine, at_once(settings), job, [systems[:2]], metrics=[1]) is None
    ask(engine, settings, job, [systems[:2]], metrics=[0, 1, 1])
    with reading(engine) as connection:
        assert connection.scalar(select(Comparison.tests)) == [[0, 0, 1]]


def test_who_asks_again_meanwhile_gets_the_same(
    engine: Engine, settings: Settings, job: IngestResult, systems: list[Runs]
) -> None:
    a, b, c, _ = systems
    comparison = ask(engine, settings, job, [(a, b), (b, c)], queue_class=QueueClass.NIGHTLY, team="t")
    assert ask(engine, settings, job, [(c, b), (a[::-1], b), (a, b)]) == comparison
    with reading(engine) as connection:
        rows = connection.execute(select(Trials).order_by(Trials.id)).all()
    assert [(row.first_trial, row.last_trial) for row in rows] == [
        (0, 200),
        (200, 400),
        (400, 600),
        (600, 750),
    ]
    assert {(row.queue_class, row.team) for row in rows} == {(int(QueueClass.NIGHTLY), "t")}


def test_trials_of_very_many_pairs_are_cut_finer(
    engine: Engine, settings: Settings, job: IngestResult, systems: list[Runs]
) -> None:
    hurried = settings.model_copy(update={"task_seconds": 1e-4})
    ask(engine, hurried, job, combinations(systems, 2), trials=3)
    with reading(engine) as connection:
        rows = connection.execute(select(Trials).order_by(Trials.id)).all()
    assert [(row.first_trial, row.last_trial) for row in rows] == [(0, 1), (1, 2), (2, 3)]


def test_without_a_score_there_is_no_test(
    engine: Engine, settings: Settings, job: IngestResult, systems: list[Runs]
) -> None:
    a, b, c, _ = systems
    with writing(engine) as connection:
        undefined = update(Score).where(Score.evaluation_id == a[1], Score.metric == 0)
        connection.execute(undefined.values(score=None))
    assert ask(engine, at_once(settings), job, [(a, b), (b, c)]) is None
    assert set(counts(engine)) == {(b[0], c[0], 0), (b[0], c[0], 1), (a[-1], b[0], 1)}
    assert ask(engine, settings, job, [(a, b)], metrics=[0]) is None


def test_what_cannot_be_compared_is_refused(
    engine: Engine, settings: Settings, job: IngestResult, systems: list[Runs]
) -> None:
    a, b, *_ = systems
    for trials, shown in ((0, "0"), (10_000_001, "10,000,001")):
        with pytest.raises(BadComparison, match=f"at least one trial and takes at most 10,000,000, not {shown}"):
            ask(engine, settings, job, [(a, b)], trials=trials)
    with pytest.raises(BadComparison, match="are not two systems"):
        ask(engine, settings, job, [(a, a[::-1])])
    with pytest.raises(BadComparison, match="are not two systems"):
        ask(engine, settings, job, [(a, ())])
    with pytest.raises(NotFound, match="has 2 metrics; there is no number 3"):
        ask(engine, settings, job, [(a, b)], metrics=[2])
    with pytest.raises(NotFound, match="has no evaluation 999"):
        ask(engine, settings, job, [(a, (999,))])
    other = queue_job(engine, settings, segments=20, systems=1, seed=9)
    with pytest.raises(NotFound, match=f"has no evaluation {other.all_evaluations[0]}"):
        ask(engine, settings, job, [(a, tuple(other.all_evaluations))])
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.id == b[0]).values(state="failed"))
    with pytest.raises(BadComparison, match=f"Evaluation {b[0]} is failed"):
        ask(engine, settings, job, [(a, b)])
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Comparison)) == 0


# From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_the_embedded_workers_make_what_is_missing(
    engine: Engine, settings: Settings, job: IngestResult, systems: list[Runs]
) -> None:
    engine.dispose()
    heard: list[ComparisonProgress] = []
    wanted = [
        PairTests(job.protocols[0], list(combinations(systems[1:], 2)), [0, 1], 3, TRIALS),
        PairTests(job.protocols[0], [(systems[0], systems[1])], [0], 4, TRIALS),
    ]
    randomize(settings, wanted, processes=2, on_progress=heard.append)
    assert heard[-1] == ComparisonProgress(running=0, done=2, failures=(), trials=1500, trials_done=1500)
    assert len(stored(engine)) == 7
    heard.clear()
    randomize(settings, wanted, processes=2, on_progress=heard.append)
    assert heard == []
    # What cannot be made says so, and what can is made.
    engine.dispose()
    with writing(engine) as connection:
        connection.execute(delete(Statistics).where(Statistics.evaluation_id == systems[0][0]))
    engine.dispose()
    others = [PairTests(job.protocols[0], [(each, systems[3])], [1], 4, TRIALS) for each in systems[:2]]
    with pytest.raises(ComparisonFailed, match=r"could not be compared. Trials .* \(tried 3 times\): Eval"):
        randomize(settings, others, processes=2)
    assert len(stored(engine)) == 8


def test_one_score_makes_a_test(engine: Engine, settings: Settings, job: IngestResult, systems: list[Runs]) -> None:
    """The difference is that of the scores on the leaderboard, to the bit."""
    from models.results.leaderboard import read_leaderboard

    ask(engine, at_once(settings), job, combinations(systems, 2))
    with reading(engine) as connection:
        rows = read_leaderboard(connection, job.protocols[0])
        last = {row.id: row.evaluation_id for row in connection.execute(select(SystemRuns))}
        scores = {(row.evaluations[-1], n): score.score for row in rows for n, score in enumerate(row.scores)}
        for row in connection.execute(select(Randomization)):
            a, b = scores[last[row.a_id], row.metric], scores[last[row.b_id], row.metric]
            assert a is not None
            assert b is not None
            assert row.difference == b - a
    assert len(stored(engine)) == 12
    assert np.isfinite([row[5] for row in stored(engine)]).all()


def test_trials_are_sent_after_the_shards_of_their_class_in_the_same_window(
    engine: Engine, settings: Settings, job: IngestResult, systems: list[Runs]
) -> None:
    ask(engine, settings, job, combinations(systems, 2))
    served = settings.model_copy(update={"broker_url": "redis://localhost/0"})
    ask(engine, served, job, combinations(systems, 2), trials=100)
    queue_job(engine, settings, segments=256 * 3, systems=1, metrics=["per"], seed=5)
    with writing(engine) as connection:
        connection.execute(insert(Worker).values(id="w", host="h", pid=1, version="1", concurrency=1))
    app = App()
    assert dispatch(engine, app, settings.model_copy(update={"smallest_window": 6})) == 6
    sent = [(name, queue) for name, _, queue in app.sent]
    interactive, campaign = queue_named("interactive"), queue_named("campaign")
    assert sent == [("randomize", interactive)] + [("score_shard", campaign)] * 3 + [("randomize", campaign)] * 2
    with reading(engine) as connection:
        states = list(connection.scalars(select(Trials.state).order_by(Trials.id)))
    assert states == ["enqueued", "enqueued", "pending", "pending", "enqueued"]


def test_what_the_command_waits_for_goes_before_what_others_left(
    engine: Engine, settings: Settings, job: IngestResult, systems: list[Runs]
) -> None:
    """Both ways round: what was put behind is not behind for ever."""
    left = ask(engine, settings, job, combinations(systems, 2), trials=600)
    wanted = ask(engine, settings, job, combinations(systems, 2), trials=800)
    assert left is not None
    assert wanted is not None
    with writing(engine) as connection:
        connection.execute(insert(Worker).values(id="w", host="h", pid=1, version="1", concurrency=1))
        prefer(connection, [wanted])
    app = App()
    dispatch(engine, app, settings.model_copy(update={"smallest_window": 5}))
    with reading(engine) as connection:
        comparison_of = {row.id: row.comparison_id for row in connection.execute(select(Trials))}
    sent = [comparison_of[key] for _, key, _ in app.sent]
    # The others have a small share, so that they go on.
    assert sent[0] == wanted
    assert sorted(sent) == sorted([wanted] * 4 + [left])
    with writing(engine) as connection:
        prefer(connection, [left])
        classes = connection.scalars(select(Trials.queue_class).where(Trials.state == LeaseState.PENDING))
        assert list(classes) == [QueueClass.CAMPAIGN] * 2
