"""Partitions a job into shards. Pure arithmetic: it affects speed, never results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.metrics.contract import TYPICAL_CHARACTERS

TYPICAL_BYTES = TYPICAL_CHARACTERS
"""Bytes of a typical segment, to which the metrics' costs refer."""

TYPICAL_SYSTEMS = 10
"""Systems in a typical shard, to which they refer."""

REFERENCE_SIDE = 2.0
"""The cost of processing the references, in systems."""

SEGMENT_BYTES = 4096
"""Memory that a worker may need for one segment of one system."""


@dataclass(frozen=True, slots=True)
class BlockRange:
    """Consecutive blocks for one shard; `last_block` is exclusive, `cost` in the unit of the given costs."""

    first_block: int
    last_block: int
    cost: float


@dataclass(frozen=True, slots=True)
class ShardLimits:
    """The limits of a shard. Times are in seconds."""

    processes: int
    shard_seconds: float
    shortest_seconds: float
    largest_bytes: int


def block_units(segments: int, systems: int, text_bytes: int, references: int = 1) -> float:
    """The work in one block, as a number of typical segments of one system, the unit of the metrics' costs.

    `text_bytes` is the total length of all systems' texts. The references cost as much as REFERENCE_SIDE systems,
    independent of the number of systems; averaged over the metrics, a second reference costs half as much as the first.
    """
    share = (systems + REFERENCE_SIDE) / (TYPICAL_SYSTEMS + REFERENCE_SIDE) * TYPICAL_SYSTEMS
    return segments * share * (1 + references) / 2 * _length(segments * systems, text_bytes)


def count_units(segments: int, references: int, text_bytes: int) -> float:
    """As `block_units`, for counting in the references alone; `text_bytes` is their length."""
    return segments * references * _length(segments * references, text_bytes)


def _length(rows: int, text_bytes: int) -> float:
    """The equivalent number of typical segments: more than proportional to length, since edit distances grow faster."""
    length = text_bytes / max(rows, 1) / TYPICAL_BYTES
    return max(length, length * math.sqrt(length))


def partition_blocks(
    costs: Sequence[float], first_block: int, segments: Sequence[int], systems: int, sizes: ShardLimits
) -> list[BlockRange]:
    """Partition consecutive blocks, from `first_block` on, into parts of nearly equal cost.

    A part takes about `shard_seconds`, or less if memory requires it; a smaller job is still spread over all processes,
    as long as each part takes `shortest_seconds`.
    """
    total = math.fsum(costs)
    share = max(total / sizes.processes, sizes.shortest_seconds)
    by_time = math.ceil(total / min(sizes.shard_seconds, share) - 1e-9)
    by_memory = math.ceil(sum(segments) * systems * SEGMENT_BYTES / sizes.largest_bytes)
    wanted = max(1, by_time, by_memory)
    if wanted > 1:
        wanted = math.ceil(wanted / sizes.processes) * sizes.processes
    goal = total / min(wanted, len(costs))
    parts: list[BlockRange] = []
    begin, spent, rows, before = 0, 0.0, 0, 0.0
    for block, cost in enumerate(costs):
        more_rows = segments[block] * systems
        too_large = (rows + more_rows) * SEGMENT_BYTES > sizes.largest_bytes
        # Cut where the running total comes closest to the next multiple of the target.
        far_enough = before + spent + cost / 2 >= (len(parts) + 1) * goal
        if block > begin and (too_large or far_enough):
            parts.append(BlockRange(first_block + begin, first_block + block, spent))
            begin, before, spent, rows = block, before + spent, 0.0, 0
        spent += cost
        rows += more_rows
    parts.append(BlockRange(first_block + begin, first_block + len(costs), spent))
    return parts


def group_systems(systems: int, dearest_block: float, largest_block: int, sizes: ShardLimits) -> list[int]:
    """The number of systems in each shard: all of them, unless one block would be too large.

    `dearest_block` is the highest cost of a block for all systems, `largest_block` its segments. The references are
    processed once for each group, so groups are as large as possible.
    """
    by_memory = systems * largest_block * SEGMENT_BYTES / sizes.largest_bytes
    by_time = dearest_block / (2 * sizes.shard_seconds)
    groups = min(systems, max(1, math.ceil(max(by_memory, by_time))))
    small, larger = divmod(systems, groups)
    return [small + 1] * larger + [small] * (groups - larger)
