"""Intervals of human scores: the bootstrap over documents of the mean over domains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.fixed_point import on_grid
from steelyard.ranking.human_rules import MACRO
from steelyard.resampling.bootstrap import drawn_segments, replicate_sums
from steelyard.resampling.interval import percentile_intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

REPLICATES = 1000


def human_intervals(
    scores: Floats,
    domains: Sequence[str],
    documents: Sequence[int],
    *,
    average: str = MACRO,
    level: float = 0.95,
    replicates: int = REPLICATES,
    seed: int = 12345,
) -> list[tuple[float, float] | None]:
    """Percentile intervals of the scores by which rules for human rankings order systems.

    Whole documents are drawn, for one annotator judges a document of a system from beginning to end. A domain of which
    no document was drawn does not count in a replicate.

    Parameters
    ----------
    scores : ndarray of float64, shape (systems, places)
        NaN where a system was not judged.
    domains : sequence of str
        Of each place.
    documents : sequence of int
        The document of each place, from 0.
    average : str
        One of `steelyard.ranking.human_rules.AVERAGES`.
    level : float
    replicates : int
    seed : int

    Returns
    -------
    list of (float, float) or None
        For each system; None where there is none.
    """
    count = max(documents, default=-1) + 1
    if count < 2:
        return [None] * len(scores)
    place, of_documents = np.array(domains), np.array(documents, np.intp)
    parts = [place == each for each in sorted(set(domains))] if average == MACRO else [np.ones(len(place), bool)]
    judged = ~np.isnan(scores)
    columns = []
    for part in parts:
        for values in (np.where(judged, on_grid(np.nan_to_num(scores)), 0.0), judged.astype(np.float64)):
            table = np.zeros((count, len(scores)))
            np.add.at(table, of_documents[part], values[:, part].T)
            columns.append(table)
    drawn = replicate_sums(drawn_segments(count, seed, replicates, 0, count), np.concatenate(columns, axis=1))
    sums, counts = drawn.reshape(replicates, len(parts), 2, len(scores)).transpose(2, 0, 1, 3)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counts > 0, sums / counts, np.nan)
        there = (counts > 0).sum(axis=1)
        found = np.where(there > 0, np.nansum(means, axis=1) / there, np.nan)
    return [None if ends is None else (float(ends[0]), float(ends[1])) for ends in percentile_intervals(found.T, level)]
