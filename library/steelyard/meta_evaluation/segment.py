"""Agreement of segment scores with human scores of the same segments.

Like a metric, most statistics are promises about sums: each segment gives a few numbers, and the statistic is a formula
of their sums. A bootstrap replicate of the segments is another sum of the same rows. Numbers are added in the order of
the segments, so that the last digit is the same everywhere.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.ranking.kendall import dense_ranks, tau_b
from steelyard.kernels.ranking.rank_sums import rank_sums
from steelyard.meta_evaluation.exchanged_moments import ExchangedMoments
from steelyard.meta_evaluation.pairs import count_pairs
from steelyard.meta_evaluation.segment_statistic import (
    SegmentStatistic,
    SumStatistic,
    drawn_sums,
    exchanged_one_by_one,
    once_each,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    from steelyard.kernels.resampling.resampling import Counts


@dataclass(frozen=True)
class PooledPearson(SumStatistic):
    """Pearson's r over all cells, whichever segment and system they are of."""

    def terms(self, human: Floats, metric: Floats) -> Floats:
        """What the formula sums up."""
        moments: Floats = _moments(*_standardised(human, metric)).sum(0)
        return moments

    def formula(self, sums: Floats) -> Floats:
        """Made of the sums."""
        return _pearson_of_moments(sums)

    def counted(self, human: Floats, metric: Floats) -> int:
        """All cells."""
        return int(_cells(human, metric).sum())

    def exchanged(self, human: Floats, first: Floats, second: Floats) -> Callable[[NDArray[np.bool_]], Floats]:
        """As for every statistic, from sums over the cells that are exchanged."""
        return _exchanged_pearson(self, human, first, second, by_system=False)


@dataclass(frozen=True)
class PearsonBySystem(SumStatistic):
    """The mean over the systems of Pearson's r among the segments of one; without systems where a side is constant."""

    def terms(self, human: Floats, metric: Floats) -> Floats:
        """What the formula sums up."""
        moments = _moments(*_standardised(human, metric, by_system=True))
        return moments.transpose(1, 0, 2).reshape(human.shape[1], -1)

    def formula(self, sums: Floats) -> Floats:
        """Made of the sums."""
        of_systems = _pearson_of_moments(sums.reshape(*sums.shape[:-1], sums.shape[-1] // 6, 6))
        return _mean_of_known(of_systems)

    def counted(self, human: Floats, metric: Floats) -> int:
        """The systems where it is defined."""
        sums = drawn_sums(once_each(human.shape[1]), self.terms(human, metric))
        return int((~np.isnan(_pearson_of_moments(sums.reshape(-1, 6)))).sum())

    def exchanged(self, human: Floats, first: Floats, second: Floats) -> Callable[[NDArray[np.bool_]], Floats]:
        """As for every statistic, from sums over the cells of each system that are exchanged."""
        return _exchanged_pearson(self, human, first, second, by_system=True)


@dataclass(frozen=True)
class PooledKendall(SegmentStatistic):
    """Kendall's tau-b over all cells."""

    def values(self, human: Floats, metric: Floats, counts: Counts) -> Floats:
        """One for each replicate."""
        cells = _cells(human, metric)
        segment = np.broadcast_to(np.arange(human.shape[1]), human.shape)[cells]
        by_human, by_metric = dense_ranks(human[cells]), dense_ranks(metric[cells])
        order = np.argsort(by_human, kind="stable")
        by_human, by_metric, segment = by_human[order], by_metric[order], segment[order]
        if len(counts) == 1 and (counts == 1).all():
            return np.array([tau_b(by_human, by_metric)])
        times = [drawn[segment] for drawn in counts]
        return np.array([tau_b(np.repeat(by_human, each), np.repeat(by_metric, each)) for each in times])

    def exchanged(self, human: Floats, first: Floats, second: Floats) -> Callable[[NDArray[np.bool_]], Floats]:
        """As for every statistic. All scores are put in order once."""
        cells = _cells(human, first)
        by_human = dense_ranks(human[cells])
        order = np.argsort(by_human, kind="stable")
        by_human = by_human[order]
        a, b = dense_ranks(np.stack([first[cells], second[cells]]))[:, order]

        def values(swapped: NDArray[np.bool_]) -> Floats:
            found = np.empty((2, len(swapped)))
            for trial, places in enumerate(swapped):
                moved = places[cells][order]
                found[0, trial] = tau_b(by_human, np.where(moved, b, a))
                found[1, trial] = tau_b(by_human, np.where(moved, a, b))
            return found

        return values

    def counted(self, human: Floats, metric: Floats) -> int:
        """All cells."""
        return int(_cells(human, metric).sum())


class MeanOfSegments(SumStatistic):
    """The mean over those segments where it is defined."""

    @abstractmethod
    def of_segments(self, human: Floats, metric: Floats) -> Floats:
        """The value of each segment.

        Parameters
        ----------
        human, metric : ndarray of float64, shape (systems, segments)

        Returns
        -------
        ndarray of float64, shape (segments,)
            NaN where undefined.
        """

    def terms(self, human: Floats, metric: Floats) -> Floats:
        """What the formula sums up."""
        values = self.of_segments(human, metric)
        known = ~np.isnan(values)
        return np.stack([np.where(known, values, 0.0), known.astype(np.float64)], axis=-1)

    def formula(self, sums: Floats) -> Floats:
        """Made of the sums."""
        return _ratio(sums[..., 0], sums[..., 1])

    def counted(self, human: Floats, metric: Floats) -> int:
        """The segments where it is defined."""
        return int((~np.isnan(self.of_segments(human, metric))).sum())


@dataclass(frozen=True)
class KendallBySegment(MeanOfSegments):
    """Kendall's tau-b among the systems of a segment, for segments where both sides vary."""

    def of_segments(self, human: Floats, metric: Floats) -> Floats:
        """That of each."""
        pairs = count_pairs(human, metric)
        return _ratio(pairs.concordant - pairs.discordant, np.sqrt(pairs.parted_by_human * pairs.parted_by_metric))


@dataclass(frozen=True)
class SpearmanBySegment(MeanOfSegments):
    """Spearman's rho among the systems of a segment, equal scores sharing their mean rank (Kos 2008, section 3.2)."""

    def of_segments(self, human: Floats, metric: Floats) -> Floats:
        """That of each."""
        cells = _cells(human, metric)
        sums = rank_sums(*(np.where(cells, scores, np.nan) for scores in (human, metric)))
        xy, xx, yy = sums.astype(np.float64)
        return _ratio(xy, np.sqrt(xx * yy))


@dataclass(frozen=True)
class AccuracyBySegment(MeanOfSegments):
    """The share of pairs on which both sides agree, whether better, worse or equal."""

    def of_segments(self, human: Floats, metric: Floats) -> Floats:
        """That of each."""
        pairs = count_pairs(human, metric)
        return _ratio(pairs.concordant + pairs.tied_both, pairs.pairs)


@dataclass(frozen=True)
class PairKendall(SumStatistic):
    """(concordant - discordant) / pairs, of all segments together, over pairs that people do not find equal."""

    more_than: float | None = None
    """Only pairs whose human scores differ by more than this."""
    count_metric_ties: bool = True
    """Whether a pair that the metric finds equal counts below the line."""

    def terms(self, human: Floats, metric: Floats) -> Floats:
        """What the formula sums up."""
        pairs = count_pairs(human, metric, self.more_than)
        ties = pairs.tied_metric if self.count_metric_ties else 0.0
        return np.stack([pairs.concordant - pairs.discordant, pairs.concordant + pairs.discordant + ties], axis=-1)

    def formula(self, sums: Floats) -> Floats:
        """Made of the sums."""
        return _ratio(sums[..., 0], sums[..., 1])

    def counted(self, human: Floats, metric: Floats) -> int:
        """The pairs below the line."""
        return int(self.terms(human, metric)[:, 1].sum())


@dataclass(frozen=True, eq=False)
class RankingKendall(SumStatistic):
    """(concordant - discordant) / comparisons, where people put systems in order: each annotator's comparison counts.

    Comparisons that people tied are none; one that the metric ties counts below the line only.
    """

    comparisons: NDArray[np.intp] = field(default_factory=lambda: np.zeros((0, 3), np.intp))
    """(comparisons, 3): segment, the system that was ranked above, the other one."""

    def terms(self, human: Floats, metric: Floats) -> Floats:
        """What the formula sums up."""
        segment, better, worse = self.comparisons.T
        difference = metric[better, segment] - metric[worse, segment]
        signs = np.where(np.isnan(difference), 0.0, np.sign(difference))
        known = (~np.isnan(difference)).astype(np.float64)
        return np.stack([np.bincount(segment, each, minlength=human.shape[1]) for each in (signs, known)], axis=-1)

    def formula(self, sums: Floats) -> Floats:
        """Made of the sums."""
        return _ratio(sums[..., 0], sums[..., 1])

    def counted(self, human: Floats, metric: Floats) -> int:
        """The comparisons of systems that the metric scored."""
        return int(self.terms(human, metric)[:, 1].sum())


def _cells(human: Floats, metric: Floats) -> NDArray[np.bool_]:
    cells: NDArray[np.bool_] = ~np.isnan(human) & ~np.isnan(metric)
    return cells


def _standardised(human: Floats, metric: Floats, *, by_system: bool = False) -> tuple[Floats, Floats]:
    """Both with mean 0 and variance 1 over the cells, 0 where they are constant: sums of squares keep their digits."""
    cells = _cells(human, metric)
    rows = [slice(system, system + 1) for system in range(len(human))] if by_system else [slice(None)]
    found = np.full((2, *human.shape), np.nan)
    for side, scores in enumerate((human, metric)):
        for row in rows:
            values = scores[row][cells[row]]
            if not len(values):
                continue
            mean = math.fsum(values.tolist()) / len(values)
            centred = values - mean
            spread = math.sqrt(math.fsum((centred**2).tolist()) / len(values))
            constant = values.min() == values.max()
            found[side][row][cells[row]] = 0.0 if constant else centred / spread
    return found[0], found[1]


def _moments(x: Floats, y: Floats) -> Floats:
    """Of each cell: 1, x, y, x², y², xy; zeros where there is none: (..., 6)."""
    moments = np.stack([np.ones(x.shape), x, y, x * x, y * y, x * y], axis=-1)
    return np.where(np.isnan(x)[..., None], 0.0, moments)


def _exchanged_pearson(
    statistic: PooledPearson | PearsonBySystem, human: Floats, first: Floats, second: Floats, *, by_system: bool
) -> Callable[[NDArray[np.bool_]], Floats]:
    cells = _cells(human, first)
    x, _ = _standardised(human, first, by_system=by_system)
    parts = (
        [np.arange(len(human)) == system for system in range(len(human))] if by_system else [np.full(len(human), True)]
    )
    chosen = [cells & part[:, np.newaxis] for part in parts]
    moments = [ExchangedMoments(x[part], first[part], second[part]) for part in chosen]
    plain = exchanged_one_by_one(statistic, human, first, second)

    def values(swapped: NDArray[np.bool_]) -> Floats:
        sums = [each.of_trials(swapped[:, part]) for each, part in zip(moments, chosen, strict=True)]
        found = statistic.formula(np.concatenate(sums, axis=-1))
        steep = [each.steep(own) for each, own in zip(moments, sums, strict=True)]
        (again,) = np.nonzero(np.any(steep, axis=(0, 1)))
        if len(again):
            found[:, again] = plain(swapped[again])
        return found

    return values


def _pearson_of_moments(sums: Floats) -> Floats:
    """Pearson's r from sums of moments of standardised numbers: (..., 6) -> (...)."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    x_spread, y_spread = n * xx - x * x, n * yy - y * y
    # Numbers that are all the same leave a variance of about 2^-50 by rounding.
    varies = (np.minimum(x_spread, y_spread) > n * n * 2.0**-40) & (n > 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (n * xy - x * y) / np.sqrt(x_spread * y_spread)
    return np.where(varies, r.clip(-1.0, 1.0), np.nan)


def _ratio(above: Floats, below: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def _mean_of_known(values: Floats) -> Floats:
    """The mean over the last axis without NaN, added from first to last; NaN where there is nothing."""
    from steelyard.numerics.deterministic import total

    known = ~np.isnan(values)
    return _ratio(total(np.where(known, values, 0.0)), known.sum(-1).astype(np.float64))
