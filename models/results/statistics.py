"""Reads the stored statistics of evaluations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, select, tuple_

from models.errors import NotFound
from models.schema.base import BLOCK_SEGMENTS
from models.schema.corpus import Protocol, TestSet
from models.schema.queue import Evaluation
from models.schema.results import Score, Statistics
from models.storage.arrays import max_packed_bytes, unpack
from models.storage.blobs import content_of

BLOCKS_AT_ONCE = 512
"""Blocks whose packed statistics are fetched together, or one shard's."""

MAX_COLUMNS = 256
"""For a metric without a score that gives the number of columns."""


def read_statistics(connection: Connection, evaluations: Sequence[int], metric: int) -> NDArray[np.float64]:
    """The per-segment statistics of finished evaluations by one metric of their protocol.

    Parameters
    ----------
    metric : int
        A position in the protocol's list of metrics.

    Returns
    -------
    ndarray of float64, shape (evaluations, segments, k)

    Raises
    ------
    NotFound
        If an evaluation has no statistics.
    MissingObject
        If an object is missing from the store.
    """
    places: dict[int, list[int]] = {}
    for place, evaluation in enumerate(evaluations):
        places.setdefault(evaluation, []).append(place)
    segments = _segments(connection, evaluations[0])
    found: NDArray[np.float64] | None = None
    for evaluation, first, statistics in statistics_by_shard(connection, evaluations, metric):
        if found is None:
            # Filled in place: joining large statistics at the end would double the memory.
            found = np.full((len(evaluations), segments, statistics.shape[1]), np.nan)
        found[places[evaluation], first : first + len(statistics)] = statistics
    assert found is not None
    return found


def statistics_by_shard(
    connection: Connection, evaluations: Sequence[int], metric: int
) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """As `read_statistics`, shard by shard: (evaluation, first segment, (segments, k)), in the order of both.

    Holds one shard's statistics in memory at a time.

    Raises
    ------
    NotFound
        If an evaluation has no statistics.
    MissingObject
        If an object is missing from the store.
    """
    chosen = (Statistics.evaluation_id.in_(set(evaluations)), Statistics.metric == metric)
    keys = connection.execute(
        select(Statistics.evaluation_id, Statistics.first_block, Statistics.last_block)
        .where(*chosen)
        .order_by(Statistics.evaluation_id, Statistics.first_block)
    ).all()
    found = {row.evaluation_id for row in keys}
    for evaluation in evaluations:
        if evaluation not in found:
            raise NotFound(f"Evaluation {evaluation} has no statistics of its metric number {metric + 1}.")
    segments = _segments(connection, evaluations[0])
    shown = connection.scalar(
        select(Score.columns).where(Score.evaluation_id == evaluations[0], Score.metric == metric)
    )
    columns = None if shown is None else len(shown)
    for some in _batches(keys):
        blobs = connection.execute(
            select(
                Statistics.evaluation_id,
                Statistics.first_block,
                Statistics.last_block,
                Statistics.blob,
                Statistics.object_url,
            )
            .where(*chosen, tuple_(Statistics.evaluation_id, Statistics.first_block).in_(some))
            .order_by(Statistics.evaluation_id, Statistics.first_block)
        )
        for row in blobs.all():
            rows = min(row.last_block * BLOCK_SEGMENTS, segments) - row.first_block * BLOCK_SEGMENTS
            content = content_of(row, max_packed_bytes(rows, columns or MAX_COLUMNS))
            values = unpack(content, rows=rows, columns=columns, finite=True)
            yield row.evaluation_id, row.first_block * BLOCK_SEGMENTS, values


def _batches(keys: Sequence[Row[int, int, int]]) -> Iterator[list[tuple[int, int]]]:
    """The keys of shards, (evaluation, first block), that are fetched together."""
    some: list[tuple[int, int]] = []
    blocks = 0
    for evaluation, first, last in keys:
        blocks += last - first
        if some and blocks > BLOCKS_AT_ONCE:
            yield some
            some, blocks = [], last - first
        some.append((evaluation, first))
    if some:
        yield some


def _segments(connection: Connection, evaluation: int) -> int:
    found = connection.scalar(
        select(TestSet.segments)
        .join(Protocol, Protocol.test_set_id == TestSet.id)
        .join(Evaluation, Evaluation.protocol_id == Protocol.id)
        .where(Evaluation.id == evaluation)
    )
    return found or 0
