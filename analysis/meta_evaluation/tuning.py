"""Choosing the value of a metric's parameter by human judgments, and the gain of the choice on other data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.meta_evaluation.correlation import SEGMENT
from steelyard.resampling.interval import percentile_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from analysis.meta_evaluation.parameter_sweep import SweepCorrelation, SweepOptions, SweepResult
    from models.results.boards import BoardSummary
    from steelyard.metrics.sweep import Sweep

    Floats = NDArray[np.float64]

FOLDS = 5


@dataclass(frozen=True)
class Gain:
    """The gain in correlation with human judgments over a rival, on the data that is reported."""

    difference: float
    interval: tuple[float, float] | None
    """None without replicates or where one of them is undefined."""


@dataclass(frozen=True)
class Choice:
    """A value chosen on one test set and reported on another, or on the same (`same_data`)."""

    chosen_on: SweepCorrelation
    reported_on: SweepCorrelation
    value: int
    """Position in `Sweep.values`."""
    best: int
    """Position of the best value on the reported data."""
    gains: tuple[Gain, ...]
    """Over each of `Sweep.rivals`."""

    @property
    def same_data(self) -> bool:
        """Whether it is reported on the data that it was chosen on, which overestimates the gain."""
        return self.chosen_on is self.reported_on


def best_choice(sweep: Sweep, observed: Floats) -> int | None:
    """The position of the best value, the first of equal ones.

    Parameters
    ----------
    observed : ndarray of float64, shape (metrics,)
        The statistic of each of `Sweep.every`.

    Returns
    -------
    int or None
        None where the statistic is undefined for all.
    """
    of_values = observed[: len(sweep.metrics)]
    return None if np.isnan(of_values).all() else int(np.nanargmax(of_values))


def transfer_choice(
    sweep: Sweep, chosen_on: SweepCorrelation, reported_on: SweepCorrelation, level: float
) -> Choice | None:
    """The value chosen on one test set, with its gain over each rival on another.

    The intervals are those of the gain of the chosen value: replicates do not repeat the choice. None where nothing
    can be chosen.
    """
    value, best = best_choice(sweep, chosen_on.observed), best_choice(sweep, reported_on.observed)
    if value is None or best is None:
        return None
    gains = [
        _gain(
            float(reported_on.observed[value]),
            reported_on.replicates[value],
            float(reported_on.observed[rival]),
            reported_on.replicates[rival],
            level,
        )
        for rival in rival_positions(sweep)
    ]
    return Choice(chosen_on, reported_on, value, best, tuple(gains))


def rival_positions(sweep: Sweep) -> list[int]:
    """The positions of the rivals in `Sweep.every`."""
    return [sweep.every.index(rival) for rival in sweep.rivals]


@dataclass(frozen=True)
class CrossFit:
    """Cross-fitting: every document scored with the value that was chosen on the documents of all other folds."""

    listed: BoardSummary
    question: SweepOptions
    values: tuple[int, ...]
    """For each fold, the position in `Sweep.values` of the value chosen without it."""
    documents: tuple[int, ...]
    """The number of documents in each fold."""
    observed: float
    gains: tuple[Gain, ...]


def cross_fit(
    sweep: Sweep, swept: SweepResult, question: SweepOptions, level: float, folds: int = FOLDS
) -> CrossFit | None:
    """A choice on one test set that is reported on held-out segments.

    At the segment level only: the judged documents are dealt out over the folds in turn, a value is chosen on all folds
    but one, and that fold is scored with it. The statistic is computed on the scores of all folds together. None with
    fewer than two judged documents, or where nothing can be chosen.
    """
    judged = np.asarray((~np.isnan(swept.judged.human_segments)).any(axis=0))
    document_groups = document_folds(swept.documents, judged, folds)
    if not document_groups or question.level != SEGMENT:
        return None
    value, replicates = swept.segment_measure(question)
    everywhere = np.stack([metric.segments for metric in swept.judged.metrics])
    fitted = np.full(everywhere[0].shape, np.nan)
    values = []
    for fold in document_groups:
        here = np.zeros(fitted.shape[1], np.bool_)
        for document in fold:
            first, count = swept.documents[document]
            here[first : first + count] = True
        elsewhere = np.where(here, np.nan, everywhere)
        best = best_choice(sweep, np.array([value(scores) for scores in elsewhere[: len(sweep.metrics)]]))
        if best is None:
            return None
        values.append(best)
        fitted[:, here] = everywhere[best][:, here]
    inside = ~np.isnan(fitted)
    observed, resampled = value(fitted), replicates(fitted)
    gains = []
    for position in rival_positions(sweep):
        rival = np.where(inside, everywhere[position], np.nan)
        gains.append(_gain(observed, resampled, value(rival), replicates(rival), level))
    sizes = tuple(len(fold) for fold in document_groups)
    return CrossFit(swept.listed, question, tuple(values), sizes, observed, tuple(gains))


def document_folds(
    documents: Sequence[tuple[int, int]], judged: NDArray[np.bool_], folds: int = FOLDS
) -> list[list[int]]:
    """The numbers of the documents in each fold: those with judged segments, dealt out in turn.

    Parameters
    ----------
    documents : sequence of (int, int)
        First segment and number of segments of each.
    judged : ndarray of bool, shape (segments,)
    folds : int
        At most as many as there are judged documents are used.

    Returns
    -------
    list of list of int
        Empty for fewer than two judged documents.
    """
    with_judgments = [number for number, (first, count) in enumerate(documents) if judged[first : first + count].any()]
    folds = min(folds, len(with_judgments))
    return [with_judgments[fold::folds] for fold in range(folds)] if folds > 1 else []


def _gain(value: float, replicates: Floats, rival: float, rival_replicates: Floats, level: float) -> Gain:
    return Gain(value - rival, percentile_interval(replicates - rival_replicates, level))


@dataclass(frozen=True)
class Tuned:
    """The results of one sweep."""

    label: str
    """The difference from other sweeps shown with it, such as "vectors=cbow"; "" for a single sweep."""
    sweep: Sweep
    agreements: tuple[SweepCorrelation, ...]
    choices: tuple[Choice, ...]
    cross_fits: tuple[CrossFit, ...]
