"""Choosing the value of a metric's parameter by human judgments of stored test sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.meta_evaluation import parameter_choice
from steelyard.meta_evaluation.correlation import SEGMENT
from steelyard.meta_evaluation.parameter_choice import FOLDS, best_choice, document_folds, gains_over

if TYPE_CHECKING:
    from analysis.meta_evaluation.parameter_sweep import SweepCorrelation, SweepOptions, SweepResult
    from models.results.boards import BoardSummary
    from steelyard.meta_evaluation.parameter_choice import Gain, HeldOutChoice
    from steelyard.meta_evaluation.sweep import Sweep


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


@dataclass(frozen=True)
class CrossFit:
    """A value chosen on each part of one test set and reported on the rest of it."""

    listed: BoardSummary
    question: SweepOptions
    choice: HeldOutChoice
    """Its values are positions in `Sweep.values`, its gains over each of `Sweep.rivals`."""


@dataclass(frozen=True)
class Tuned:
    """The results of one sweep."""

    label: str
    """The difference from other sweeps shown with it, such as "vectors=cbow"; "" for a single sweep."""
    sweep: Sweep
    agreements: tuple[SweepCorrelation, ...]
    choices: tuple[Choice, ...]
    cross_fits: tuple[CrossFit, ...]


def best_value(sweep: Sweep, agreement: SweepCorrelation) -> int | None:
    """The position in `Sweep.values` of the best value, the first of equal ones; None where all are undefined."""
    return best_choice(agreement.observed[: len(sweep.metrics)])


def transfer_choice(
    sweep: Sweep, chosen_on: SweepCorrelation, reported_on: SweepCorrelation, level: float
) -> Choice | None:
    """The value chosen on one test set, with its gain over each rival on another.

    The intervals are those of the gain of the chosen value: replicates do not repeat the choice. None where nothing
    can be chosen.
    """
    value, best = best_value(sweep, chosen_on), best_value(sweep, reported_on)
    if value is None or best is None:
        return None
    gains = gains_over(reported_on.observed, reported_on.replicates, value, rival_positions(sweep), level)
    return Choice(chosen_on, reported_on, value, best, gains)


def rival_positions(sweep: Sweep) -> list[int]:
    """The positions of the rivals in `Sweep.every`."""
    return [sweep.every.index(rival) for rival in sweep.rivals]


def cross_fit(
    sweep: Sweep, swept: SweepResult, question: SweepOptions, level: float, folds: int = FOLDS
) -> CrossFit | None:
    """A choice on one test set that is reported on held-out segments, at the segment level only.

    None with fewer than two judged documents, or where nothing can be chosen.
    """
    if question.level != SEGMENT:
        return None
    judged = np.asarray((~np.isnan(swept.judged.human_segments)).any(axis=0))
    of_folds = document_folds(swept.documents, judged, folds)
    if not of_folds:
        return None
    value, replicates = swept.segment_measure(question)
    scores = np.stack([metric.segments for metric in swept.judged.metrics])
    choice = parameter_choice.cross_fit(
        scores, len(sweep.metrics), rival_positions(sweep), of_folds, value, replicates, level
    )
    return None if choice is None else CrossFit(swept.listed, question, choice)
