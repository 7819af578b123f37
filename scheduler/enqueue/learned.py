"""Enqueues the learned metrics of evaluations: columns that fill in while the others are shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select

from models.corpus.protocols import ProtocolContent, read_protocol
from models.database.upsert import upsert
from models.queue.kinds.shards import ShardRow, store_results
from models.queue.missing_blocks import MissingBlocks
from models.schema.base import BLOCK_SEGMENTS
from models.schema.corpus import Submission, TextBlock
from models.schema.learned import LearnedColumn, LearnedShard, LearnedShardEvaluation
from models.schema.queue import Evaluation
from models.schema.results import ReplicatePart, Score, Statistics
from models.schema.states import ColumnState
from models.storage.arrays import pack
from runtime.settings import Settings
from steelyard.metrics.content_scores import ContentMetric
from steelyard.metrics.metric import EDITION, Metric
from steelyard.metrics.registry import parse_metric
from worker.computing.signature import stored_signature

MOST_EVALUATIONS = 100
"""Of one shard, so that one that fails is tried again with few."""

BYTES_OF_A_TOKEN = 4.0
"""About as many bytes of UTF-8 make a subword, in most scripts: those with fewer letters in a subword have more bytes
in a letter."""


@dataclass(frozen=True, slots=True)
class Urgency:
    """Class, team and due time of tasks."""

    queue_class: int
    team: str
    due_at: float | None


def learned_metrics(protocol: ProtocolContent) -> dict[int, Metric]:
    """The protocol's learned metrics by position."""
    metrics = {position: parse_metric(specification) for position, specification in enumerate(protocol.metrics)}
    return {position: metric for position, metric in metrics.items() if metric.learned}


def enqueue_learned(
    connection: Connection,
    settings: Settings,
    protocol: ProtocolContent,
    missing: Mapping[int, MissingBlocks],
    texts: Mapping[int, int],
    urgency: Urgency,
) -> dict[int, MissingBlocks]:
    """Enqueue the learned metrics among what evaluations lack; what they lack beside them.

    Columns that had failed, or were cancelled with their evaluation, start again. What models and programs have said
    of the same texts before is stored by content, and is not asked again.
    """
    learned = learned_metrics(protocol)
    if not learned or not missing:
        return dict(missing)
    to_start = {
        evaluation: {position for metrics in gaps.values() for position in metrics} & learned.keys()
        for evaluation, gaps in missing.items()
    }
    failed = connection.execute(
        select(LearnedColumn.evaluation_id, LearnedColumn.metric).where(
            LearnedColumn.evaluation_id.in_(list(missing)), LearnedColumn.state == ColumnState.FAILED
        )
    )
    for row in failed:
        to_start[row.evaluation_id].add(row.metric)
    by_metric = defaultdict(list)
    for evaluation, positions in to_start.items():
        for position in positions:
            by_metric[position].append(evaluation)
    for position, evaluations in sorted(by_metric.items()):
        start_columns(connection, settings, protocol, position, sorted(evaluations), texts, urgency)
    return {
        evaluation: {
            ranges: rest for ranges, metrics in gaps.items() if (rest := tuple(m for m in metrics if m not in learned))
        }
        for evaluation, gaps in missing.items()
    }


def start_columns(
    connection: Connection,
    settings: Settings,
    protocol: ProtocolContent,
    position: int,
    evaluations: Sequence[int],
    texts: Mapping[int, int],
    urgency: Urgency,
) -> None:
    """Make a metric's column of each evaluation wait for new shards, undefined until all of them are done."""
    metric = parse_metric(protocol.metrics[position])
    _detach(connection, position, evaluations)
    ranges = _ranges(connection, settings, protocol, [texts[evaluation] for evaluation in evaluations], metric)
    columns = [
        {
            "evaluation_id": evaluation,
            "metric": position,
            "state": ColumnState.WAITING,
            "remaining": len(ranges),
            "reason": None,
            "finished_at": None,
        }
        for evaluation in evaluations
    ]
    upsert(connection, LearnedColumn, columns, ["state", "remaining", "reason", "finished_at"])
    scores = [_undefined(protocol, position, metric, evaluation) for evaluation in evaluations]
    upsert(connection, Score, scores, [name for name in scores[0] if name not in ("evaluation_id", "metric")])
    shards = []
    for first, last in ranges:
        segments = min(last * BLOCK_SEGMENTS, protocol.segments) - first * BLOCK_SEGMENTS
        undefined = pack(np.zeros((segments, len(metric.columns))))
        rows = [ShardRow(each, position, undefined, None) for each in evaluations]
        store_results(connection, [((first, last), rows)])
        for begin in range(0, len(evaluations), MOST_EVALUATIONS):
            some = evaluations[begin : begin + MOST_EVALUATIONS]
            row = {
                "queue_class": urgency.queue_class,
                "team": urgency.team,
                "due_at": urgency.due_at,
                "edition": EDITION,
                "protocol_id": protocol.protocol_id,
                "metric": position,
                "specification": protocol.metrics[position],
                "first_block": first,
                "last_block": last,
                "segments": segments * len({texts[each] for each in some}),
            }
            shards.append((row, some))
    keys = connection.scalars(
        insert(LearnedShard).returning(LearnedShard.id, sort_by_parameter_order=True), [row for row, _ in shards]
    ).all()
    members = [
        {"learned_shard_id": key, "evaluation_id": evaluation}
        for key, (_, some) in zip(keys, shards, strict=True)
        for evaluation in some
    ]
    connection.execute(insert(LearnedShardEvaluation), members)


def retry_columns(connection: Connection, settings: Settings, evaluations: Sequence[int]) -> list[int]:
    """Start the failed columns of finished evaluations again, with their previous priority; which had any.

    Requires the evaluations' locks.
    """
    rows = connection.execute(
        select(
            *(Evaluation.protocol_id, LearnedColumn.metric, Evaluation.queue_class, Evaluation.team),
            *(Evaluation.due_at, Evaluation.id, Submission.text_id),
        )
        .join(LearnedColumn, LearnedColumn.evaluation_id == Evaluation.id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Evaluation.id.in_(evaluations), LearnedColumn.state == ColumnState.FAILED)
    ).all()
    alike: defaultdict[tuple[int, int, Urgency], dict[int, int]] = defaultdict(dict)
    for protocol_id, metric, queue_class, team, due_at, evaluation, text in rows:
        alike[protocol_id, metric, Urgency(queue_class, team, due_at)][evaluation] = text
    for (protocol_id, metric, urgency), texts in alike.items():
        protocol = read_protocol(connection, protocol_id)
        start_columns(connection, settings, protocol, metric, sorted(texts), texts, urgency)
    return sorted({row.id for row in rows})


def _detach(connection: Connection, position: int, evaluations: Sequence[int]) -> None:
    """Take a column away from shards of an earlier try, and delete what they made."""
    earlier = select(LearnedShard.id).where(LearnedShard.metric == position)
    connection.execute(
        delete(LearnedShardEvaluation).where(
            LearnedShardEvaluation.evaluation_id.in_(evaluations),
            LearnedShardEvaluation.learned_shard_id.in_(earlier),
        )
    )
    for table in (Statistics, ReplicatePart):
        connection.execute(delete(table).where(table.evaluation_id.in_(evaluations), table.metric == position))


def _ranges(
    connection: Connection, settings: Settings, protocol: ProtocolContent, texts: Sequence[int], metric: Metric
) -> list[tuple[int, int]]:
    """Ranges of blocks of at most `settings.learned_shard_tokens`, where each different text is read once.

    Only workers have the model's tokenizer; here tokens are estimated from bytes (`BYTES_OF_A_TOKEN`).
    """
    blocks = -(-protocol.segments // BLOCK_SEGMENTS)
    read = set(texts)
    if "reference" in metric.inputs:
        read |= set(protocol.reference_texts)
    if "source" in metric.inputs and protocol.source_text is not None:
        read.add(protocol.source_text)
    lengths = connection.execute(
        select(TextBlock.block, func.sum(func.length(TextBlock.content)).label("bytes"))
        .where(TextBlock.text_id.in_(read))
        .group_by(TextBlock.block)
    )
    bytes_of = {row.block: int(row.bytes) for row in lengths}
    extra = metric.extra_tokens * len(set(texts)) if isinstance(metric, ContentMetric) else 0
    ranges: list[tuple[int, int]] = []
    first, held = 0, 0.0
    for block in range(blocks):
        segments = min(BLOCK_SEGMENTS, protocol.segments - block * BLOCK_SEGMENTS)
        tokens = bytes_of.get(block, 0) / BYTES_OF_A_TOKEN + segments * extra
        if block > first and held + tokens > settings.learned_shard_tokens:
            ranges.append((first, block))
            first, held = block, 0.0
        held += tokens
    return [*ranges, (first, blocks)]


def _undefined(protocol: ProtocolContent, position: int, metric: Metric, evaluation: int) -> dict[str, Any]:
    """The score of a column that waits."""
    return {
        "evaluation_id": evaluation,
        "metric": position,
        "specification": protocol.metrics[position],
        "title": metric.title,
        "signature": stored_signature(metric, protocol),
        "higher_is_better": metric.higher_is_better,
        "scale": metric.scale,
        "columns": list(metric.columns),
        "sums": pack(np.zeros((1, len(metric.columns)))),
        "score": None,
        "details": {},
        "replicate_scores": pack(np.full((protocol.replicates, 1), np.nan)),
    }
