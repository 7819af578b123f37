"""Reductions: from the statistics of all shards to scores, identical to the bit for any partition into shards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from models.corpus.protocols import ProtocolContent
from models.results.learned_columns import read_learned_columns
from models.schema.base import BLOCK_SEGMENTS
from models.schema.results import ReplicatePart, ShardResult, Statistics
from models.storage.arrays import max_packed_bytes, pack, unpack
from models.storage.blobs import content_of
from steelyard.metrics.score_systems import LARGEST_COUNTS, corpus_sums, resampled_run
from steelyard.resampling.bootstrap import add_parts, drawn_segments, sums_of_tables
from worker.computing.scoring import LARGEST_TRAVELLING, cached_metric
from worker.computing.signature import stored_signature
from worker.errors import ShardsMissing

Floats = NDArray[np.float64]

LARGEST_PRODUCT = 4 * LARGEST_TRAVELLING
"""Limit on the blocks whose resampling counts are held in memory at once."""

LARGEST_TABLE = 1 << 22
"""Limit on the statistics (float64) held in memory at once."""

LARGEST_TOTALS = 1 << 21
"""Limit on the sums of replicates (float64) held in memory at once."""


@dataclass(frozen=True, slots=True)
class Run:
    """A range of blocks: one large shard with a replicate part, or adjacent ones without."""

    first_block: int
    last_block: int
    made: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Metrics of evaluations with the same partition into shards, which are added up together."""

    runs: tuple[Run, ...]
    metrics: tuple[int, ...]
    evaluations: tuple[int, ...]


def reduce_evaluations(
    connection: Connection, protocol: ProtocolContent, evaluations: Sequence[int]
) -> list[dict[str, Any]]:
    """The rows of Score for these evaluations, but for those of learned columns, which learned workers make.

    Raises
    ------
    ShardsMissing
        If shards do not cover the test set.
    """
    later = read_learned_columns(connection, evaluations)
    every = ((evaluation, metric) for evaluation in evaluations for metric in range(len(protocol.metrics)))
    return reduce_columns(connection, protocol, [column for column in every if column not in later])


def reduce_columns(
    connection: Connection, protocol: ProtocolContent, wanted: Sequence[tuple[int, int]]
) -> list[dict[str, Any]]:
    """The rows of Score for these evaluations and metrics.

    Raises
    ------
    ShardsMissing
        If shards do not cover the test set.
    """
    rows: list[dict[str, Any]] = []
    for groups in _portions(protocol, _group_by_partition(connection, protocol, wanted)):
        for group, totals in zip(groups, _add_up(connection, protocol, groups), strict=True):
            for metric, total in zip(group.metrics, totals, strict=True):
                rows += _score_rows(protocol, metric, group.evaluations, total)
    return rows


def _group_by_partition(
    connection: Connection, protocol: ProtocolContent, wanted: Sequence[tuple[int, int]]
) -> list[Group]:
    """Evaluations and metrics, grouped by their partition into shards: usually one group."""
    evaluations = sorted({evaluation for evaluation, _ in wanted})
    stored: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for row in connection.execute(_keys(Statistics, evaluations)):
        stored.setdefault((row.evaluation_id, row.metric), []).append((row.first_block, row.last_block))
    made = {tuple(row) for row in connection.execute(_keys(ReplicatePart, evaluations))}
    by_runs: dict[tuple[Run, ...], dict[int, list[int]]] = {}
    for evaluation, metric in wanted:
        ranges = sorted(stored.get((evaluation, metric), []))
        whole = [(evaluation, metric, *each) in made for each in ranges]
        runs, end = _runs(ranges, whole)
        if end != -(-protocol.segments // BLOCK_SEGMENTS):
            raise ShardsMissing(
                f"Evaluation {evaluation} by {protocol.metrics[metric]} has no statistics, or two, "
                f"for segment {end * BLOCK_SEGMENTS + 1}. `steelyard submission retry` recomputes what is missing."
            )
        by_runs.setdefault(runs, {}).setdefault(metric, []).append(evaluation)
    groups: dict[tuple[tuple[Run, ...], tuple[int, ...]], list[int]] = {}
    for runs, by_metric in by_runs.items():
        for metric, members in by_metric.items():
            groups.setdefault((runs, tuple(members)), []).append(metric)
    return [Group(runs, tuple(metrics), members) for (runs, members), metrics in groups.items()]


def _keys(table: type[ShardResult], evaluations: Sequence[int]) -> Any:
    return select(table.evaluation_id, table.metric, table.first_block, table.last_block).where(
        table.evaluation_id.in_(evaluations)
    )


def _runs(ranges: Sequence[tuple[int, int]], made: Sequence[bool]) -> tuple[tuple[Run, ...], int]:
    """Sorted ranges of blocks as runs, and the block at which they cease to be contiguous."""
    runs: list[Run] = []
    end = 0
    for (first, last), whole in zip(ranges, made, strict=True):
        if first != end:
            break
        if whole or not runs or runs[-1].made:
            runs.append(Run(first, last, whole))
        else:
            runs[-1] = Run(runs[-1].first_block, last, False)
        end = last
    return tuple(runs), end


def _portions(protocol: ProtocolContent, groups: Sequence[Group]) -> Iterator[list[Group]]:
    """The groups, split so that the statistics of each and the totals of each portion fit in memory."""
    segments = min(protocol.segments, LARGEST_PRODUCT * BLOCK_SEGMENTS)
    most = LARGEST_TOTALS // (1 + protocol.replicates)
    widths = [len(cached_metric(specification).columns) for specification in protocol.metrics]
    portion: list[Group] = []
    columns = 0
    for group in groups:
        for part in _cut(group, widths, min(most, LARGEST_TABLE // segments)):
            more = sum(widths[metric] for metric in part.metrics) * len(part.evaluations)
            if portion and columns + more > most:
                yield portion
                portion, columns = [], 0
            portion.append(part)
            columns += more
    if portion:
        yield portion


def _cut(group: Group, widths: Sequence[int], most: int) -> Iterator[Group]:
    """The group in parts of at most this many columns, or of a single metric of a single evaluation."""
    wide = sum(widths[metric] for metric in group.metrics)
    if wide <= most:
        together = most // wide
        for begin in range(0, len(group.evaluations), together):
            yield replace(group, evaluations=group.evaluations[begin : begin + together])
    elif len(group.metrics) > 1:
        middle = len(group.metrics) // 2
        for metrics in (group.metrics[:middle], group.metrics[middle:]):
            yield from _cut(replace(group, metrics=metrics), widths, most)
    else:
        for evaluation in group.evaluations:
            yield replace(group, evaluations=(evaluation,))


def _add_up(connection: Connection, protocol: ProtocolContent, groups: Sequence[Group]) -> list[list[Floats]]:
    """For each group and each of its metrics, (evaluations, 1 + replicates, columns): row 0 the plain sums."""
    totals: list[list[Floats]] = [[] for _ in groups]
    for number, group in enumerate(groups):
        for run in group.runs:
            if run.made:
                parts = _stacked(connection, ReplicatePart, protocol, group, run.first_block, run.last_block)
                totals[number] = _added(totals[number], parts)
    blocks = -(-protocol.segments // BLOCK_SEGMENTS)
    together = min(LARGEST_PRODUCT, max(1, LARGEST_COUNTS // max(protocol.replicates, 1) // BLOCK_SEGMENTS))
    for begin in range(0, blocks, together):
        pieces = [
            (number, max(begin, run.first_block), min(begin + together, run.last_block))
            for number, group in enumerate(groups)
            for run in group.runs
            if not run.made and run.first_block < begin + together and begin < run.last_block
        ]
        if not pieces:
            continue
        resampled_sums = _resampling(protocol, pieces)
        for number, first, last in pieces:
            statistics = _stacked(connection, Statistics, protocol, groups[number], first, last)
            parts = [
                np.concatenate([corpus_sums(each)[:, np.newaxis, :], resampled], axis=1)
                for each, resampled in zip(statistics, resampled_sums(statistics, first, last), strict=True)
            ]
            totals[number] = _added(totals[number], parts)
    return totals


def _resampling(
    protocol: ProtocolContent, pieces: Sequence[tuple[int, int, int]]
) -> Callable[[list[Floats], int, int], list[Floats]]:
    """A function of the statistics of some blocks, the first and the last, to the sums of their replicates."""
    if protocol.documents is not None:
        # However the blocks cut documents: these are drawn whole, and their sums are exact.
        return lambda statistics, first, _: resampled_run(
            *(statistics, protocol.segments, protocol.seed, protocol.replicates, first * BLOCK_SEGMENTS),
            protocol.documents,
        )
    # Drawn once for all groups, whatever their partition.
    start, end = min(first for _, first, _ in pieces), max(last for _, _, last in pieces)
    drawn = start * BLOCK_SEGMENTS, min(end * BLOCK_SEGMENTS, protocol.segments)
    draws = drawn_segments(protocol.segments, protocol.seed, protocol.replicates, *drawn)

    def sums(statistics: list[Floats], first: int, last: int) -> list[Floats]:
        own = slice(*(min(edge * BLOCK_SEGMENTS, drawn[1]) - drawn[0] for edge in (first, last)))
        return sums_of_tables(draws[:, own], statistics)

    return sums


def _added(totals: list[Floats], parts: list[Floats]) -> list[Floats]:
    return [add_parts(pair) for pair in zip(totals, parts, strict=True)] if totals else parts


def _stacked(
    connection: Connection,
    table: type[ShardResult],
    protocol: ProtocolContent,
    group: Group,
    first_block: int,
    last_block: int,
) -> list[Floats]:
    """For each metric, (evaluations, rows, columns): the stored arrays of some blocks, concatenated.

    Statistics of a shard that extends beyond these blocks are truncated; a replicate part covers all of its blocks.
    """
    rows = connection.execute(
        select(table.metric, table.evaluation_id, table.first_block, table.last_block, table.blob, table.object_url)
        .where(
            table.evaluation_id.in_(group.evaluations),
            table.metric.in_(group.metrics),
            table.first_block < last_block,
            table.last_block > first_block,
        )
        .order_by(table.metric, table.evaluation_id, table.first_block)
    )
    blobs: dict[tuple[int, int], list[Floats]] = {}
    widths = {metric: len(cached_metric(protocol.metrics[metric]).columns) for metric in group.metrics}
    # Fetched at once: a cursor left open by a missing object would keep its snapshot.
    for row in rows.all():
        columns, high = widths[row.metric], 1 + protocol.replicates
        if table is Statistics:
            end = min(row.last_block * BLOCK_SEGMENTS, protocol.segments)
            high = end - row.first_block * BLOCK_SEGMENTS
        values = unpack(content_of(row, max_packed_bytes(high, columns)), rows=high, columns=columns, finite=True)
        if table is Statistics:
            low, high = ((block - row.first_block) * BLOCK_SEGMENTS for block in (first_block, last_block))
            values = values[max(low, 0) : high]
        blobs.setdefault((row.metric, row.evaluation_id), []).append(values)
    return [
        np.stack([np.concatenate(blobs[metric, evaluation]) for evaluation in group.evaluations])
        for metric in group.metrics
    ]


def _score_rows(
    protocol: ProtocolContent, position: int, evaluations: Sequence[int], totals: Floats
) -> Iterator[dict[str, Any]]:
    specification = protocol.metrics[position]
    metric = cached_metric(specification)
    signature = stored_signature(metric, protocol)
    # The plain sums and all replicates of all systems in one call.
    scores = metric.score(totals)
    for evaluation, total, of_system in zip(evaluations, totals, scores, strict=True):
        score = float(of_system[0])
        yield {
            "evaluation_id": evaluation,
            "metric": position,
            "specification": specification,
            "title": metric.title,
            "signature": signature,
            "higher_is_better": metric.higher_is_better,
            "scale": metric.scale,
            "columns": list(metric.columns),
            "sums": pack(total[:1]),
            "score": None if math.isnan(score) else score,
            "details": metric.details(total[0]),
            "replicate_scores": pack(of_system[1:]),
        }
