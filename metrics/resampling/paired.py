"""Paired tests: whether one system really did better than another on a test set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metrics.errors import BadParameter
from metrics.resampling.correction import corrected
from metrics.resampling.interval import interval
from metrics.resampling.jackknife import leave_one_out
from metrics.resampling.randomization import TRIALS, exceedances, randomization_p
from metrics.resampling.runs import mean_over_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from metrics.measure import Measurement

    Floats = NDArray[np.float64]

TESTS = ("bootstrap", "randomization")
TITLES_OF_TESTS = {"bootstrap": "paired bootstrap", "randomization": "paired approximate randomization"}
"""As sentences call them."""

FEW_SEGMENTS = 50
"""With fewer the bootstrap, which is approximate, finds clearly more false differences than it promises."""


@dataclass(frozen=True)
class PairedResult:
    """System b against system a by one metric; systems and metric are positions in their lists."""

    a: int
    b: int
    metric: int
    difference: float
    """Score of b minus score of a."""
    p: float
    """Two-sided; NaN where a score is undefined."""
    p_corrected: float = math.nan
    """For all pairs that were tested by this metric; NaN where p is."""
    interval: tuple[float, float] | None = None
    """Of the difference."""


def pairs_to_test(systems: int, baseline: int | None) -> list[tuple[int, int]]:
    """Every other system against the baseline, or all pairs (a before b) where there is none."""
    if baseline is None:
        return [(a, b) for a in range(systems) for b in range(a + 1, systems)]
    return [(baseline, b) for b in range(systems) if b != baseline]


def paired_bootstrap(
    measurements: Sequence[Measurement],
    baseline: int | None = 0,
    *,
    runs: Sequence[int] | None = None,
    correction: str = "holm",
    level: float = 0.95,
    kind: str = "percentile",
) -> list[PairedResult]:
    """Every other system against the baseline, or all pairs, by every metric, with bootstrap p-values.

    Nothing is scored again: all systems were resampled by the same draws. `runs` says how many of the outputs, side by
    side, are runs of each system (`metrics.resampling.runs`); systems are then compared by the means over their runs.
    p-values are corrected (`CORRECTIONS`) for all pairs of a metric; `level` and `kind` (`INTERVALS`) are those of the
    intervals of the differences, which have none without replicates.

    Raises BadParameter for unknown choices, and where there are no replicates, or for BCa no statistics.
    """

    def p_values(measurement: Measurement, pairs: Sequence[tuple[int, int]]) -> list[float]:
        scores = mean_over_runs(measurement.scores, runs)
        replicates = mean_over_runs(measurement.replicate_scores, runs)
        return [bootstrap_p(float(scores[b] - scores[a]), replicates[b] - replicates[a]) for a, b in pairs]

    if any(not measurement.replicate_scores.shape[1] for measurement in measurements):
        raise BadParameter("A paired bootstrap needs the scores of bootstrap replicates; there are none.")
    return _tested(measurements, baseline, runs, correction, level, kind, p_values)


def paired_randomization(
    measurements: Sequence[Measurement],
    baseline: int | None = 0,
    *,
    trials: int = TRIALS,
    seed: int = 12345,
    runs: Sequence[int] | None = None,
    correction: str = "holm",
    level: float = 0.95,
    kind: str = "percentile",
) -> list[PairedResult]:
    """Every other system against the baseline, or all pairs, with p-values from approximate randomization.

    The measurements must have kept the statistics of the segments. Intervals and the other parameters are those of
    `paired_bootstrap`; without replicates there are no intervals. Raises BadParameter as it does.
    """

    def p_values(measurement: Measurement, pairs: Sequence[tuple[int, int]]) -> list[float]:
        counts = exceedances(
            measurement.metric, _statistics(measurement), pairs, seed=seed, first_trial=0, last_trial=trials, runs=runs
        )
        return [randomization_p(int(count), trials) for count in counts]

    return _tested(measurements, baseline, runs, correction, level, kind, p_values)


def bootstrap_p(difference: float, replicate_differences: Floats) -> float:
    """The two-sided p-value of a difference; NaN where it or that of a replicate is undefined, and without replicates.

    NaN, too, where all replicates have one same difference that is not 0, as those of a single segment do: they do not
    show how large a difference chance makes.

    The replicates' differences, moved to the mean that they would have if the systems were equal, say how large
    a difference chance makes (Riezler and Maxwell 2005, section 4.2). Two identical outputs have p = 1.
    """
    count = len(replicate_differences)
    if not count or math.isnan(difference) or np.isnan(replicate_differences).any():
        return math.nan
    if difference and replicate_differences.min() == replicate_differences.max():
        return math.nan
    # fsum: the last digit of NumPy's mean depends on the processor.
    mean = math.fsum(replicate_differences.tolist()) / count
    centred = np.abs(replicate_differences - mean)
    as_large = int((centred >= abs(difference)).sum())
    return (as_large + 1) / (count + 1)


def smallest_p(replicates: int, pairs: int, correction: str) -> float:
    """The smallest corrected p-value that so many replicates or trials can give one of so many pairs.

    Where it is above the level that one tests at, nothing can be found, however large a difference is: more replicates
    are needed. By Benjamini and Hochberg's correction all pairs together may still reach 1 / (replicates + 1).
    """
    return min(1.0, (pairs if correction == "holm" else 1) / (replicates + 1))


def few_segments(segments: int) -> str:
    """What to say of a bootstrap test on fewer than FEW_SEGMENTS."""
    are = "1 segment is" if segments == 1 else f"{segments} segments are"
    return f"{are} few: on them the bootstrap finds too many differences, randomization does not"


def _tested(
    measurements: Sequence[Measurement],
    baseline: int | None,
    runs: Sequence[int] | None,
    correction: str,
    level: float,
    kind: str,
    p_values: Callable[[Measurement, Sequence[tuple[int, int]]], list[float]],
) -> list[PairedResult]:
    results = []
    for position, measurement in enumerate(measurements):
        scores = mean_over_runs(measurement.scores, runs)
        replicates = mean_over_runs(measurement.replicate_scores, runs)
        pairs = pairs_to_test(len(scores), baseline)
        without = None
        if kind == "bca" and replicates.shape[1]:
            without = mean_over_runs(leave_one_out(measurement.metric, _statistics(measurement)), runs)
        of_pairs = p_values(measurement, pairs)
        family = corrected(of_pairs, correction)
        for (a, b), p, p_corrected in zip(pairs, of_pairs, family.tolist(), strict=True):
            difference = float(scores[b] - scores[a])
            left_out = None if without is None else without[b] - without[a]
            ends = None
            if replicates.shape[1]:
                ends = interval(kind, replicates[b] - replicates[a], level, difference, left_out)
            results.append(PairedResult(a, b, position, difference, p, p_corrected, ends))
    return results


def _statistics(measurement: Measurement) -> Floats:
    if measurement.statistics is None:
        raise BadParameter("Randomization and BCa intervals need the statistics of every segment; they were not kept.")
    return measurement.statistics
