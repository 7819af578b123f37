"""Blocks of an evaluation's metrics without stored statistics."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, exists, func, select

from models.corpus.protocols import ProtocolContent
from models.schema.base import BLOCK_SEGMENTS
from models.schema.declarative import aliased
from models.schema.results import ReplicatePart, Statistics

Ranges = tuple[tuple[int, int], ...]
"""Ranges of blocks, the end exclusive."""

MissingBlocks = dict[Ranges, tuple[int, ...]]
"""Blocks -> positions of the metrics that have no statistics for exactly these."""


def all_blocks(protocol: ProtocolContent) -> Ranges:
    """All blocks, for a metric without any statistics."""
    return ((0, -(-protocol.segments // BLOCK_SEGMENTS)),)


def find_missing_blocks(
    connection: Connection, protocol: ProtocolContent, evaluations: Sequence[int]
) -> dict[int, MissingBlocks]:
    """The missing blocks of each of these evaluations of a protocol; empty where all statistics are stored.

    No two stored ranges may overlap (`delete_overlapping_statistics`).
    """
    ((_, end),) = all_blocks(protocol)
    key = Statistics.evaluation_id, Statistics.metric
    blocks = func.sum(Statistics.last_block - Statistics.first_block).label("blocks")
    summed = select(*key, blocks).where(Statistics.evaluation_id.in_(evaluations)).group_by(*key).subquery()
    stored: dict[tuple[int, int], list[tuple[int, int]]] = {}
    # Usually all blocks are stored or none: only for the others, look up which ones.
    for row in connection.execute(select(summed)):
        if row.blocks == end:
            stored[row.evaluation_id, row.metric] = [(0, end)]
    for row in connection.execute(
        select(*key, Statistics.first_block, Statistics.last_block)
        .join(summed, (summed.c.evaluation_id == key[0]) & (summed.c.metric == key[1]))
        .where(summed.c.blocks != end)
        .order_by(Statistics.first_block)
    ):
        stored.setdefault((row.evaluation_id, row.metric), []).append((row.first_block, row.last_block))
    missing: dict[int, MissingBlocks] = {evaluation: {} for evaluation in evaluations}
    for evaluation, its in missing.items():
        for metric in range(len(protocol.metrics)):
            if gaps := _gaps(stored.get((evaluation, metric), []), end):
                its[gaps] = (*its.get(gaps, ()), metric)
    return missing


def delete_overlapping_statistics(connection: Connection, evaluations: Sequence[int]) -> None:
    """Delete statistics of these evaluations whose blocks overlap: they cannot be added up.

    A worker of a release that measures all metrics of a shard, stored or not, may have written them.
    """
    other = aliased(Statistics)
    connection.execute(
        delete(Statistics).where(
            Statistics.evaluation_id.in_(evaluations),
            exists().where(
                other.evaluation_id == Statistics.evaluation_id,
                other.metric == Statistics.metric,
                other.first_block != Statistics.first_block,
                other.first_block < Statistics.last_block,
                other.last_block > Statistics.first_block,
            ),
        )
    )


def delete_statistics(connection: Connection, evaluations: Sequence[int]) -> None:
    """Delete all results of these evaluations."""
    for table in (Statistics, ReplicatePart):
        connection.execute(delete(table).where(table.evaluation_id.in_(evaluations)))


def _gaps(ranges: Sequence[tuple[int, int]], end: int) -> Ranges:
    gaps, covered = [], 0
    for first, last in (*ranges, (end, end)):
        if first > covered:
            gaps.append((covered, first))
        covered = max(covered, last)
    return tuple(gaps)
