"""Shards: from the texts of some blocks to additive statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, select

from models.corpus.protocols import ProtocolContent
from models.queue.kinds.shards import Blocks, ClaimedShard, ShardRow, ShardTiming
from models.schema.base import BLOCK_SEGMENTS
from models.schema.corpus import LayerBlock, Text, TextBlock
from models.storage.arrays import pack
from steelyard.errors import MissingLayer
from steelyard.formats.layers import describe_layers
from steelyard.metrics.preparation.stopwatch import Stopwatch
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resources import Resources
from steelyard.metrics.score_systems import corpus_sums, resampled_run, shard_statistics
from steelyard.metrics.segments import Segments
from steelyard.text.blocks import block_count

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric

LARGEST_TRAVELLING = 16
"""The number of blocks above which a shard computes its part of the replicates itself.

Below, its statistics are smaller than its replicate part, so they are stored and the reducer computes the product for
all shards at once. Both ways give the same bits.
"""

RESAMPLING = "resampling"
"""The stopwatch's name for the replicate part."""


@lru_cache(maxsize=256)
def cached_metric(specification: str) -> Metric:
    """The metric of a specification, parsed once per process."""
    return parse_metric(specification)


def read_texts(
    connection: Connection, texts: Sequence[int], first_block: int, last_block: int, layer: str | None = None
) -> list[bytes]:
    """A range of blocks of each text, or of a layer of each: lines joined by newlines, in the order of `texts`.

    Lines of a text of which only the number of segments is known are empty.

    Raises
    ------
    MissingLayer
        If a text lacks the layer.
    """
    (found,) = _read_ranges(connection, texts, [(first_block, last_block)], layer)
    return found


def _read_ranges(
    connection: Connection, texts: Sequence[int], ranges: Sequence[Blocks], layer: str | None = None
) -> list[list[bytes]]:
    """As `read_texts`, for ranges that follow each other."""
    table = TextBlock if layer is None else LayerBlock
    (first, _), (_, last) = ranges[0], ranges[-1]
    wanted = select(table.text_id, table.block, table.content).where(
        table.text_id.in_(set(texts)), table.block >= first, table.block < last
    )
    if layer is not None:
        wanted = wanted.where(LayerBlock.layer == layer)
    contents: dict[int, dict[int, bytes]] = {}
    for text_id, block, content in connection.execute(wanted.order_by(table.text_id, table.block)):
        contents.setdefault(text_id, {})[block] = content
    if layer is not None and not contents.keys() >= set(texts):
        raise MissingLayer(
            f"A stored text lacks the layer {describe_layers([layer])}. Evaluate it without this metric."
        )
    # No real text has no bytes and no block: were blocks lost, that is found below.
    without = select(Text.id, Text.segments).where(Text.id.in_(set(texts) - contents.keys()), Text.bytes == 0)
    for text_id, segments in connection.execute(without).all() if contents.keys() < set(texts) else ():
        for block in range(first, min(last, max(first + 1, block_count(segments)))):
            lines = min(segments - block * BLOCK_SEGMENTS, BLOCK_SEGMENTS)
            contents.setdefault(text_id, {})[block] = b"\n" * (lines - 1)
    found = []
    for begin, end in ranges:
        blocks = {
            text: [contents[text][block] for block in range(begin, end) if block in contents[text]] for text in texts
        }
        if not all(blocks.values()):
            raise KeyError("A stored text lacks blocks.")
        found.append([b"\n".join(blocks[text]) for text in texts])
    return found


def shard_metrics(claim: ClaimedShard, protocol: ProtocolContent) -> dict[int, str]:
    """The metrics of a shard: position in the protocol's list -> specification."""
    every = range(len(protocol.metrics))
    return {position: protocol.metrics[position] for position in (every if claim.metrics is None else claim.metrics)}


@dataclass(frozen=True)
class ShardTexts:
    """The input of a shard: the references first, then the output of each evaluation."""

    texts: Sequence[bytes]
    layers: Mapping[str, Sequence[bytes]]
    source: bytes | None = None
    """What was translated, where one of its metrics reads it."""
    states: Mapping[str, Any] = field(default_factory=dict)
    """The corpus statistics of its metrics (`worker.computing.corpus_statistics`)."""


def runs_of_shards(claims: Iterable[ClaimedShard]) -> list[list[ClaimedShard]]:
    """Shards whose texts can be read together: of the same systems and metrics, each begins where another ends."""
    runs: list[list[ClaimedShard]] = []
    for claim in sorted(claims, key=lambda each: (_work(each), each.first_block)):
        if runs and _work(runs[-1][-1]) == _work(claim) and runs[-1][-1].last_block == claim.first_block:
            runs[-1].append(claim)
        else:
            runs.append([claim])
    return runs


def _work(claim: ClaimedShard) -> tuple[int, tuple[int, ...], tuple[int, ...], str]:
    """What shards of a run have in common."""
    return claim.protocol_id, claim.evaluations, claim.texts, repr(claim.metrics)


def read_shards(connection: Connection, run: Sequence[ClaimedShard], protocol: ProtocolContent) -> Iterator[ShardTexts]:
    """The texts of each shard of a run, and the layers and the source where its metrics need them.

    Raises
    ------
    MissingLayer
        If a text lacks a layer.
    """
    metrics = [cached_metric(specification) for specification in shard_metrics(run[0], protocol).values()]
    wanted = {layer for metric in metrics for layer in metric.layers}
    ids = (*protocol.reference_texts, *run[0].texts)
    ranges = [(claim.first_block, claim.last_block) for claim in run]
    sources: Sequence[Sequence[bytes | None]] = [[None]] * len(run)
    if protocol.source_text is not None and any("source" in metric.inputs for metric in metrics):
        sources = _read_ranges(connection, [protocol.source_text], ranges)
    texts = _read_ranges(connection, ids, ranges)
    layers = {layer: _read_ranges(connection, ids, ranges, layer) for layer in sorted(wanted)}
    for number, (source,) in enumerate(sources):
        yield ShardTexts(texts[number], {layer: found[number] for layer, found in layers.items()}, source)


def score_texts(
    claim: ClaimedShard,
    protocol: ProtocolContent,
    shard: ShardTexts,
    resources: Resources,
    watch: Stopwatch | None = None,
    between: Callable[[], None] | None = None,
) -> list[ShardRow]:
    """The rows of a shard, for every evaluation and each of its metrics.

    `watch` times each metric, named by its position within the shard, and the replicate part, named RESAMPLING.
    `between` is called before each metric but the first.
    """
    specifications = shard_metrics(claim, protocol)
    metrics = [cached_metric(specification) for specification in specifications.values()]
    references = len(protocol.reference_texts)
    # A text submitted twice is scored once.
    outputs = list(zip(shard.texts, *shard.layers.values(), strict=True))[references:]
    distinct = {output: number for number, output in enumerate(dict.fromkeys(outputs))}
    first_of = [*range(references), *(references + outputs.index(output) for output in distinct)]
    segments = Segments(
        references=shard.texts[:references],
        hypotheses=[output[0] for output in distinct],
        source=shard.source,
        variable_references=protocol.variable_references,
        layers={layer: [texts[number] for number in first_of] for layer, texts in shard.layers.items()},
        resources=resources,
        states=shard.states,
    )
    watch = segments.stopwatch = watch or Stopwatch()
    statistics = shard_statistics(segments, metrics, between)
    parts: list[list[bytes | None]] = [[None] * len(distinct) for _ in metrics]
    if claim.last_block - claim.first_block > LARGEST_TRAVELLING:
        first = claim.first_block * BLOCK_SEGMENTS
        with watch.timing(RESAMPLING):
            all_resampled = resampled_run(
                *(statistics, protocol.segments, protocol.seed, protocol.replicates, first), protocol.documents
            )
        for metric, (each, resampled) in enumerate(zip(statistics, all_resampled, strict=True)):
            sums = corpus_sums(each)[:, np.newaxis, :]
            parts[metric] = [pack(part) for part in np.concatenate([sums, resampled], axis=1)]
    packed = [[pack(system) for system in each] for each in statistics]
    return [
        ShardRow(evaluation, position, packed[metric][distinct[output]], parts[metric][distinct[output]])
        for evaluation, output in zip(claim.evaluations, outputs, strict=True)
        for metric, position in enumerate(specifications)
    ]


def shard_timing(watch: Stopwatch, metrics: Sequence[Metric]) -> ShardTiming:
    """The timing of a scored shard; each metric gets its share of the replicate part."""
    columns = sum(len(metric.columns) for metric in metrics)
    *of_metrics, resampling = watch.shares([*range(len(metrics)), RESAMPLING])
    seconds = [
        own + resampling * len(metric.columns) / columns for own, metric in zip(of_metrics, metrics, strict=True)
    ]
    return ShardTiming(watch.total, tuple(seconds))
