"""Paired randomization tests: missing ones are computed at once if that is quick, otherwise enqueued."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Engine, select

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
from steelyard.metrics.metric import EDITION
from steelyard.metrics.registry import parse_metric
from steelyard.resampling.randomization import TRIALS

log = logging.getLogger(__name__)

MAX_TRIALS = 10_000_000
"""Maximum of a test: far more than a p-value needs, and few enough to be partitioned."""

CHUNK = 200
"""Trials per task are a multiple of this, since each task has a fixed cost per pair; fewer if that takes too long."""

SAFETY = 8
"""The estimated time of the shortest task fits this many times into the time limit for tasks."""

SUM_SECONDS = 1e-10
"""Seconds to add one statistic of one segment in one trial."""

PAIR_SECONDS = 1e-6
"""Seconds to score one pair in one trial, by a metric with a formula as long as BLEU's."""


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
    """Enqueue the randomization tests of these pairs that are not stored yet; the comparison, None if all are stored.

    Work of less than `settings.at_once_seconds` is done immediately. A repeated request for running tests returns the
    same comparison.

    Parameters
    ----------
    pairs : Sequence[tuple[Runs, Runs]]
        Each side is a system: the evaluations of all its runs, all done (LeaderboardRow.evaluations). The order of
        sides and runs does not matter.
    metrics : Sequence[int]
        Positions in the protocol's list; pairs without a score by a metric are skipped.

    Raises
    ------
    BadComparison, NotFound, MetricsError
        If the systems cannot be compared.
    """
    if not 1 <= trials <= MAX_TRIALS:
        raise BadComparison(f"A test needs at least one trial and takes at most {MAX_TRIALS:,}, not {trials:,}.")
    wanted = sorted({_ordered(pair) for pair in pairs})
    with reading(engine) as connection:
        protocol = read_protocol(connection, protocol_id)
        _check(connection, protocol, wanted, metrics)
        missing = _missing_pairs(connection, wanted, metrics, trials, seed)
    if not missing:
        return None
    systems = sorted({runs for _, *sides in missing for runs in sides})
    place = {runs: place for place, runs in enumerate(systems)}
    numbered = tuple(Pair(metric, place[a], place[b]) for metric, a, b in missing)
    plan = RandomizationPlan(protocol_id, tuple(systems), numbered, trials, seed)
    seconds = _cost(protocol, plan)
    if seconds < settings.at_once_seconds:
        _run_now(engine, plan)
        return None
    if queue_class is None:
        # Somebody is waiting. But with embedded workers, leftovers of a killed command must not delay the next command:
        # within a class, shards precede trials.
        queue_class = QueueClass.CAMPAIGN if settings.embedded else QueueClass.INTERACTIVE
    ranges = _ranges(seconds, trials, settings, processes)
    with writing(engine, durable=True) as connection:
        return start_comparison(connection, plan, ranges, queue_class=int(queue_class), team=team, edition=EDITION)


def _ordered(pair: tuple[Runs, Runs]) -> tuple[Runs, Runs]:
    a, b = sorted(tuple(sorted(runs)) for runs in pair)
    if not a or a == b:
        raise BadComparison(f"Evaluations {a} and {b} are not two systems that could be compared.")
    return a, b


def _check(
    connection: Connection, protocol: ProtocolContent, pairs: Iterable[tuple[Runs, Runs]], metrics: Iterable[int]
) -> None:
    for metric in metrics:
        if not 0 <= metric < len(protocol.metrics):
            raise NotFound(
                f"Protocol {protocol.protocol_id} has {len(protocol.metrics)} metrics; there is no number {metric + 1}."
            )
    wanted = {evaluation for pair in pairs for runs in pair for evaluation in runs}
    rows = connection.execute(
        select(Evaluation.id, Evaluation.state).where(
            Evaluation.id.in_(wanted), Evaluation.protocol_id == protocol.protocol_id
        )
    )
    states = {row.id: row.state for row in rows}
    for evaluation in sorted(wanted):
        state = states.get(evaluation)
        if state is None:
            raise NotFound(f"Protocol {protocol.protocol_id} has no evaluation {evaluation}.")
        if state != EvaluationState.DONE:
            raise BadComparison(f"Evaluation {evaluation} is {state}. Only finished evaluations can be compared.")


def _missing_pairs(
    connection: Connection, pairs: Sequence[tuple[Runs, Runs]], metrics: Iterable[int], trials: int, seed: int
) -> list[tuple[int, Runs, Runs]]:
    """The tests that are possible and not stored: (metric, a, b)."""
    systems = sorted({runs for pair in pairs for runs in pair})
    missing = []
    for metric in sorted(set(metrics)):
        stored = read_randomizations(connection, systems, metric, trials=trials, seed=seed)
        scores = mean_scores(connection, systems, metric)
        missing += [(metric, a, b) for a, b in pairs if a in scores and b in scores and (a, b) not in stored]
    return missing


def _cost(protocol: ProtocolContent, plan: RandomizationPlan) -> float:
    """Estimated seconds."""
    seconds = 0.0
    for position in {pair.metric for pair in plan.pairs}:
        pairs = [pair for pair in plan.pairs if pair.metric == position]
        runs = sum(len(plan.systems[system]) for system in {each for pair in pairs for each in (pair.a, pair.b)})
        columns = len(parse_metric(protocol.metrics[position]).columns)
        # Every run of a system is exchanged with every run of the other.
        ways = sum(len(plan.systems[pair.a]) * len(plan.systems[pair.b]) for pair in pairs)
        seconds += runs * protocol.segments * columns * SUM_SECONDS + ways * PAIR_SECONDS
    return seconds * plan.trials


def _ranges(seconds: float, trials: int, settings: Settings, processes: int | None) -> list[tuple[int, int]]:
    """Ranges of trials, one for each task, partitioned like shards."""
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


def _run_now(engine: Engine, plan: RandomizationPlan) -> None:
    from worker.computing.randomization import count_trials

    counts = count_trials(engine, plan, 0, plan.trials)
    with writing(engine, durable=True) as connection:
        gone = store_randomizations(connection, plan, counts)
    if gone is not None:
        raise NotFound(f"Evaluation {gone} was deleted or recomputed during the comparison.")
