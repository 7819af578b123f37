"""Several runs of one system: the same method trained or tuned again, whose scores differ by chance of their own.

Clark, Dyer, Lavie and Smith 2011, "Better hypothesis testing for statistical machine translation: controlling for
optimizer instability". Outputs stand in one list, all runs of a system side by side; `runs` says how many each has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RunSpread:
    """A system's score and what makes it vary."""

    runs: int
    score: float
    """The mean of the runs' scores."""
    selection: float
    """s_sel: standard deviation of the score over other test sets like this one, the mean of the runs'."""
    optimization: float
    """s_opt: standard deviation of the score from run to run (runs - 1); NaN where there is one run."""

    @property
    def overall(self) -> float:
        """Standard deviation of the score of one more run on one more test set; NaN where there is one run."""
        return math.sqrt(self.selection * self.selection + self.optimization * self.optimization)

    @property
    def share_of_runs(self) -> float:
        """Which part of the variance lies between runs, 0 to 1; NaN where there is one run, or no variance."""
        if not self.overall:
            return math.nan
        share = self.optimization / self.overall
        return share * share


def run_spread(run_scores: Floats, replicate_scores: Floats) -> RunSpread:
    """The spread of one system's runs.

    Parameters
    ----------
    run_scores : ndarray of float64, shape (runs,)
    replicate_scores : ndarray of float64, shape (runs, B)

    Returns
    -------
    RunSpread
        NaN without replicates.
    """
    runs = len(run_scores)
    selection = [standard_deviation(replicates) for replicates in replicate_scores]
    return RunSpread(
        runs, math.fsum(run_scores.tolist()) / runs, math.fsum(selection) / runs, standard_deviation(run_scores)
    )


def standard_deviation(values: Floats) -> float:
    """The sample standard deviation, with n - 1.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)

    Returns
    -------
    float
        NaN of fewer than two values and where one is NaN.
    """
    count = len(values)
    if count < 2:
        return math.nan
    mean = math.fsum(values.tolist()) / count
    return math.sqrt(math.fsum(((values - mean) ** 2).tolist()) / (count - 1))


def rows_of_systems(outputs: int, runs: Sequence[int] | None) -> list[range]:
    """The rows of each system in a list of outputs.

    Parameters
    ----------
    outputs : int
    runs : sequence of int or None
        The number of runs of each system, which stand side by side; None for one each.

    Returns
    -------
    list of range

    Raises
    ------
    BadParameter
        Where the runs are not as many as the outputs, or a system has none.
    """
    if runs is None:
        return [range(row, row + 1) for row in range(outputs)]
    if sum(runs) != outputs or min(runs, default=1) < 1:
        raise BadParameter(f"{outputs} outputs cannot be {' + '.join(map(str, runs)) or 'no'} runs of systems.")
    ends = np.cumsum(runs).tolist()
    return [range(end - count, end) for end, count in zip(ends, runs, strict=True)]


def mean_over_runs(values: Floats, runs: Sequence[int] | None) -> Floats:
    """Means over each system's runs, the same to the bit in any order of the runs.

    Parameters
    ----------
    values : ndarray of float64, shape (outputs, ...)
    runs : sequence of int or None
        The number of runs of each system, which stand side by side; None for one each.

    Returns
    -------
    ndarray of float64, shape (systems, ...)

    Raises
    ------
    BadParameter
        Where the runs are not as many as the outputs.
    """
    systems = rows_of_systems(len(values), runs)
    if len(systems) == len(values):
        return values
    means = np.empty((len(systems), *values.shape[1:]))
    for system, rows in enumerate(systems):
        columns = values[rows.start : rows.stop].reshape(len(rows), -1).T.tolist()
        means[system] = np.reshape([math.fsum(column) for column in columns], values.shape[1:]) / len(rows)
    return means
