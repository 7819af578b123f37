"""From texts to scores in one process: the functions that the workers and the reducer call, one after the other."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter, BadText
from steelyard.metrics.needed_statistics import states_of
from steelyard.metrics.segments import Segments
from steelyard.resampling.bootstrap import add_parts, drawn_segments, sums_of_tables
from steelyard.text.blocks import BLOCK, block_count
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from steelyard.metrics.contract import MetricContract
    from steelyard.metrics.resources import Resources
    from steelyard.resampling.documents import Documents

    Floats = NDArray[np.float64]

LARGEST_SHARD = 32 * BLOCK
"""Segments that are held in memory at once, unless the caller says otherwise."""

LARGEST_COUNTS = 1 << 26
"""Draws (replicates x segments) that are held in memory at once, a byte each as a rule."""


@dataclass(frozen=True, eq=False)
class MetricResult:
    """What one metric says of all systems.

    sums: (systems, k); scores: (systems,); replicate_scores: (systems, replicates), with no replicates where none
    were asked for; segment_scores: (systems, segments), statistics: (systems, segments, k), or None where they were
    not asked for. Where documents were resampled, statistics are those of (systems, documents, k).
    """

    metric: MetricContract
    sums: Floats
    scores: Floats
    replicate_scores: Floats
    segment_scores: Floats | None
    statistics: Floats | None = None


def shard_statistics(
    segments: Segments, metrics: Sequence[MetricContract], between: Callable[[], None] | None = None
) -> list[Floats]:
    """The statistics of a shard.

    A stopwatch, where the segments have one, measures each metric as a piece called by its position.

    Parameters
    ----------
    segments : Segments
    metrics : list of Metric
        Resolved.
    between : callable, optional
        Called between any two of the pieces in which the work is done: a metric on some of the segments.

    Returns
    -------
    list of (systems, segments, k) float64
        One for each metric.

    Raises
    ------
    BadText
        Where a metric reads the source and there is none.
    """
    if segments.source is None and (reading := [each.specification for each in metrics if "source" in each.inputs]):
        raise BadText(
            f"{listed(reading)} reads the source, and there is none. Give it: --source FILE, in Python source=."
        )
    slices: list[list[Floats]] = []
    # A model or a program takes as much as there is at once.
    for piece in [segments] if any(metric.learned for metric in metrics) else segments.slices():
        statistics: list[Floats] = []
        for position, metric in enumerate(metrics):
            if between and (slices or statistics):
                between()
            with segments.stopwatch.timing(position) if segments.stopwatch else nullcontext():
                statistics.append(metric.segment_statistics(piece))
        slices.append(statistics)
    return slices[0] if len(slices) == 1 else [np.concatenate(each, axis=1) for each in zip(*slices, strict=True)]


def corpus_sums(statistics: Floats) -> Floats:
    """Exact sums over the segments.

    Parameters
    ----------
    statistics : (systems, segments, k) float64

    Returns
    -------
    (systems, k) float64
    """
    # NumPy's own sum over a middle axis takes three times as long; the sums are exact in any order.
    sums: Floats = np.einsum("sik->sk", statistics)
    return sums


def resampled_run(
    statistics: Sequence[Floats],
    segments: int,
    seed: int,
    replicates: int,
    first: int,
    documents: Documents | None = None,
) -> list[Floats]:
    """The sums of every replicate over a run of segments.

    The draws are made in pieces, so that they fit in memory however many replicates there are.

    Parameters
    ----------
    statistics : list of (systems, segments, k) float64
        Of the run, for each metric.
    segments : int
        How many the test set has.
    seed : int
    replicates : int
    first : int
        The segment at which the run begins, a block's first.
    documents : Documents, optional
        Given, documents are drawn, not segments.

    Returns
    -------
    list of (systems, replicates, k) float64
        One for each metric.
    """
    if documents is not None:
        statistics = [documents.added_up(each, first) for each in statistics]
        segments, first = documents.count, 0
    rows = statistics[0].shape[1]
    piece = max(1, LARGEST_COUNTS // max(replicates, 1) // BLOCK) * BLOCK
    totals: list[Floats] = []
    for begin in range(0, rows, piece):
        end = min(begin + piece, rows)
        drawn = drawn_segments(segments, seed, replicates, first + begin, first + end)
        parts = sums_of_tables(drawn, [each[:, begin:end] for each in statistics])
        totals = [add_parts(pair) for pair in zip(totals, parts, strict=True)] if totals else parts
    return totals


def score_systems(
    segments: Segments,
    metrics: Sequence[MetricContract],
    *,
    replicates: int = 0,
    seed: int = 12345,
    shard_size: int = LARGEST_SHARD,
    segment_scores: bool = False,
    keep_statistics: bool = False,
    resources: Resources | None = None,
    documents: Documents | None = None,
    on_texts: Callable[[Segments], None] | None = None,
    on_shard: Callable[[int, int], None] | None = None,
) -> list[MetricResult]:
    """Score all systems by all metrics, shard by shard. The result is the same to the bit for every `shard_size`.

    Parameters
    ----------
    segments : Segments
        All systems of the test set.
    metrics : list of Metric
        Resolved (`resolution.py`). What they need of the whole reference side is counted first.
    replicates : int
        Of the bootstrap; 0 for none.
    seed : int
        Of the replicates: 0 to 2**64 - 1.
    shard_size : int
        Segments that are worked on at once, rounded up to whole blocks.
    segment_scores : bool
        Keep the scores of every segment.
    keep_statistics : bool
        Keep the statistics of every segment or document, which randomization and BCa intervals need, in memory.
    resources : Resources, optional
        Files that metrics read.
    documents : Documents, optional
        Given, they are resampled, not segments: replicates draw them, and statistics are kept of them.
    on_texts : callable, optional
        Given each shard's texts, for what is to be shown of them beside the scores.
    on_shard : callable, optional
        Called after each shard with how many of how many are done.

    Returns
    -------
    list of MetricResult
        One for each metric.

    Raises
    ------
    BadText
        Without hypotheses.
    BadParameter
        For numbers out of range.
    """
    if not isinstance(segments, Segments):
        raise BadText("What is scored must be Segments: Segments.from_lines or Segments.from_bytes makes them.")
    whole = segments.with_resources(resources)
    systems = segments.hypotheses
    if not systems:
        raise BadText("There is nothing to score. Give at least one hypothesis.")
    if replicates < 0 or shard_size < 1:
        raise BadParameter(
            f"{replicates} replicates in shards of {shard_size} segments: replicates must be at least 0, segments 1."
        )
    if not 0 <= seed < 2**64:
        raise BadParameter(f"The seed of a bootstrap is {seed}, but must be from 0 to 2^64 - 1.")
    if documents is not None and len(documents) != len(segments):
        raise BadParameter(f"Documents are given for {len(documents)} segments, and there are {len(segments)}.")
    blocks = block_count(shard_size)
    shards = -(-block_count(len(segments)) // blocks)
    sums = [np.zeros((len(systems), len(metric.columns))) for metric in metrics]
    resampled = [np.zeros((len(systems), replicates, len(metric.columns))) for metric in metrics]
    by_segment: list[list[Floats]] = [[] for _ in metrics]
    kept: list[list[Floats]] = [[] for _ in metrics]

    # A single shard is not to be cut.
    several = shards > 1
    states = states_of(metrics, whole.without_hypotheses, blocks * BLOCK) if several else {}
    for shard, texts in enumerate(whole.cut(blocks * BLOCK) if several else [whole]):
        # Of a single shard the reference side is read once for both steps.
        texts.states = states if several else states_of(metrics, texts.reference_side)
        statistics = shard_statistics(texts, metrics)
        for sum_of, each in zip(sums, statistics, strict=True):
            sum_of += corpus_sums(each)
        if replicates:
            first = shard * blocks
            parts = resampled_run(statistics, len(segments), seed, replicates, first * BLOCK, documents)
            for total, part in zip(resampled, parts, strict=True):
                total += part
        if segment_scores:
            for scores, metric, each in zip(by_segment, metrics, statistics, strict=True):
                scores.append(metric.segment_score(each))
        if keep_statistics:
            for shards_of, each in zip(kept, statistics, strict=True):
                shards_of.append(each)
        if on_texts:
            on_texts(texts)
        if on_shard:
            on_shard(shard + 1, shards)

    return [
        MetricResult(
            metric,
            total,
            metric.score(total),
            metric.score(replicate_total) if replicates else np.empty((len(systems), 0)),
            np.concatenate(scores, axis=1) if scores else None,
            _kept(of_shards, documents) if of_shards else None,
        )
        for metric, total, replicate_total, scores, of_shards in zip(
            metrics, sums, resampled, by_segment, kept, strict=True
        )
    ]


def _kept(of_shards: Sequence[Floats], documents: Documents | None) -> Floats:
    """Statistics of all segments, or of all documents."""
    every = np.concatenate(of_shards, axis=1)
    return every if documents is None else documents.added_up(every)
