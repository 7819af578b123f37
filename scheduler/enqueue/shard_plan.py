"""Plans shards for the missing blocks of evaluations."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, select

from models.corpus.protocols import ProtocolContent
from models.queue.missing_blocks import MissingBlocks, Ranges
from models.schema.base import BLOCK_SEGMENTS
from models.schema.corpus import TextBlock
from runtime.settings import Settings
from scheduler.enqueue.cost_model import metric_costs
from scheduler.enqueue.partition import BlockRange, ShardLimits, block_units, group_systems, partition_blocks
from steelyard.metrics.registry import parse_metric

LONG_SEGMENT = 4096
"""Bytes from which on a segment is costed individually: some metrics are quadratic or worse."""
LONG_BLOCK = 1 << 16
"""Bytes of a block that may hold such a segment and is searched: twice the usual size."""


@dataclass(frozen=True, slots=True)
class PlannedShard:
    """A shard to be inserted."""

    part: BlockRange
    units: float
    """Its work (`scheduler.enqueue.partition.block_units`); 0 with long segments."""
    evaluations: Sequence[int]
    metrics: Sequence[int] | None
    """As `Shard.metrics`."""


def plan_missing(
    connection: Connection,
    settings: Settings,
    protocol: ProtocolContent,
    missing: Mapping[int, MissingBlocks],
    texts: Mapping[int, int],
    processes: int | None,
) -> list[PlannedShard]:
    """The shards for the missing blocks of evaluations; `texts` has the text of each, `processes` share the work."""
    sizes = ShardLimits(
        processes=processes or settings.processes,
        shard_seconds=settings.shard_seconds,
        shortest_seconds=settings.shortest_shard_seconds,
        largest_bytes=settings.largest_shard_bytes,
    )
    alike: dict[tuple[Ranges, tuple[int, ...]], dict[int, list[int]]] = {}
    for evaluation, gaps in missing.items():
        for ranges, metrics in gaps.items():
            alike.setdefault((ranges, metrics), {}).setdefault(texts[evaluation], []).append(evaluation)
    plan: list[PlannedShard] = []
    for (ranges, metrics), by_text in alike.items():
        selected_protocol = replace(protocol, metrics=tuple(protocol.metrics[metric] for metric in metrics))
        # A text that was submitted twice is scored once: its evaluations share their shards.
        members = {evaluations[0]: evaluations for evaluations in by_text.values()}
        first_of = {evaluations[0]: text for text, evaluations in by_text.items()}
        for part, units, chosen in _plan(connection, selected_protocol, ranges, first_of, sizes):
            together = sorted(evaluation for each in chosen for evaluation in members[each])
            only = list(metrics) if selected_protocol.metrics != protocol.metrics else None
            plan.append(PlannedShard(part, units, together, only))
    return plan


def _plan(
    connection: Connection, protocol: ProtocolContent, ranges: Ranges, texts: dict[int, int], sizes: ShardLimits
) -> list[tuple[BlockRange, float, list[int]]]:
    """Shards for these blocks of all these evaluations (evaluation -> text), as (part, units, evaluations)."""
    costs = metric_costs(connection, protocol.metrics)
    seconds = sum(costs) * 1e-6
    long_of = _long_segments(connection, set(texts.values()), dict(zip(protocol.metrics, costs, strict=True)))
    lengths = connection.execute(
        select(TextBlock.block, func.sum(func.length(TextBlock.content)).label("bytes"))
        .where(TextBlock.text_id.in_(set(texts.values())))
        .group_by(TextBlock.block)
    )
    bytes_of = {row.block: int(row.bytes) for row in lengths}
    end = max(bytes_of) + 1
    segments = [BLOCK_SEGMENTS] * (end - 1) + [protocol.segments - (end - 1) * BLOCK_SEGMENTS]
    references = len(protocol.reference_texts)

    def units(systems: int) -> list[float]:
        """The work in each block for this many of the systems."""
        share = systems / len(texts)
        return [block_units(segments[each], systems, round(bytes_of[each] * share), references) for each in range(end)]

    def work_of(some: Sequence[int]) -> list[float]:
        """The seconds that each block takes for these evaluations: typical segments, plus long ones."""
        return [
            each * seconds + math.fsum(long_of.get((texts[evaluation], block), 0.0) for evaluation in some)
            for block, each in enumerate(units(len(some)))
        ]

    groups = group_systems(len(texts), max(work_of(list(texts))), max(segments), sizes)
    plan: list[tuple[BlockRange, float, list[int]]] = []
    evaluations, begin = list(texts), 0
    for systems in groups:
        chosen = evaluations[begin : begin + systems]
        begin += systems
        work, typical = work_of(chosen), units(systems)
        # Long segments are atypical: no cost is learned from them.
        odd = {block for evaluation in chosen for text, block in long_of if text == texts[evaluation]}
        for first, last in ranges:
            for part in partition_blocks(work[first:last], first, segments[first:last], systems, sizes):
                blocks = range(part.first_block, part.last_block)
                learned = 0.0 if odd.intersection(blocks) else math.fsum(typical[block] for block in blocks)
                plan.append((part, learned, chosen))
    return plan


def _long_segments(
    connection: Connection, texts: Collection[int], costs: Mapping[str, float]
) -> dict[tuple[int, int], float]:
    """Estimated seconds for the long segments of each text and block, by the metrics' exponents."""
    metrics = [(parse_metric(specification), cost) for specification, cost in costs.items()]
    rows = connection.execute(
        select(TextBlock.text_id, TextBlock.block, TextBlock.content).where(
            TextBlock.text_id.in_(texts), func.length(TextBlock.content) > LONG_BLOCK
        ),
        execution_options={"yield_per": 16},
    )
    found: dict[tuple[int, int], float] = {}
    for row in rows:
        lengths = [length for length in map(len, row.content.split(b"\n")) if length > LONG_SEGMENT]
        if lengths:
            found[row.text_id, row.block] = math.fsum(
                metric.seconds(length, cost) for length in lengths for metric, cost in metrics
            )
    return found
