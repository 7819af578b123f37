"""Shards: from the texts of some blocks to statistics that can be added up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection, select

from metrics import parse_metric
from metrics.batch import Batch
from metrics.measure import corpus_sums, resampled_sums, shard_statistics
from metrics.resampling.bootstrap import resampling_counts
from models.arrays import pack
from models.base import BLOCK_SEGMENTS
from models.claims import ClaimedShard, ShardRow
from models.protocol import Measurement
from models.text import TextBlock

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


def read_texts(connection: Connection, texts: Sequence[int], first_block: int, last_block: int) -> list[bytes]:
    """A run of blocks of each text: lines joined by newlines, in the order of `texts`."""
    rows = connection.execute(
        select(TextBlock.text_id, TextBlock.content)
        .where(
            TextBlock.text_id.in_(set(texts)),
            TextBlock.block >= first_block,
            TextBlock.block < last_block,
        )
        .order_by(TextBlock.text_id, TextBlock.block)
    )
    contents: dict[int, list[bytes]] = {}
    for text_id, content in rows:
        contents.setdefault(text_id, []).append(content)
    return [b"\n".join(contents[text]) for text in texts]


def score_texts(
    claim: ClaimedShard, measurement: Measurement, references: Sequence[bytes], systems: Sequence[bytes]
) -> list[ShardRow]:
    """The rows that a shard stores, for every evaluation and metric."""
    metrics = [known_metric(specification) for specification in measurement.metrics]
    # A text submitted twice is scored once.
    distinct = list(dict.fromkeys(systems))
    position = {text: number for number, text in enumerate(distinct)}
    batch = Batch(references, distinct, measurement.variable_references)
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
        ShardRow(evaluation, metric, packed[metric][position[text]], parts[metric][position[text]])
        for evaluation, text in zip(claim.evaluations, systems, strict=True)
        for metric in range(len(metrics))
    ]
