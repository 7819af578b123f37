"""What workers do between the claim of a task and its completion: one function for each kind, named by its `run`.

Each takes the worker's context, the claim, and what it is to call between two pieces of its work, so that it gives way
to more urgent work. It reads in transactions of its own, computes outside of them, and stores nothing that would not be
the same if somebody else did it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from metrics.resources import Resources
from metrics.stopwatch import Stopwatch
from models.corpus.protocols import ProtocolContent, read_protocol
from models.queue.kinds.comparisons import ClaimedTrials
from models.queue.kinds.corpus_statistics import ClaimedPreparation
from models.queue.kinds.reductions import ClaimedReduction
from models.queue.kinds.shards import ClaimedShard, ScoredShard
from models.queue.state_chunks import store_chunk
from models.queue.task_kind import Outcome
from models.schema.base import BLOCK_SEGMENTS
from worker.computing.corpus_statistics import counting_work, merging_work, read_states
from worker.computing.offload import offload_results
from worker.computing.randomization import count_trials
from worker.computing.reducer import reduce_evaluations
from worker.computing.scoring import ShardTexts, cached_metric, read_shard, score_texts, shard_metrics, shard_timing
from worker.context import WorkerContext
from worker.counters import HYPOTHESES, KERNEL_SECONDS, SHARD_SECONDS


def score(context: WorkerContext, claim: ClaimedShard, give_way: Callable[[], None]) -> Outcome[ScoredShard]:
    """The statistics of a shard."""

    def read(connection: Connection) -> tuple[ProtocolContent, ShardTexts]:
        measurement = read_protocol(connection, claim.protocol_id)
        specifications = list(shard_metrics(claim, measurement).values())
        blocks = claim.first_block, claim.last_block
        states = read_states(connection, claim.protocol_id, specifications, blocks, context.edition)
        return measurement, replace(read_shard(connection, claim, measurement), states=states)

    measurement, texts = context.read(read)
    settings, watch = context.settings, Stopwatch()
    rows = score_texts(claim, measurement, texts, Resources(settings.resource_folder), watch, give_way)
    metrics = tuple(shard_metrics(claim, measurement).values())
    timing = shard_timing(watch, [cached_metric(each) for each in metrics])
    last = min(claim.last_block * BLOCK_SEGMENTS, measurement.segments)
    segments, systems = last - claim.first_block * BLOCK_SEGMENTS, len(claim.evaluations)

    def report(seconds: float) -> Mapping[str, object]:
        context.tally.observe(SHARD_SECONDS.name, seconds)
        context.tally.observe(KERNEL_SECONDS.name, timing.kernel_seconds)
        context.tally.count(HYPOTHESES.name, amount=segments * systems)
        sizes = {"segments": segments, "systems": systems, "metrics": metrics}
        return {"kernel_seconds": timing.kernel_seconds, **sizes}

    placed = offload_results(rows, settings.statistics_url, settings.statistics_bytes)
    return Outcome(ScoredShard(placed, timing), report)


def reduce(
    context: WorkerContext, claim: ClaimedReduction, _give_way: Callable[[], None]
) -> Outcome[list[dict[str, Any]]]:
    """The scores of evaluations whose shards are all done."""

    def read(connection: Connection) -> list[dict[str, Any]]:
        measurement = read_protocol(connection, claim.protocol_id)
        return reduce_evaluations(connection, measurement, claim.evaluations)

    return Outcome(context.read(read))


def count_references(
    context: WorkerContext, claim: ClaimedPreparation, _give_way: Callable[[], None]
) -> Outcome[bytes]:
    """What is counted in a part of the references, or the state into which the parts are merged."""
    if claim.merges:
        return Outcome(_merge(context, claim))
    resources = Resources(context.settings.resource_folder)
    return Outcome(context.read(lambda connection: counting_work(connection, claim, resources))())


def randomize(
    context: WorkerContext, claim: ClaimedTrials, _give_way: Callable[[], None]
) -> Outcome[NDArray[np.int64]]:
    """How many of some trials were as large."""
    return Outcome(
        context.with_retries(lambda: count_trials(context.engine, claim.contest, claim.first_trial, claim.last_trial))
    )


def _merge(context: WorkerContext, claim: ClaimedPreparation) -> bytes:
    """The state; empty where it is in chapters, which are stored here."""
    state = context.read(lambda connection: merging_work(connection, claim))()
    if len(state.runs) == 1:
        return state.chapters.whole(0)
    # Each in a transaction of its own: all of them would keep others waiting for seconds.
    for chapter, (first_block, last_block) in enumerate(state.runs):
        store = partial(
            store_chunk,
            claim=claim,
            first_block=first_block,
            last_block=last_block,
            blob=state.chapters.whole(chapter),
        )
        if not context.write(store):
            # Somebody else merges by now, and the completion will say so.
            break
    return b""
