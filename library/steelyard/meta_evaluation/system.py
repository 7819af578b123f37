"""Agreement of two lists of system scores; thousands of replicates in one call, the same bits on every machine.

All functions take scores (..., systems), of people and of a metric, and how often each system counts (..., systems),
once each unless given; they return (...). NaN where a score is NaN or where one side does not vary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.numerics.deterministic import total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.float64] | NDArray[np.integer] | None


def pearson(human: Floats, metric: Floats, counts: Counts = None) -> Floats:
    """Pearson's r.

    It is not SciPy's, whose last digits depend on the processor.

    Parameters
    ----------
    human, metric : ndarray of float64, shape (systems,)
    counts : ndarray of integers, shape (B, systems), optional
        How often each replicate draws each system.

    Returns
    -------
    ndarray of float64, shape (B,), or () without counts
        NaN where undefined.
    """
    weights = _weights(human, counts)
    if not human.shape[-1]:
        return np.full(np.broadcast_shapes(human.shape, metric.shape, weights.shape)[:-1], np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = _deviations(human, weights), _deviations(metric, weights)
        spread = np.sqrt(total(weights * x * x)) * np.sqrt(total(weights * y * y))
        found: Floats = np.where(
            _varies(human, weights) & _varies(metric, weights), total(weights * x * y) / spread, np.nan
        )
    return found.clip(-1.0, 1.0)


def spearman(human: Floats, metric: Floats, counts: Counts = None) -> Floats:
    """Spearman's rho: Pearson's r of ranks; equal scores share the mean of their ranks.

    Parameters
    ----------
    human, metric : ndarray of float64, shape (systems,)
    counts : ndarray of integers, shape (B, systems), optional
        How often each replicate draws each system.

    Returns
    -------
    ndarray of float64, shape (B,), or () without counts
        NaN where undefined.
    """
    weights = _weights(human, counts)
    return pearson(_ranks(human, weights), _ranks(metric, weights), weights)


def kendall_tau_b(human: Floats, metric: Floats, counts: Counts = None) -> Floats:
    """Kendall's tau-b (1945): (concordant - discordant) / sqrt(pairs untied for people x pairs untied for the metric).

    Parameters
    ----------
    human, metric : ndarray of float64, shape (systems,)
    counts : ndarray of integers, shape (B, systems), optional
        How often each replicate draws each system.

    Returns
    -------
    ndarray of float64, shape (B,), or () without counts
        NaN where undefined.
    """
    weights, by_human, by_metric = _pairs(human, metric, counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        parted = (weights * by_human**2).sum(-1) * (weights * by_metric**2).sum(-1)
        found: Floats = (weights * by_human * by_metric).sum(-1) / np.sqrt(parted)
    return found


def pairwise_accuracy(human: Floats, metric: Floats, counts: Counts = None) -> Floats:
    """The share of pairs of systems that the metric orders as people do (Kocmi et al. 2021, section 4).

    A pair that both sides find equal is agreed on; one that only one side finds equal is not.

    Parameters
    ----------
    human, metric : ndarray of float64, shape (systems,)
    counts : ndarray of integers, shape (B, systems), optional
        How often each replicate draws each system.

    Returns
    -------
    ndarray of float64, shape (B,), or () without counts
        NaN without a pair.
    """
    weights, by_human, by_metric = _pairs(human, metric, counts)
    agreed = np.where(np.isnan(by_human * by_metric), np.nan, by_human == by_metric)
    with np.errstate(invalid="ignore"):
        found: Floats = (weights * agreed).sum(-1) / weights.sum(-1)
    return found


def better_or_equal_share(human_segments: Floats) -> Floats:
    """Of each system, the share of comparisons in which it is better than or equal to another.

    A comparison is two systems with scores in the same segment (Callison-Burch et al. 2007, section 4).

    Parameters
    ----------
    human_segments : ndarray of float64, shape (systems, segments)
        NaN where nobody judged.

    Returns
    -------
    ndarray of float64, shape (systems,)
        NaN for a system that was compared with none.
    """
    shares = np.full(len(human_segments), np.nan)
    for system, scores in enumerate(human_segments):
        others = np.delete(human_segments, system, axis=0)
        compared = ~np.isnan(others) & ~np.isnan(scores)
        if compared.any():
            shares[system] = (compared & (scores >= others)).sum() / compared.sum()
    return shares


def _weights(scores: Floats, counts: Counts) -> Floats:
    return np.ones(scores.shape) if counts is None else np.asarray(counts, np.float64)


def _deviations(scores: Floats, weights: Floats) -> Floats:
    """Distances from the mean, as parts of the largest one: their squares neither vanish nor overflow."""
    distances = scores - (total(weights * scores) / total(weights))[..., None]
    parts: Floats = distances / np.abs(np.where(weights > 0, distances, 0.0)).max(-1, keepdims=True)
    return parts


def _varies(scores: Floats, weights: Floats) -> NDArray[np.bool_]:
    """Whether the scores that count are not all the same number."""
    high = np.where(weights > 0, scores, -np.inf).max(-1, initial=-np.inf)
    low = np.where(weights > 0, scores, np.inf).min(-1, initial=np.inf)
    varies: NDArray[np.bool_] = high > low
    return varies


def _ranks(scores: Floats, weights: Floats) -> Floats:
    """Ranks from 1, as `scipy.stats.rankdata` gives them where each score is written down as often as it counts."""
    below = scores[..., None, :] < scores[..., :, None]
    equal = scores[..., None, :] == scores[..., :, None]
    # Sums of whole and half numbers are exact in any order.
    ranks: Floats = (weights[..., None, :] * (below + equal / 2)).sum(-1) + 0.5
    return np.where(np.isnan(scores), np.nan, ranks)


def _pairs(human: Floats, metric: Floats, counts: Counts) -> tuple[Floats, Floats, Floats]:
    """How often each pair of different systems counts, and who is better: 1, 0 or -1 by people, and by the metric."""
    weights = _weights(human, counts)
    first, second = np.triu_indices(human.shape[-1], 1)
    signs = [np.sign(scores[..., first] - scores[..., second]) for scores in (human, metric)]
    return weights[..., first] * weights[..., second], signs[0], signs[1]
