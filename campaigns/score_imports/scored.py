"""Scores of one metric, matched with the systems and segments of a test set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from campaigns.errors import BadRequest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.formats.scores.score_tables import MetricTable
    from steelyard.metrics.without_texts.imported import Imported

    Floats = NDArray[np.float64]

LARGEST_SUM = 2.0**29
"""Of draws of one system's scores: sums are exact below it (2^53 steps of 2^-24)."""


class ScoredSystems:
    """The scores of a metric.

    Parameters
    ----------
    table : MetricTable
    places : sequence of int or None
        The segment of each unit; None for one that the test set lacks.
    rows : mapping of str to int
        The row of each system of the campaign in the table.

    Raises
    ------
    BadRequest
        For scores that are too large to be added exactly.
    """

    def __init__(self, table: MetricTable, places: Sequence[int | None], rows: Mapping[str, int]) -> None:
        self.table = table
        self.rows = rows
        known = [number for number, place in enumerate(places) if place is not None]
        self.places = [place for place in places if place is not None]
        self.scores = table.scores[np.ix_(list(rows.values()), known)]
        """(systems, units that the test set has)."""
        largest = float(np.abs(np.nan_to_num(self.scores)).max(initial=0.0))
        if largest * max(len(known), 1) >= LARGEST_SUM:
            raise BadRequest(
                f"A score by {table.name} is {largest:g}. Sums of {len(known):,} such scores would not be exact: "
                "scale them."
            )

    @property
    def systems(self) -> int:
        """How many have a score."""
        return int((~np.isnan(self.scores)).any(axis=1).sum())

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the scores and of all that says what they are of, whatever the order of systems in the files."""
        names = list(self.rows)
        order = sorted(range(len(names)), key=names.__getitem__)
        described = [self.table.level, self.table.higher_is_better, [names[each] for each in order], self.places]
        digest = hashlib.sha256(json.dumps(described).encode())
        # One NaN, and no negative zero.
        clean = np.where(np.isnan(self.scores), np.nan, self.scores + 0.0)
        digest.update(np.ascontiguousarray(clean[order], dtype="<f8").tobytes())
        return digest.hexdigest()

    def statistics(self, metric: Imported, segments: int) -> Iterator[tuple[str, Floats]]:
        """The statistics of each system that has a score, over all segments of the test set."""
        for system, scores in zip(self.rows, self.scores, strict=True):
            if not np.isnan(scores).all():
                yield system, metric.statistics(scores, self.places, segments)
