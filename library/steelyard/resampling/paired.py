"""Paired tests: whether one system really did better than another on a test set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter
from steelyard.resampling.bootstrap_p import bootstrap_p_values
from steelyard.resampling.correction import corrected
from steelyard.resampling.interval import interval, percentile_intervals
from steelyard.resampling.jackknife import leave_one_out
from steelyard.resampling.randomization import TRIALS, permutation_counts, randomization_p
from steelyard.resampling.runs import mean_over_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from steelyard.resampling.interval import Ends
    from steelyard.resampling.scored import Scored

    Floats = NDArray[np.float64]

TESTS = ("bootstrap", "randomization")
TITLES_OF_TESTS = {"bootstrap": "paired bootstrap", "randomization": "paired approximate randomization"}
"""As sentences call them."""

AT_ONCE = 64
"""Pairs whose replicates are compared at a time: they fit a cache."""


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
    """The pairs of systems to compare: each other one with the baseline, or all, a before b.

    Parameters
    ----------
    systems : int
    baseline : int or None
        A position.

    Returns
    -------
    list of (int, int)
    """
    if baseline is None:
        return [(a, b) for a in range(systems) for b in range(a + 1, systems)]
    return [(baseline, b) for b in range(systems) if b != baseline]


def paired_bootstrap(
    measurements: Sequence[Scored],
    baseline: int | None = 0,
    *,
    runs: Sequence[int] | None = None,
    correction: str = "holm",
    level: float = 0.95,
    kind: str = "percentile",
) -> list[PairedResult]:
    """The paired bootstrap, of every other system against the baseline or of all pairs, by every metric.

    Nothing is scored again: all systems were resampled by the same draws.

    Parameters
    ----------
    measurements : sequence of Scored
        The results of each metric, with replicates.
    baseline : int or None
        The position of the system that the others are compared with; None compares all pairs.
    runs : sequence of int, optional
        How many of the outputs, side by side, are runs of each system (`steelyard.resampling.runs`); systems are then
        compared by the means over their runs.
    correction : str
        One of `CORRECTIONS`, for all pairs of a metric.
    level : float
        Of the intervals of the differences.
    kind : str
        One of `INTERVALS`.

    Returns
    -------
    list of PairedResult
        Metric by metric.

    Raises
    ------
    BadParameter
        For unknown choices, and where there are no replicates, or for BCa no statistics.
    """

    def p_values(measurement: Scored, pairs: Sequence[tuple[int, int]]) -> list[float]:
        scores = mean_over_runs(measurement.scores, runs)
        replicates = mean_over_runs(measurement.replicate_scores, runs)
        return bootstrap_p_of_pairs(scores, replicates, pairs)

    if any(not measurement.replicate_scores.shape[1] for measurement in measurements):
        raise BadParameter("A paired bootstrap needs the scores of bootstrap replicates; there are none.")
    return _tested(measurements, baseline, runs, correction, level, kind, p_values)


def paired_randomization(
    measurements: Sequence[Scored],
    baseline: int | None = 0,
    *,
    trials: int = TRIALS,
    seed: int = 12345,
    runs: Sequence[int] | None = None,
    correction: str = "holm",
    level: float = 0.95,
    kind: str = "percentile",
    on_trials: Callable[[int, int], None] | None = None,
) -> list[PairedResult]:
    """Paired approximate randomization, of every other system against the baseline or of all pairs, by every metric.

    Parameters
    ----------
    measurements : sequence of Scored
        The results of each metric, with the statistics of the segments; without replicates there are no intervals.
    baseline : int or None
        As of `paired_bootstrap`.
    trials : int
        0 to 2^32.
    seed : int
        0 to 2^64 - 1.
    runs : sequence of int, optional
        As of `paired_bootstrap`, and so the next three.
    correction : str
    level : float
    kind : str
    on_trials : function, optional
        Called now and then with the number of trials done and that of all, those of all metrics together.

    Returns
    -------
    list of PairedResult
        Metric by metric.

    Raises
    ------
    BadParameter
        As of `paired_bootstrap`, and where statistics were not kept.
    """
    before = count()

    def p_values(measurement: Scored, pairs: Sequence[tuple[int, int]]) -> list[float]:
        done = next(before) * trials
        counts = permutation_counts(
            measurement.metric, _statistics(measurement), pairs, seed=seed, first_trial=0, last_trial=trials, runs=runs,
            on_trials=on_trials and (lambda more: on_trials(done + more, trials * len(measurements))),
        )  # fmt: skip
        return [randomization_p(int(count), trials) for count in counts]

    return _tested(measurements, baseline, runs, correction, level, kind, p_values)


def bootstrap_p_of_pairs(scores: Floats, replicates: Floats, pairs: Sequence[tuple[int, int]]) -> list[float]:
    """The two-sided p-values of differences between systems that were resampled by the same draws.

    Parameters
    ----------
    scores : ndarray of float64, shape (systems,)
    replicates : ndarray of float64, shape (systems, B)
        B is at least 1.
    pairs : sequence of (int, int)
        Positions of the systems to compare.

    Returns
    -------
    list of float
        NaN where a score or a replicate is undefined.
    """
    p_values: list[float] = bootstrap_p_values(scores, replicates, np.array(pairs, np.int64).reshape(-1, 2)).tolist()
    return p_values


def percentile_intervals_of_pairs(
    replicates: Floats, pairs: Sequence[tuple[int, int]], level: float
) -> list[Ends | None]:
    """Percentile intervals of the differences between systems that were resampled by the same draws.

    Parameters
    ----------
    replicates : ndarray of float64, shape (systems, B)
        B is at least 1.
    pairs : sequence of (int, int)
        Positions of the systems to compare.
    level : float

    Returns
    -------
    list of (float, float) or None
        None where a replicate is undefined.
    """
    lots = [replicates[second] - replicates[first] for first, second in _lots(pairs)]
    return [ends for lot in lots for ends in percentile_intervals(lot, level)]


def paired_results(
    scores: Floats,
    pairs: Sequence[tuple[int, int]],
    p_values: Sequence[float],
    intervals: Sequence[Ends | None],
    correction: str,
    metric: int = 0,
) -> list[PairedResult]:
    """The results of one family of tests.

    Parameters
    ----------
    scores : ndarray of float64, shape (systems,)
    pairs : sequence of (int, int)
        Positions of the systems.
    p_values : sequence of float
        Of each pair.
    intervals : sequence of (float, float) or None
        Of each pair's difference.
    correction : str
        One of `CORRECTIONS`.
    metric : int
        The metric's position in a list.

    Returns
    -------
    list of PairedResult

    Raises
    ------
    BadParameter
        For an unknown correction.
    """
    # A hundred systems are thousands of pairs: each is made once.
    known, family = scores.tolist(), corrected(p_values, correction).tolist()
    return [
        PairedResult(a, b, metric, known[b] - known[a], p, p_corrected, ends)
        for (a, b), p, p_corrected, ends in zip(pairs, p_values, family, intervals, strict=True)
    ]


def with_correction(results: Sequence[PairedResult], correction: str) -> list[PairedResult]:
    """The results of one family of tests with corrected p-values.

    Parameters
    ----------
    results : sequence of PairedResult
    correction : str
        One of `CORRECTIONS`.

    Returns
    -------
    list of PairedResult

    Raises
    ------
    BadParameter
        For an unknown correction.
    """
    family = corrected([result.p for result in results], correction)
    # As `replace`, which takes three times as long: a hundred systems are thousands of pairs.
    return [
        PairedResult(result.a, result.b, result.metric, result.difference, result.p, p, result.interval)
        for result, p in zip(results, family.tolist(), strict=True)
    ]


def few_segments(segments: int) -> str:
    """What to say of a bootstrap test on fewer than FEW_SEGMENTS.

    Parameters
    ----------
    segments : int

    Returns
    -------
    str
        A sentence without its full stop.
    """
    are = "1 segment is" if segments == 1 else f"{segments} segments are"
    return f"{are} few: on them the bootstrap finds too many differences, randomization does not"


def _tested(
    measurements: Sequence[Scored],
    baseline: int | None,
    runs: Sequence[int] | None,
    correction: str,
    level: float,
    kind: str,
    p_values: Callable[[Scored, Sequence[tuple[int, int]]], list[float]],
) -> list[PairedResult]:
    results = []
    for position, measurement in enumerate(measurements):
        scores = mean_over_runs(measurement.scores, runs)
        replicates = mean_over_runs(measurement.replicate_scores, runs)
        pairs = pairs_to_test(len(scores), baseline)
        without = None
        if kind == "bca" and replicates.shape[1]:
            without = mean_over_runs(leave_one_out(measurement.metric, _statistics(measurement)), runs)
        ends = _intervals(scores, replicates, pairs, level, kind, without)
        results += paired_results(scores, pairs, p_values(measurement, pairs), ends, correction, position)
    return results


def _intervals(
    scores: Floats,
    replicates: Floats,
    pairs: Sequence[tuple[int, int]],
    level: float,
    kind: str,
    without: Floats | None,
) -> list[Ends | None]:
    """Those of the pairs' differences; `without` are leave-one-out scores."""
    if not replicates.shape[1]:
        return [None] * len(pairs)
    if kind == "percentile":
        return percentile_intervals_of_pairs(replicates, pairs, level)
    return [
        interval(
            kind, replicates[b] - replicates[a], level, float(scores[b] - scores[a]),
            None if without is None else without[b] - without[a],
        )
        for a, b in pairs
    ]  # fmt: skip


def _lots(pairs: Sequence[tuple[int, int]]) -> Iterator[NDArray[np.intp]]:
    """First and second systems of some pairs at a time, (2, pairs)."""
    for begin in range(0, len(pairs), AT_ONCE):
        yield np.array(pairs[begin : begin + AT_ONCE]).T


def _statistics(measurement: Scored) -> Floats:
    if measurement.statistics is None:
        raise BadParameter("Randomization and BCa intervals need the statistics of every segment; they were not kept.")
    return measurement.statistics
