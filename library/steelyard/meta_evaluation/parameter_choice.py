"""Choosing one of several metrics by human judgments, and the gain of the choice on data that had no part in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.resampling.interval import percentile_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FOLDS = 5


@dataclass(frozen=True)
class Gain:
    """The gain in correlation with human judgments over a rival, on the data that is reported."""

    difference: float
    interval: tuple[float, float] | None
    """None without replicates or where one of them is undefined."""


@dataclass(frozen=True)
class HeldOutChoice:
    """Cross-fitting: every document scored with the candidate that was chosen on the documents of all other folds."""

    values: tuple[int, ...]
    """For each fold, the position of the candidate chosen without it."""
    documents: tuple[int, ...]
    """The number of documents in each fold."""
    observed: float
    """The statistic of the scores of all folds together."""
    gains: tuple[Gain, ...]
    """Over each of the rivals."""


def best_choice(observed: Floats) -> int | None:
    """The position of the best candidate, the first of equal ones.

    Parameters
    ----------
    observed : ndarray of float64, shape (candidates,)
        The statistic of each; NaN where undefined.

    Returns
    -------
    int or None
        None where the statistic is undefined for all.
    """
    return None if np.isnan(observed).all() else int(np.nanargmax(observed))


def gains_over(
    observed: Floats, replicates: Floats, chosen: int, rivals: Sequence[int], level: float
) -> tuple[Gain, ...]:
    """The gain of one metric over each rival.

    Parameters
    ----------
    observed : ndarray of float64, shape (metrics,)
        The statistic of each metric.
    replicates : ndarray of float64, shape (metrics, replicates)
        Resampled by the same draws; the choice is not repeated in them.
    chosen : int
    rivals : sequence of int
        Positions, as `chosen`.
    level : float
        Of the intervals.

    Returns
    -------
    tuple of Gain
    """
    return tuple(
        _gain(float(observed[chosen]), replicates[chosen], float(observed[rival]), replicates[rival], level)
        for rival in rivals
    )


def cross_fit(
    scores: Floats,
    candidates: int,
    rivals: Sequence[int],
    folds: Sequence[Sequence[tuple[int, int]]],
    statistic: Callable[[Floats], float],
    replicates: Callable[[Floats], Floats],
    level: float,
) -> HeldOutChoice | None:
    """A choice on one test set that is reported on held-out segments.

    A candidate is chosen on all folds but one, and that fold is scored with it. The statistic is computed on the scores
    of all folds together.

    Parameters
    ----------
    scores : ndarray of float64, shape (metrics, systems, segments)
        Of the candidates first.
    candidates : int
        How many there are.
    rivals : sequence of int
        Positions among the metrics.
    folds : sequence of sequence of (int, int)
        The documents of each, by first segment and number of segments, as of `document_folds`.
    statistic : function of (systems, segments) to float
        NaN stands for segments that are left out.
    replicates : function of (systems, segments) to ndarray of float64, shape (replicates,)
        The same statistic, resampled by the same draws at each call.
    level : float
        Of the intervals of the gains.

    Returns
    -------
    HeldOutChoice or None
        None without folds, and where nothing can be chosen.
    """
    if not folds:
        return None
    fitted = np.full(scores.shape[1:], np.nan)
    values = []
    for fold in folds:
        here = np.zeros(scores.shape[2], np.bool_)
        for first, count in fold:
            here[first : first + count] = True
        elsewhere = np.where(here, np.nan, scores[:candidates])
        best = best_choice(np.array([statistic(each) for each in elsewhere]))
        if best is None:
            return None
        values.append(best)
        fitted[:, here] = scores[best][:, here]
    inside = ~np.isnan(fitted)
    observed, resampled = statistic(fitted), replicates(fitted)
    gains = []
    for position in rivals:
        rival = np.where(inside, scores[position], np.nan)
        gains.append(_gain(observed, resampled, statistic(rival), replicates(rival), level))
    return HeldOutChoice(tuple(values), tuple(len(fold) for fold in folds), observed, tuple(gains))


def document_folds(
    documents: Sequence[tuple[int, int]], judged: NDArray[np.bool_], folds: int = FOLDS
) -> list[list[tuple[int, int]]]:
    """The documents of each fold: those with judged segments, dealt out in turn.

    Parameters
    ----------
    documents : sequence of (int, int)
        First segment and number of segments of each.
    judged : ndarray of bool, shape (segments,)
    folds : int
        At most as many as there are judged documents are used.

    Returns
    -------
    list of list of (int, int)
        Empty for fewer than two judged documents.
    """
    with_judgments = [(first, count) for first, count in documents if judged[first : first + count].any()]
    folds = min(folds, len(with_judgments))
    return [with_judgments[fold::folds] for fold in range(folds)] if folds > 1 else []


def _gain(value: float, replicates: Floats, rival: float, rival_replicates: Floats, level: float) -> Gain:
    return Gain(value - rival, percentile_interval(replicates - rival_replicates, level))
