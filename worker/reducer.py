"""Reductions: from the statistics of all shards to scores, the same to the bit however they were cut."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from metrics.measure import corpus_sums, resampled_sums
from metrics.resampling.bootstrap import add_parts, resampling_counts
from models.arrays import pack, unpack
from models.base import BLOCK_SEGMENTS
from models.protocol import Measurement
from models.statistics import ReplicatePart, ShardResult, Statistics
from worker.errors import ShardsMissing
from worker.scoring import LARGEST_TRAVELLING, known_metric

Floats = NDArray[np.float64]

LARGEST_PRODUCT = 4 * LARGEST_TRAVELLING
"""Blocks whose statistics are held in memory at once."""

LARGEST_TABLE = 1 << 22
"""Statistics (float64) of all evaluations that are held in memory at once."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of blocks that is added in one step: one large shard, or neighbouring small ones."""

    first_block: int
    last_block: int
    made: bool
    """Whether the shard has made its replicate part itself."""


def reduce_evaluations(
    connection: Connection, measurement: Measurement, evaluations: Sequence[int]
) -> list[dict[str, Any]]:
    """The rows of Score for these evaluations. Raises ShardsMissing."""
    metrics = [known_metric(specification) for specification in measurement.metrics]
    columns = sum(len(metric.columns) for metric in metrics)
    together = max(1, LARGEST_TABLE // (columns * min(measurement.segments, LARGEST_PRODUCT * BLOCK_SEGMENTS)))
    rows: list[dict[str, Any]] = []
    for runs, members in _by_runs(connection, measurement, evaluations).items():
        for begin in range(0, len(members), together):
            chosen = members[begin : begin + together]
            totals = _add_runs(connection, measurement, runs, chosen)
            for metric, total in enumerate(totals):
                rows += _score_rows(measurement, metric, chosen, total)
    return rows


def _by_runs(
    connection: Connection, measurement: Measurement, evaluations: Sequence[int]
) -> dict[tuple[Run, ...], list[int]]:
    """Evaluations grouped by how their shards were cut: as a rule there is one group."""
    stored: dict[int, dict[tuple[int, int], set[int]]] = {each: {} for each in evaluations}
    for row in connection.execute(_keys(Statistics, evaluations)):
        stored[row.evaluation_id].setdefault((row.first_block, row.last_block), set()).add(row.metric)
    made: dict[int, dict[tuple[int, int], set[int]]] = {each: {} for each in evaluations}
    for row in connection.execute(_keys(ReplicatePart, evaluations)):
        made[row.evaluation_id].setdefault((row.first_block, row.last_block), set()).add(row.metric)
    every = set(range(len(measurement.metrics)))
    groups: dict[tuple[Run, ...], list[int]] = {}
    for evaluation in evaluations:
        runs: list[Run] = []
        end = 0
        for (first, last), metrics in sorted(stored[evaluation].items()):
            if first != end or metrics != every:
                break
            whole = made[evaluation].get((first, last)) == every
            before = runs[-1] if runs else None
            if whole or before is None or before.made or last - before.first_block > LARGEST_PRODUCT:
                runs.append(Run(first, last, whole))
            else:
                runs[-1] = Run(before.first_block, last, False)
            end = last
        if end != -(-measurement.segments // BLOCK_SEGMENTS):
            raise ShardsMissing(
                f"Evaluation {evaluation} has no statistics, or two, for segment {end * BLOCK_SEGMENTS + 1}."
            )
        groups.setdefault(tuple(runs), []).append(evaluation)
    return groups


def _keys(table: type[ShardResult], evaluations: Sequence[int]) -> Any:
    return select(table.evaluation_id, table.metric, table.first_block, table.last_block).where(
        table.evaluation_id.in_(evaluations)
    )


def _add_runs(
    connection: Connection, measurement: Measurement, runs: Sequence[Run], evaluations: Sequence[int]
) -> list[Floats]:
    """For each metric (evaluations, 1 + replicates, columns): row 0 the plain sums."""
    totals: list[Floats] = []
    for run in runs:
        if run.made:
            parts = list(_stacked(connection, ReplicatePart, run, measurement, evaluations))
        else:
            statistics = list(_stacked(connection, Statistics, run, measurement, evaluations))
            first = run.first_block * BLOCK_SEGMENTS
            last = min(run.last_block * BLOCK_SEGMENTS, measurement.segments)
            counts = resampling_counts(measurement.segments, measurement.seed, measurement.replicates, first, last)
            parts = [
                np.concatenate([corpus_sums(each)[:, np.newaxis, :], resampled], axis=1)
                for each, resampled in zip(statistics, resampled_sums(counts, statistics), strict=True)
            ]
        totals = [add_parts(pair) for pair in zip(totals, parts, strict=True)] if totals else parts
    return totals


def _stacked(
    connection: Connection,
    table: type[ShardResult],
    run: Run,
    measurement: Measurement,
    evaluations: Sequence[int],
) -> Iterator[Floats]:
    """For each metric (evaluations, rows, columns): the blobs of a run, one after the other."""
    rows = connection.execute(
        select(table.metric, table.evaluation_id, table.blob)
        .where(
            table.evaluation_id.in_(evaluations),
            table.first_block >= run.first_block,
            table.first_block < run.last_block,
        )
        .order_by(table.metric, table.evaluation_id, table.first_block)
    )
    blobs: dict[tuple[int, int], list[Floats]] = {}
    for metric, evaluation, blob in rows:
        blobs.setdefault((metric, evaluation), []).append(unpack(blob))
    for metric in range(len(measurement.metrics)):
        yield np.stack([np.concatenate(blobs[metric, evaluation]) for evaluation in evaluations])


def _score_rows(
    measurement: Measurement, position: int, evaluations: Sequence[int], totals: Floats
) -> Iterator[dict[str, Any]]:
    specification = measurement.metrics[position]
    metric = known_metric(specification)
    references = "var" if measurement.variable_references else len(measurement.reference_texts)
    signature = metric.signature(
        references, measurement.replicates, measurement.seed if measurement.replicates else None
    )
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
