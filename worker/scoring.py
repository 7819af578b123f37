"""Shards: from the texts of some blocks to statistics that can be added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, select

from metrics import parse_metric
from metrics.batch import Batch
from metrics.errors import MissingLayer
from metrics.measure import corpus_sums, resampled_sums, shard_statistics
from metrics.resampling.bootstrap import resampling_counts
from metrics.resources import Resources
from metrics.text.layers import describe_layers
from models.arrays import pack
from models.base import BLOCK_SEGMENTS
from models.claims import ClaimedShard, ShardRow
from models.protocol import Measurement
from models.text import LayerBlock, TextBlock

if TYPE_CHECKING:
    from metrics.base import Metric

LARGEST_TRAVELLING = 16
"""Blocks in a shard beyond which it makes its part of the replicates itself.

Below, its statistics are smaller than its replicate part: they travel, and the reducer makes the
product for all shards at once. Both ways give the same bits.
"""


@lru_cache(maxsize=256)
def known_metric(specification: str) -> Metric:
    """The metric of a specification, parsed once per process."""
    return parse_metric(specification)


def read_texts(
    connection: Connection, texts: Sequence[int], first_block: int, last_block: int, layer: str | None = None
) -> list[bytes]:
    """A run of blocks of each text, or of a layer of each: lines joined by newlines, in the order of `texts`.

    Raises MissingLayer where a text lacks the layer.
    """
    table = TextBlock if layer is None else LayerBlock
    wanted = select(table.text_id, table.content).where(
        table.text_id.in_(set(texts)), table.block >= first_block, table.block < last_block
    )
    if layer is not None:
        wanted = wanted.where(LayerBlock.layer == layer)
    rows = connection.execute(wanted.order_by(table.text_id, table.block))
    contents: dict[int, list[bytes]] = {}
    for text_id, content in rows:
        contents.setdefault(text_id, []).append(content)
    if layer is not None and not contents.keys() >= set(texts):
        raise MissingLayer(
            f"A stored text lacks the layer {describe_layers([layer])}. Evaluate it without this metric."
        )
    return [b"\n".join(contents[text]) for text in texts]


@dataclass(frozen=True)
class ShardTexts:
    """What a shard works on: references first, then the output of each of its evaluations."""

    texts: Sequence[bytes]
    layers: Mapping[str, Sequence[bytes]]
    states: Mapping[str, Any] = field(default_factory=dict)
    """What its metrics know of all references (`worker.preparing`)."""


def read_shard(connection: Connection, claim: ClaimedShard, measurement: Measurement) -> ShardTexts:
    """The texts of a shard, and the layers that its metrics need. Raises MissingLayer."""
    wanted = {layer for specification in measurement.metrics for layer in known_metric(specification).layers}
    ids = (*measurement.reference_texts, *claim.texts)
    blocks = claim.first_block, claim.last_block
    return ShardTexts(
        read_texts(connection, ids, *blocks),
        {layer: read_texts(connection, ids, *blocks, layer) for layer in sorted(wanted)},
    )


def score_texts(
    claim: ClaimedShard, measurement: Measurement, shard: ShardTexts, resources: Resources
) -> list[ShardRow]:
    """The rows that a shard stores, for every evaluation and metric."""
    metrics = [known_metric(specification) for specification in measurement.metrics]
    references = len(measurement.reference_texts)
    # A text submitted twice is scored once.
    outputs = list(zip(shard.texts, *shard.layers.values(), strict=True))[references:]
    distinct = {output: number for number, output in enumerate(dict.fromkeys(outputs))}
    first_of = [*range(references), *(references + outputs.index(output) for output in distinct)]
    batch = Batch(
        shard.texts[:references],
        [output[0] for output in distinct],
        measurement.variable_references,
        layers={layer: [texts[number] for number in first_of] for layer, texts in shard.layers.items()},
        resources=resources,
        states=shard.states,
    )
    statistics = shard_statistics(batch, metrics)
    parts: list[list[bytes | None]] = [[None] * len(distinct) for _ in metrics]
    if claim.last_block - claim.first_block > LARGEST_TRAVELLING:
        first = claim.first_block * BLOCK_SEGMENTS
        counts = resampling_counts(
            measurement.segments,
            measurement.seed,
            measurement.replicates,
            first,
            first + batch.segments,
        )
        for metric, (each, resampled) in enumerate(zip(statistics, resampled_sums(counts, statistics), strict=True)):
            sums = corpus_sums(each)[:, np.newaxis, :]
            parts[metric] = [pack(part) for part in np.concatenate([sums, resampled], axis=1)]
    packed = [[pack(system) for system in each] for each in statistics]
    return [
        ShardRow(evaluation, metric, packed[metric][distinct[output]], parts[metric][distinct[output]])
        for evaluation, output in zip(claim.evaluations, outputs, strict=True)
        for metric in range(len(metrics))
    ]
