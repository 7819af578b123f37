"""What a change point of a series of scores means: the levels on both sides, and whether it was reported before."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.resampling.bootstrap_p import bootstrap_p
from steelyard.resampling.interval import percentile_interval
from steelyard.resampling.runs import mean_over_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.resampling.change_points import ChangePoint

    Floats = NDArray[np.float64]

NEAR = 3
"""Maximum distance, in runs, between two dates of one change: further runs can move it."""


@dataclass(frozen=True)
class LevelChange:
    """Two successive levels of a series."""

    before: float
    """The mean score of the runs before the change."""
    after: float
    interval: tuple[float, float] | None
    """Of after minus before, over other segments like these."""
    p: float
    """Two-sided paired test of the means: whether other segments would show a difference, too; NaN where undefined."""

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True)
class Reported:
    """A change or difference that an earlier run has reported, so that it is new only once."""

    at: int
    """Position of the reporting run in the series."""
    worse: bool
    """The direction."""
    since: int | None
    """For a change, the first run of the new level; None for a difference from the baseline."""


def runs_of_levels(values: Floats, step: ChangePoint) -> tuple[list[int], list[int]]:
    """The runs with a score on the level before a change point and on that after it.

    Parameters
    ----------
    values : ndarray of float64, shape (runs,)
        The series; NaN where a run has no score.
    step : ChangePoint

    Returns
    -------
    (list of int, list of int)
        Positions in the series.
    """
    before, after = (
        [run for run in range(first, last) if not math.isnan(values[run])]
        for first, last in ((step.before, step.at), (step.at, step.after))
    )
    return before, after


def level_change(before: Floats, after: Floats, replicates: Floats, level: float) -> LevelChange:
    """The change from one level to another, over the segments that all runs share.

    Runs are averaged like runs of a system, which removes the noise of single ones.

    Parameters
    ----------
    before, after : ndarray of float64, shape (runs,)
        The scores of each level.
    replicates : ndarray of float64, shape (runs before + runs after, B)
        Drawn alike for all runs.
    level : float
        Of the interval.

    Returns
    -------
    LevelChange
    """
    means = mean_over_runs(replicates, [len(before), len(after)])
    differences = means[1] - means[0]
    levels = [math.fsum(side.tolist()) / len(side) for side in (before, after)]
    return LevelChange(
        levels[0],
        levels[1],
        percentile_interval(differences, level),
        bootstrap_p(levels[1] - levels[0], differences),
    )


def is_reported(step: ChangePoint, reports: Sequence[Reported], *, worse: bool) -> bool:
    """Whether a report is about this change: one of about that date, or a difference in the run when it began.

    Differences in other runs do not count: where outputs vary, single runs are worse now and then.

    Parameters
    ----------
    step : ChangePoint
    reports : sequence of Reported
    worse : bool
        The direction of the change.

    Returns
    -------
    bool
    """
    return any(
        report.worse == worse
        and (abs(report.at - step.at) <= 1 if report.since is None else abs(report.since - step.at) <= NEAR)
        for report in reports
    )
