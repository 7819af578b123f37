"""Learned shards: from the texts of some blocks to statistics, by a model or a program that is kept between shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection

from models.corpus.protocols import ProtocolContent, read_protocol
from models.queue.kinds.learned_shards import ClaimedLearnedShard, ScoredColumns
from models.queue.kinds.shards import ShardRow
from models.queue.task_kind import Outcome
from models.schema.base import BLOCK_SEGMENTS
from models.storage.arrays import pack
from steelyard.metrics.corpus_statistics import CorpusStatistics
from steelyard.metrics.needed_statistics import needed_statistics
from steelyard.metrics.resources import Resources
from steelyard.metrics.segments import Segments
from worker.computing.offload import offload_results
from worker.computing.reducer import reduce_columns
from worker.computing.scoring import cached_metric, read_texts
from worker.context import WorkerContext
from worker.learned.store import StoredScores

MOST_COUNTED = 8
_counted: dict[tuple[str, str], Any] = {}
"""What was counted in references last: by their hash and the key of the statistics."""


def score_learned(
    context: WorkerContext, claim: ClaimedLearnedShard, _preempt: Callable[[], None]
) -> Outcome[ScoredColumns]:
    """Score a shard, or make the scores of columns whose shards are all done."""
    if claim.reduces:
        columns = [(evaluation, claim.metric) for evaluation in claim.evaluations]

        def reduce(connection: Connection) -> ScoredColumns:
            protocol = read_protocol(connection, claim.protocol_id)
            return ScoredColumns(scores=reduce_columns(connection, protocol, columns))

        return Outcome(context.read(reduce))
    metric = cached_metric(claim.specification)

    declared = needed_statistics([metric])

    def read(connection: Connection) -> tuple[ProtocolContent, list[bytes], list[bytes], bytes | None]:
        protocol = read_protocol(connection, claim.protocol_id)
        whole = []
        if declared:
            whole = read_texts(connection, protocol.reference_texts, 0, -(-protocol.segments // BLOCK_SEGMENTS))
        blocks = claim.first_block, claim.last_block
        texts = read_texts(connection, (*protocol.reference_texts, *claim.texts), *blocks)
        if protocol.source_text is None or "source" not in metric.inputs:
            return protocol, whole, texts, None
        (source,) = read_texts(connection, [protocol.source_text], *blocks)
        return protocol, whole, texts, source

    protocol, whole, texts, source = context.read(read)
    resources = Resources(context.settings.resource_folder)
    references = len(protocol.reference_texts)
    segments = Segments(
        references=texts[:references],
        hypotheses=texts[references:],
        source=source,
        variable_references=protocol.variable_references,
        resources=resources,
        states=_states(declared, whole, protocol.variable_references, resources),
    )
    segments.score_store = store = StoredScores(context, claim)
    with store.held():
        statistics = metric.segment_statistics(segments)
    rows = [
        ShardRow(evaluation, claim.metric, pack(system), None)
        for evaluation, system in zip(claim.evaluations, statistics, strict=True)
    ]
    placed = offload_results(rows, context.settings.statistics_url, context.settings.statistics_bytes)

    def report(_seconds: float) -> Mapping[str, object]:
        return {"contents": store.contents, "computed": store.computed}

    return Outcome(ScoredColumns(rows=placed, contents=store.contents, computed=store.computed), report)


def _states(
    declared: Mapping[str, CorpusStatistics], references: list[bytes], variable_references: bool, resources: Resources
) -> dict[str, Any]:
    """What a metric needs to have counted in all references of the test set.

    It is counted here, since other workers may have neither model nor tokenizer, and kept for the other shards.
    """
    if not declared:
        return {}
    of_texts = sha256(b"%d" % variable_references)
    for each in references:
        of_texts.update(sha256(each).digest())
    texts, found = of_texts.hexdigest(), {}
    for key, statistics in declared.items():
        if (texts, key) not in _counted:
            whole = Segments(
                references=references, hypotheses=(), variable_references=variable_references, resources=resources
            )
            while len(_counted) >= MOST_COUNTED:
                del _counted[next(iter(_counted))]
            _counted[texts, key] = statistics.state_of(whole)
        found[key] = _counted[texts, key]
    return found
