"""AutoRank: one order of systems from several metrics, by the formulas with which WMT chose systems and ranked them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter
from steelyard.numerics.deterministic import total

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

AUTORANK = "autorank"
"""What it is called where people name metrics."""

NEWEST = "wmt25"

LEAST_SPREAD = 1e-9
"""What metrics are divided by at least, where all systems from the lower quartile up are alike."""


def autorank(scores: Floats, version: str = NEWEST, weights: Sequence[float] | None = None) -> Floats:
    """The AutoRank of every system: 1 is the best; less is better.

    Parameters
    ----------
    scores : (..., metrics, systems) float64
        Of each metric such that higher is better. A system without a score by one of them is not ranked, and the
        others are ranked as if it were not there.
    version : str
        One of `VERSIONS`.
    weights : sequence of float, optional
        Of the metrics; all alike where nothing is said, as WMT has it.

    Returns
    -------
    (..., systems) float64
        NaN for a system that is not ranked.

    Raises
    ------
    BadParameter
        For another version.
    """
    if version not in VERSIONS:
        raise BadParameter(f'There is no AutoRank "{version}". Versions: {", ".join(VERSIONS)}.')
    rows = scores.reshape(-1, *scores.shape[-2:])
    ranked = ~np.asarray(np.isnan(rows).any(axis=1))
    if ranked.all():
        return VERSIONS[version](scores, weights)
    ranks = np.full(ranked.shape, np.nan)
    for row, own, among in zip(rows, ranks, ranked, strict=True):
        if among.any():
            own[among] = VERSIONS[version](row[:, among], weights)
    return ranks.reshape(*scores.shape[:-2], scores.shape[-1])


def with_extremes(p_values: Sequence[float], scored: bool, draws: int) -> list[float]:
    """P-values of the paired bootstrap by AutoRank, with one for the best against the worst, too.

    These are 1 and N in every replicate. The bootstrap gives no p-value where all differences are one, for that is what
    a single segment looks like.

    Parameters
    ----------
    p_values : sequence of float
        NaN where the bootstrap gives none.
    scored : bool
        Whether replicates have an AutoRank.
    draws : int
        The replicates.

    Returns
    -------
    list of float
    """
    return [1 / (draws + 1) if scored and math.isnan(p) else p for p in p_values]


def _wmt24(scores: Floats, weights: Sequence[float] | None) -> Floats:
    """Each metric from 1 for the best system to N + 1 for the worst, and the mean of these (WMT24's findings, 3.2).

    The findings say "between 1 and the number of systems"; the published numbers end at N + 1.
    """
    best, worst = scores.max(axis=-1, keepdims=True), scores.min(axis=-1, keepdims=True)
    scaled = 1.0 + _shares(scores - best, worst - best) * scores.shape[-1]
    return _mean(scaled, weights)


def _wmt25(scores: Floats, weights: Sequence[float] | None) -> Floats:
    """Distances from the median in spreads (best system to lower quartile), their mean, and that from 1 to N."""
    ordered = np.sort(scores, axis=-1)
    median = _percentile(ordered, 0.5)
    spread = np.maximum(ordered[..., -1:] - _percentile(ordered, 0.25), LEAST_SPREAD)
    mean = _mean((scores - median) / spread, weights)
    best, worst = mean.max(axis=-1, keepdims=True), mean.min(axis=-1, keepdims=True)
    ranks: Floats = 1.0 + _shares(best - mean, best - worst) * (scores.shape[-1] - 1)
    return ranks


VERSIONS: dict[str, Callable[[Floats, Sequence[float] | None], Floats]] = {"wmt24": _wmt24, "wmt25": _wmt25}


def _mean(scaled: Floats, weights: Sequence[float] | None) -> Floats:
    """Over the metrics, (..., metrics, systems) to (..., systems)."""
    if weights is None:
        plain: Floats = total(np.swapaxes(scaled, -1, -2)) / scaled.shape[-2]
        return plain
    shares = np.asarray(weights, np.float64)
    mean: Floats = total(np.swapaxes(scaled, -1, -2) * shares) / total(shares)
    return mean


def _shares(parts: Floats, wholes: Floats) -> Floats:
    """Quotients; 0 where all systems are alike."""
    return np.divide(parts, wholes, out=np.zeros_like(parts), where=wholes != 0)


def _percentile(ordered: Floats, share: float) -> Floats:
    """Of sorted values (..., systems), linear between two of them: (..., 1)."""
    position = share * (ordered.shape[-1] - 1)
    low = int(position)
    high = min(low + 1, ordered.shape[-1] - 1)
    below, above = ordered[..., low : low + 1], ordered[..., high : high + 1]
    between: Floats = below + (above - below) * (position - low)
    return between
