"""What workers do between claim and completion: one function for each kind of task, named by its `run`.

Each takes the worker's context, the claim (or those of several tasks), and `preempt`, to be called between two pieces
of work so that more urgent work can run. It reads in its own transactions, computes outside of them, and stores only
what would be identical if another worker did the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from models.corpus.protocols import ProtocolContent, kept_protocol, read_protocol
from models.database.error_kinds import classify_error
from models.errors import MissingObject
from models.queue.evaluation_end import lock_evaluations
from models.queue.kinds.comparisons import ClaimedTrials
from models.queue.kinds.corpus_statistics import ClaimedCorpusCount
from models.queue.kinds.reductions import ClaimedReduction
from models.queue.kinds.shards import ClaimedShard, ScoredShard
from models.queue.task_kind import Outcome
from models.schema.base import BLOCK_SEGMENTS
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState
from models.storage.blobs import delete_object_rows, find_lost_objects, read_stored_objects
from steelyard.metrics.preparation.stopwatch import Stopwatch
from steelyard.metrics.resources import Resources
from worker.computing.corpus_statistics import counting_work, merging_work, read_corpus_statistics
from worker.computing.offload import offload_results
from worker.computing.randomization import count_trials
from worker.computing.reducer import reduce_evaluations
from worker.computing.scoring import (
    ShardTexts,
    cached_metric,
    read_shards,
    runs_of_shards,
    score_texts,
    shard_metrics,
    shard_timing,
)
from worker.context import WorkerContext
from worker.telemetry import HYPOTHESES, KERNEL_SECONDS, SHARD_SECONDS


def score(
    context: WorkerContext, claims: Sequence[ClaimedShard], preempt: Callable[[], None]
) -> list[Callable[[], Outcome[ScoredShard]]]:
    """Compute the statistics of shards: their texts are read together, and each is computed by itself."""
    if len(claims) == 1:
        return [partial(_score_one, context, claims[0], preempt)]
    try:
        read = context.read(lambda connection: read_needs(connection, claims, context.edition), snapshot=False)
    except Exception as error:
        if classify_error(error) is not None:
            raise
        # The fault of one of them: each reads its own.
        return [partial(_score_one, context, claim, preempt) for claim in claims]
    return [partial(_score, context, claim, *read[claim.key], preempt) for claim in claims]


def _score_one(context: WorkerContext, claim: ClaimedShard, preempt: Callable[[], None]) -> Outcome[ScoredShard]:
    # None of it changes once a shard waits for it.
    read = context.read(lambda connection: read_needs(connection, [claim], context.edition), snapshot=False)
    return _score(context, claim, *read[claim.key], preempt)


def read_needs(
    connection: Connection, claims: Sequence[ClaimedShard], edition: int
) -> dict[int, tuple[ProtocolContent, ShardTexts]]:
    """What each of the shards needs, by its id."""
    found = {}
    for run in runs_of_shards(claims):
        protocol = kept_protocol(connection, run[0].protocol_id)
        specifications = list(shard_metrics(run[0], protocol).values())
        states = read_corpus_statistics(connection, run[0].protocol_id, specifications, edition)
        for claim, texts in zip(run, read_shards(connection, run, protocol), strict=True):
            found[claim.key] = protocol, replace(texts, states=states)
    return found


def _score(
    context: WorkerContext,
    claim: ClaimedShard,
    protocol: ProtocolContent,
    texts: ShardTexts,
    preempt: Callable[[], None],
) -> Outcome[ScoredShard]:
    """Compute the statistics of a shard."""
    settings, watch = context.settings, Stopwatch()
    rows = score_texts(claim, protocol, texts, Resources(settings.resource_folder), watch, preempt)
    metrics = tuple(shard_metrics(claim, protocol).values())
    timing = shard_timing(watch, [cached_metric(each) for each in metrics])
    last = min(claim.last_block * BLOCK_SEGMENTS, protocol.segments)
    segments, systems = last - claim.first_block * BLOCK_SEGMENTS, len(claim.evaluations)

    def report(seconds: float) -> Mapping[str, object]:
        context.counters.observe(SHARD_SECONDS.name, seconds)
        context.counters.observe(KERNEL_SECONDS.name, timing.kernel_seconds)
        context.counters.count(HYPOTHESES.name, amount=segments * systems)
        sizes = {"segments": segments, "systems": systems, "metrics": metrics}
        return {"kernel_seconds": timing.kernel_seconds, **sizes}

    placed = offload_results(rows, settings.statistics_url, settings.statistics_bytes)
    return Outcome(ScoredShard(placed, timing), report)


def reduce(
    context: WorkerContext, claim: ClaimedReduction, _preempt: Callable[[], None]
) -> Outcome[list[dict[str, Any]]]:
    """Compute the scores of evaluations whose shards are all done."""

    def read(connection: Connection) -> list[dict[str, Any]]:
        protocol = read_protocol(connection, claim.protocol_id)
        return reduce_evaluations(connection, protocol, claim.evaluations)

    return Outcome(context.read(read))


def count_references(context: WorkerContext, claim: ClaimedCorpusCount, _preempt: Callable[[], None]) -> Outcome[bytes]:
    """Count in a part of the references, or merge the parts."""
    if claim.merges:
        return Outcome(context.read(lambda connection: merging_work(connection, claim))())
    resources = Resources(context.settings.resource_folder)
    return Outcome(context.read(lambda connection: counting_work(connection, claim, resources))())


def randomize(context: WorkerContext, claim: ClaimedTrials, _preempt: Callable[[], None]) -> Outcome[NDArray[np.int64]]:
    """Run trials of randomization tests."""
    return Outcome(
        context.with_retries(lambda: count_trials(context.engine, claim.plan, claim.first_trial, claim.last_trial))
    )


def delete_lost_objects(context: WorkerContext, claim: ClaimedReduction, error: Exception) -> None:
    """Delete failed evaluations' references to missing objects, so that a retry recomputes them.

    Retrying holds row locks and could not query a store for that long.
    """
    if not isinstance(error, MissingObject):
        return

    def read(connection: Connection) -> set[str]:
        failed = select(Evaluation.id).where(
            Evaluation.id.in_(claim.evaluations), Evaluation.state == EvaluationState.FAILED
        )
        return set().union(*read_stored_objects(connection, list(connection.scalars(failed))).values())

    lost = find_lost_objects(sorted(context.read(read)))

    def delete(connection: Connection) -> int:
        held = lock_evaluations(connection, claim.evaluations, [EvaluationState.FAILED])
        return delete_object_rows(connection, held, lost)

    if lost:
        context.write(delete, durable=True)
