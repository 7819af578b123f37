"""Which shards to make of what evaluations lack."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, select

from models.base import BLOCK_SEGMENTS
from models.lacking import Lacking, Ranges
from models.protocol import Measurement
from models.text import TextBlock
from scheduler.costs import metric_costs
from scheduler.shards import Part, Sizes, block_units, cut, group_systems
from worker.settings import Settings


@dataclass(frozen=True, slots=True)
class Planned:
    """A shard to be inserted."""

    part: Part
    units: float
    """The work in it (`scheduler.shards.block_units`)."""
    evaluations: Sequence[int]
    metrics: Sequence[int] | None
    """As `Shard.metrics`."""


def plan_missing(
    connection: Connection,
    settings: Settings,
    measurement: Measurement,
    missing: Mapping[int, Lacking],
    texts: Mapping[int, int],
    processes: int | None,
) -> list[Planned]:
    """The shards for what evaluations lack; `texts` has the text of each, `processes` share the work."""
    sizes = Sizes(
        processes=processes or settings.processes,
        shard_seconds=settings.shard_seconds,
        shortest_seconds=settings.shortest_shard_seconds,
        largest_bytes=settings.largest_shard_bytes,
    )
    alike: dict[tuple[Ranges, tuple[int, ...]], dict[int, list[int]]] = {}
    for evaluation, lacking in missing.items():
        for ranges, metrics in lacking.items():
            alike.setdefault((ranges, metrics), {}).setdefault(texts[evaluation], []).append(evaluation)
    plan: list[Planned] = []
    for (ranges, metrics), by_text in alike.items():
        its = replace(measurement, metrics=tuple(measurement.metrics[metric] for metric in metrics))
        # A text that was submitted twice is scored once: its evaluations share their shards.
        members = {evaluations[0]: evaluations for evaluations in by_text.values()}
        first_of = {evaluations[0]: text for text, evaluations in by_text.items()}
        for part, units, chosen in _plan(connection, its, ranges, first_of, sizes):
            together = sorted(evaluation for each in chosen for evaluation in members[each])
            only = list(metrics) if its.metrics != measurement.metrics else None
            plan.append(Planned(part, units, together, only))
    return plan


def _plan(
    connection: Connection, measurement: Measurement, ranges: Ranges, texts: dict[int, int], sizes: Sizes
) -> list[tuple[Part, float, list[int]]]:
    """Shards for these blocks of all these evaluations (evaluation -> text), as (part, units, evaluations)."""
    seconds = sum(metric_costs(connection, measurement.metrics)) * 1e-6
    lengths = connection.execute(
        select(TextBlock.block, func.sum(func.length(TextBlock.content)).label("bytes"))
        .where(TextBlock.text_id.in_(set(texts.values())))
        .group_by(TextBlock.block)
    )
    bytes_of = {row.block: int(row.bytes) for row in lengths}
    end = max(bytes_of) + 1
    segments = [BLOCK_SEGMENTS] * (end - 1) + [measurement.segments - (end - 1) * BLOCK_SEGMENTS]
    references = len(measurement.reference_texts)

    def units(systems: int) -> list[float]:
        """The work in each block for so many of the systems."""
        share = systems / len(texts)
        return [block_units(segments[each], systems, round(bytes_of[each] * share), references) for each in range(end)]

    groups = group_systems(len(texts), max(units(len(texts))) * seconds, max(segments), sizes)
    plan: list[tuple[Part, float, list[int]]] = []
    evaluations, begin = list(texts), 0
    for systems in groups:
        chosen = evaluations[begin : begin + systems]
        begin += systems
        work = units(systems)
        for first, last in ranges:
            parts = cut([each * seconds for each in work[first:last]], first, segments[first:last], systems, sizes)
            plan += [(part, math.fsum(work[part.first_block : part.last_block]), chosen) for part in parts]
    return plan
