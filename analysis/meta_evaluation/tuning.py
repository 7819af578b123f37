"""Choosing the value of a metric's parameter by human judgments, and what the choice is worth on other data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.meta_evaluation.parameter_sweep import SEGMENT
from metrics.resampling.interval import percentile_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from analysis.meta_evaluation.parameter_sweep import Agreement, Question, SweptSet
    from metrics.sweep import Sweep
    from models.results.boards import ListedBoard

    Floats = NDArray[np.float64]

FOLDS = 5


@dataclass(frozen=True)
class Gain:
    """How much better something agrees with people than a rival, on the data that it is reported on."""

    difference: float
    interval: tuple[float, float] | None
    """None without replicates or where one of them is undefined."""


@dataclass(frozen=True)
class Choice:
    """A value chosen on some data and reported on other data, or, said so, on the same."""

    chosen_on: Agreement
    reported_on: Agreement
    value: int
    """Position in `Sweep.values`."""
    best: int
    """Of the value that would have been the best where it is reported."""
    gains: tuple[Gain, ...]
    """Over each of `Sweep.rivals`."""

    @property
    def same_data(self) -> bool:
        """Whether it was chosen on the very data that it is reported on: then it flatters."""
        return self.chosen_on is self.reported_on


def chosen(sweep: Sweep, observed: Floats) -> int | None:
    """The value that agrees best, the first of several; None where the statistic is undefined for all.

    `observed` is the statistic of each of `Sweep.every`.
    """
    of_values = observed[: len(sweep.metrics)]
    return None if np.isnan(of_values).all() else int(np.nanargmax(of_values))


def transferred(sweep: Sweep, chosen_on: Agreement, reported_on: Agreement, level: float) -> Choice | None:
    """The value chosen on one test set, with what it gains over each rival on another.

    The intervals are those of the gain of this very value: replicates do not choose again. None where nothing can be
    chosen.
    """
    value, best = chosen(sweep, chosen_on.observed), chosen(sweep, reported_on.observed)
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
    """Where the rivals stand in `Sweep.every`."""
    return [sweep.every.index(rival) for rival in sweep.rivals]


@dataclass(frozen=True)
class CrossFit:
    """Every document measured with the value that was chosen on the documents of all other folds."""

    listed: ListedBoard
    question: Question
    values: tuple[int, ...]
    """For each fold, the position in `Sweep.values` of what was chosen without it."""
    documents: tuple[int, ...]
    """How many each fold has."""
    observed: float
    gains: tuple[Gain, ...]


def cross_fitted(
    sweep: Sweep, swept: SweptSet, question: Question, level: float, folds: int = FOLDS
) -> CrossFit | None:
    """A choice on one test set whose report is of segments that had no part in it.

    At the segment level only: the documents that people judged are dealt out over the folds in turn, a value is chosen
    on all folds but one, and the scores of that one are made with it. The statistic is that of all these scores
    together. None where there are no two such documents, or nothing can be chosen.
    """
    judged = np.asarray((~np.isnan(swept.judged.human_segments)).any(axis=0))
    dealt = document_folds(swept.documents, judged, folds)
    if not dealt or question.level != SEGMENT:
        return None
    value, replicates = swept.segment_measure(question)
    everywhere = np.stack([metric.segments for metric in swept.judged.metrics])
    fitted = np.full(everywhere[0].shape, np.nan)
    values = []
    for fold in dealt:
        here = np.zeros(fitted.shape[1], np.bool_)
        for document in fold:
            first, count = swept.documents[document]
            here[first : first + count] = True
        elsewhere = np.where(here, np.nan, everywhere)
        best = chosen(sweep, np.array([value(scores) for scores in elsewhere[: len(sweep.metrics)]]))
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
    sizes = tuple(len(fold) for fold in dealt)
    return CrossFit(swept.listed, question, tuple(values), sizes, observed, tuple(gains))


def document_folds(
    documents: Sequence[tuple[int, int]], judged: NDArray[np.bool_], folds: int = FOLDS
) -> list[list[int]]:
    """The numbers of the documents of each fold: those with judged segments, dealt out in turn.

    `documents` are (first segment, segments), `judged` (segments,). There are fewer folds where there are not as many
    documents, and none where there is only one.
    """
    with_judgments = [number for number, (first, count) in enumerate(documents) if judged[first : first + count].any()]
    folds = min(folds, len(with_judgments))
    return [with_judgments[fold::folds] for fold in range(folds)] if folds > 1 else []


def _gain(value: float, replicates: Floats, rival: float, rival_replicates: Floats, level: float) -> Gain:
    return Gain(value - rival, percentile_interval(replicates - rival_replicates, level))


@dataclass(frozen=True)
class Tuned:
    """All that one sweep showed."""

    label: str
    """What makes it different from other sweeps shown with it, such as "vectors=cbow"; "" for the only one."""
    sweep: Sweep
    agreements: tuple[Agreement, ...]
    choices: tuple[Choice, ...]
    cross_fits: tuple[CrossFit, ...]
