"""Paired randomization tests: which are lacking, made at once where that is quick, else by the workers."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Engine, select

from metrics import parse_metric
from metrics.base import EDITION
from metrics.resampling.randomization import TRIALS
from models.corpus.protocols import ProtocolContent, read_protocol
from models.database.session import reading, writing
from models.errors import NotFound
from models.queue.kinds.comparisons import start_comparison
from models.results.randomizations import (
    Pair,
    RandomizationPlan,
    Runs,
    mean_scores,
    read_randomizations,
    store_randomizations,
)
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState, QueueClass
from runtime.settings import Settings
from scheduler.enqueue.partition import ShardLimits, partition_blocks
from scheduler.errors import BadComparison

log = logging.getLogger(__name__)

MOST_TRIALS = 10_000_000
"""Of a test: far beyond what a p-value can use, and few enough to be cut into tasks."""

CHUNK = 200
"""Tasks make a multiple of so many trials, since each begins every pair anew; fewer where these would take too long."""

SAFETY = 8
"""The estimate of the shortest task fits so many times into the time limit for tasks."""

SUM_SECONDS = 1e-10
"""To add one statistic of one segment in one trial."""

PAIR_SECONDS = 1e-6
"""To score one pair in one trial, by a metric whose formula is as long as BLEU's."""


def request_comparison(
    engine: Engine,
    settings: Settings,
    protocol_id: int,
    pairs: Sequence[tuple[Runs, Runs]],
    metrics: Sequence[int],
    *,
    trials: int = TRIALS,
    seed: int,
    queue_class: QueueClass | None = None,
    team: str = "",
    processes: int | None = None,
) -> int | None:
    """Queue the randomization tests of these pairs that are not stored yet; the comparison, None where all are stored.

    A side of a pair is a system: the evaluations of all its runs, all done (LeaderboardRow.evaluations); the order of
    sides and runs does not matter. `metrics` are positions in the protocol's list; where one of a pair has no score by
    a metric, there is no test. What takes less than `settings.at_once_seconds` is done here and now. Who asks again for
    what is under way gets the same comparison. Raises BadComparison, NotFound, MetricsError.
    """
    if not 1 <= trials <= MOST_TRIALS:
        raise BadComparison(f"A test needs at least one trial and takes at most {MOST_TRIALS:,}, not {trials:,}.")
    wanted = sorted({_ordered(pair) for pair in pairs})
    with reading(engine) as connection:
        measurement = read_protocol(connection, protocol_id)
        _check(connection, measurement, wanted, metrics)
        lacking = _lacking(connection, wanted, metrics, trials, seed)
    if not lacking:
        return None
    systems = sorted({runs for _, *sides in lacking for runs in sides})
    place = {runs: place for place, runs in enumerate(systems)}
    numbered = tuple(Pair(metric, place[a], place[b]) for metric, a, b in lacking)
    contest = RandomizationPlan(protocol_id, tuple(systems), numbered, trials, seed)
    seconds = _cost(measurement, contest)
    if seconds < settings.at_once_seconds:
        _make_now(engine, contest)
        return None
    if queue_class is None:
        # Somebody waits. But where each command has its own workers, what one that was killed has left must not hold up
        # the next: in one class, shards go before trials.
        queue_class = QueueClass.CAMPAIGN if settings.embedded else QueueClass.INTERACTIVE
    ranges = _ranges(seconds, trials, settings, processes)
    with writing(engine, durable=True) as connection:
        return start_comparison(connection, contest, ranges, queue_class=int(queue_class), team=team, edition=EDITION)


def _ordered(pair: tuple[Runs, Runs]) -> tuple[Runs, Runs]:
    a, b = sorted(tuple(sorted(runs)) for runs in pair)
    if not a or a == b:
        raise BadComparison(f"Evaluations {a} and {b} are not two systems that could be compared.")
    return a, b


def _check(
    connection: Connection, measurement: ProtocolContent, pairs: Iterable[tuple[Runs, Runs]], metrics: Iterable[int]
) -> None:
    for metric in metrics:
        if not 0 <= metric < len(measurement.metrics):
            raise NotFound(
                f"Protocol {measurement.protocol_id} has {len(measurement.metrics)} metrics; "
                f"there is no number {metric + 1}."
            )
    wanted = {evaluation for pair in pairs for runs in pair for evaluation in runs}
    rows = connection.execute(
        select(Evaluation.id, Evaluation.state).where(
            Evaluation.id.in_(wanted), Evaluation.protocol_id == measurement.protocol_id
        )
    )
    states = {row.id: row.state for row in rows}
    for evaluation in sorted(wanted):
        state = states.get(evaluation)
        if state is None:
            raise NotFound(f"Protocol {measurement.protocol_id} has no evaluation {evaluation}.")
        if state != EvaluationState.DONE:
            raise BadComparison(f"Evaluation {evaluation} is {state}. Only what is done can be compared.")


def _lacking(
    connection: Connection, pairs: Sequence[tuple[Runs, Runs]], metrics: Iterable[int], trials: int, seed: int
) -> list[tuple[int, Runs, Runs]]:
    """The tests that could be made and are not stored: (metric, a, b)."""
    systems = sorted({runs for pair in pairs for runs in pair})
    lacking = []
    for metric in sorted(set(metrics)):
        stored = read_randomizations(connection, systems, metric, trials=trials, seed=seed)
        scores = mean_scores(connection, systems, metric)
        lacking += [(metric, a, b) for a, b in pairs if a in scores and b in scores and (a, b) not in stored]
    return lacking


def _cost(measurement: ProtocolContent, contest: RandomizationPlan) -> float:
    """Estimated seconds."""
    seconds = 0.0
    for position in {pair.metric for pair in contest.pairs}:
        pairs = [pair for pair in contest.pairs if pair.metric == position]
        runs = sum(len(contest.systems[system]) for system in {each for pair in pairs for each in (pair.a, pair.b)})
        columns = len(parse_metric(measurement.metrics[position]).columns)
        # Every run of a system changes places with every run of the other one.
        ways = sum(len(contest.systems[pair.a]) * len(contest.systems[pair.b]) for pair in pairs)
        seconds += runs * measurement.segments * columns * SUM_SECONDS + ways * PAIR_SECONDS
    return seconds * contest.trials


def _ranges(seconds: float, trials: int, settings: Settings, processes: int | None) -> list[tuple[int, int]]:
    """Runs of trials, one for each task, cut as shards are."""
    sizes = ShardLimits(
        processes=processes or settings.processes,
        shard_seconds=settings.shard_seconds,
        shortest_seconds=settings.shortest_shard_seconds,
        largest_bytes=settings.largest_shard_bytes,
    )
    chunk = max(1, min(CHUNK, int(trials * settings.task_seconds / (SAFETY * seconds))))
    chunks = -(-trials // chunk)
    parts = partition_blocks([seconds / chunks] * chunks, 0, [0] * chunks, 0, sizes)
    return [(part.first_block * chunk, min(part.last_block * chunk, trials)) for part in parts]


def _make_now(engine: Engine, contest: RandomizationPlan) -> None:
    from worker.computing.randomization import count_trials

    counts = count_trials(engine, contest, 0, contest.trials)
    with writing(engine, durable=True) as connection:
        gone = store_randomizations(connection, contest, counts)
    if gone is not None:
        raise NotFound(f"Evaluation {gone} was deleted or queued anew while its system was compared with others.")
