"""Correlation of metrics with human judgments, with intervals and tests between metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from steelyard.fixed_point import on_grid
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.meta_evaluation.comparison import permutation_p, permutation_test, williams_p
from steelyard.meta_evaluation.judged_scores import JudgedMetric, JudgedScores
from steelyard.meta_evaluation.segment import RankingKendall
from steelyard.meta_evaluation.soft_accuracy import better_p, soft_pairwise_accuracy
from steelyard.meta_evaluation.statistics import WMT14, segment_statistic, system_statistic
from steelyard.meta_evaluation.system import better_or_equal_share, pearson
from steelyard.resampling.bootstrap import replicate_sums
from steelyard.resampling.correction import corrected
from steelyard.resampling.interval import percentile_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from steelyard.kernels.resampling.resampling import Counts
    from steelyard.meta_evaluation.segment_statistic import SegmentStatistic
    from steelyard.meta_evaluation.statistics import SystemStatistic

    Floats = NDArray[np.float64]
    Ends = tuple[float, float]

_S = TypeVar("_S", bound="SystemStatistic | SegmentStatistic")

SYSTEM, SEGMENT = "system", "segment"
LEVELS = (SYSTEM, SEGMENT)
REPLICATES = 1000
SYSTEM_TRIALS, SEGMENT_TRIALS = 10_000, 1_000
"""Default trials of the permutation test between two metrics."""
ROUNDED = 1e-5
"""Published scores have five digits after the point or more."""


Judged = TypeVar("Judged", bound=JudgedScores)


@dataclass(frozen=True)
class CorrelationOptions:
    """Options of a correlation."""

    replicates: int | None = None
    """For the intervals, 0 for none; None for as many as the metrics have, or 1,000."""
    level: float = 0.95
    trials: int | None = None
    """Of the permutation tests, 0 for no tests; None for 10,000 with systems and 1,000 with segments."""
    correction: str = "holm"
    baseline: int | None = None
    """The metric that the others are tested against, as a position; None for the best one."""


@dataclass(frozen=True, eq=False)
class Correlation:
    """One statistic of one metric."""

    value: float
    """NaN where undefined."""
    counted: int
    """The number of systems, pairs, cells or segments behind it, in `unit`."""
    unit: str
    interval: Ends | None
    replicates: Floats
    """(B,), empty where there are none."""
    resampled: str
    """The unit that replicates resample: "segments", "documents" or "systems"; "" without replicates."""


@dataclass(frozen=True)
class MetricTest:
    """A metric against the baseline, by the first statistic."""

    difference: float
    """Baseline minus metric."""
    interval: Ends | None
    p: float
    """By permutation, two-sided; NaN where there is none."""
    p_corrected: float
    williams: float
    """Two-sided; NaN where the statistic is not Pearson's r of systems."""
    williams_corrected: float


@dataclass(frozen=True)
class MetricRow:
    """One metric of a table."""

    metric: JudgedMetric
    rank: int | None
    """By the first statistic; equal values share one; None where it is undefined."""
    agreements: Sequence[Correlation]
    test: MetricTest | None
    """None for the baseline itself, and without tests."""


@dataclass(frozen=True)
class CorrelationTable(Generic[Judged]):
    """All metrics at one level, the best by the first statistic first."""

    judged: Judged
    level: str
    """One of LEVELS."""
    statistics: Sequence[SystemStatistic | SegmentStatistic]
    """The requested statistics that are defined for at least one metric."""
    undefined: Sequence[SystemStatistic | SegmentStatistic]
    """The requested statistics that are undefined for all metrics."""
    rows: Sequence[MetricRow]
    asked: CorrelationOptions
    trials: int
    """Of the permutation tests; 0 where there are none."""
    baseline: JudgedMetric | None
    """The metric that the others are tested against; None without tests."""

    @property
    def tested(self) -> bool:
        """Whether there is a test with a result."""
        return any(row.test and not math.isnan(row.test.p) for row in self.rows)


def correlate_systems(judged: Judged, names: Sequence[str], options: CorrelationOptions) -> CorrelationTable[Judged]:
    """Correlate metrics with human scores of systems.

    Parameters
    ----------
    judged : JudgedScores
    names : sequence of str
        Statistics; the first one ranks the metrics and is tested.
    options : CorrelationOptions

    Returns
    -------
    CorrelationTable

    Raises
    ------
    BadParameter
        For an unknown statistic.
    """
    statistics = [system_statistic(name) for name in names]
    people = _People(judged, options)
    agreements = [[_of_systems(people, metric, each) for each in statistics] for metric in judged.metrics]

    def test(statistic: SystemStatistic, one: JudgedMetric, other: JudgedMetric, trials: int) -> tuple[float, float]:
        return _test_systems(people, one, other, statistic, trials)

    trials = SYSTEM_TRIALS if options.trials is None else options.trials
    return _table(judged, SYSTEM, statistics, agreements, options, trials, test)


def correlate_segments(judged: Judged, names: Sequence[str], options: CorrelationOptions) -> CorrelationTable[Judged]:
    """Correlate metrics with human scores of segments.

    Parameters
    ----------
    judged : JudgedScores
    names : sequence of str
        Statistics; the first one ranks the metrics and is tested.
    options : CorrelationOptions

    Returns
    -------
    CorrelationTable

    Raises
    ------
    BadParameter
        For an unknown statistic.
    """
    statistics = [_as_judged(judged, segment_statistic(name)) for name in names]
    segments = judged.human_segments.shape[1]
    replicates = _replicates(judged, options)
    counts = _draws_of_segments(judged, segments, replicates)
    drawn = _drawn(judged) if len(counts) else ""
    agreements = [
        [
            _of_segments(_human_of(judged, each), metric.segments, each, counts, drawn, options.level)
            for each in statistics
        ]
        for metric in judged.metrics
    ]

    def test(statistic: SegmentStatistic, one: JudgedMetric, other: JudgedMetric, trials: int) -> tuple[float, float]:
        human, seed = _human_of(judged, statistic), judged.seed
        first, second = (np.where(np.isnan(human), np.nan, metric.segments) for metric in (one, other))
        exchanged = partial(statistic.exchanged, human)
        return permutation_test(exchanged, first, second, seed=seed, trials=trials), math.nan

    trials = SEGMENT_TRIALS if options.trials is None else options.trials
    return _table(judged, SEGMENT, statistics, agreements, options, trials, test)


def _as_judged(judged: JudgedScores, statistic: SegmentStatistic) -> SegmentStatistic:
    """For rankings, WMT14's statistic counts every annotator's comparisons, as that task did, not segment scores."""
    if statistic.name != WMT14 or not len(judged.comparisons):
        return statistic
    return RankingKendall(
        statistic.name, statistic.title, statistic.source, "comparisons", comparisons=judged.comparisons
    )


def _human_of(judged: JudgedScores, statistic: SegmentStatistic) -> Floats:
    return judged.human_raw if statistic.on_raw else judged.human_segments


def _replicates(judged: JudgedScores, options: CorrelationOptions) -> int:
    if options.replicates is None:
        return judged.replicates or REPLICATES
    return options.replicates


def _drawn(judged: JudgedScores) -> str:
    return "segments" if judged.documents is None else "documents"


def _draws_of_segments(judged: JudgedScores, segments: int, replicates: int) -> Counts:
    """How often each replicate draws each segment: as often as its document, where documents are drawn."""
    if judged.documents is None:
        return resampling_counts(segments, judged.seed, replicates, 0, segments)
    count = judged.documents.count
    of_documents = resampling_counts(count, judged.seed, replicates, 0, count)
    found: Counts = of_documents[:, judged.documents.of_segment].copy(order="C")
    return found


def _of_segments(
    human: Floats, metric: Floats, statistic: SegmentStatistic, counts: Counts, drawn: str, level: float
) -> Correlation:
    value = statistic.value(human, metric)
    replicates = statistic.values(human, metric, counts) if len(counts) else np.zeros(0)
    return Correlation(
        value=value,
        counted=statistic.counted(human, metric),
        unit=statistic.unit,
        interval=None if math.isnan(value) else percentile_interval(replicates, level),
        replicates=replicates,
        resampled=drawn,
    )


class _People:
    """Human scores of systems, and what they would be in every replicate.

    Where the score of a system is the mean of its segments, replicates draw segments or documents, the same ones as
    the replicates of the metrics. Where only scores of systems are known, they draw systems.
    """

    def __init__(self, judged: JudgedScores, options: CorrelationOptions) -> None:
        self.judged, self.level = judged, options.level
        self.scores, self.segments = judged.human_systems, judged.human_segments
        self.shares = better_or_equal_share(self.segments)
        seed, wanted = judged.seed, _replicates(judged, options)
        self.by_system = resampling_counts(len(self.scores), seed, wanted, 0, len(self.scores))
        self.replicates: Floats | None = None
        stored = min(wanted, judged.replicates)
        if stored and self._are_means():
            counts = _draws_of_segments(judged, self.segments.shape[1], stored)
            known = ~np.isnan(self.segments)
            sums = replicate_sums(counts, on_grid(np.where(known, self.segments, 0.0)).T)
            drawn = replicate_sums(counts, known.T.astype(np.float64))
            with np.errstate(invalid="ignore"):
                self.replicates = sums / drawn

    def _are_means(self) -> bool:
        known = ~np.isnan(self.segments)
        with np.errstate(invalid="ignore"):
            means = np.where(known, self.segments, 0.0).sum(1) / known.sum(1)
        scored = ~np.isnan(self.scores)
        return bool(scored.any() and (np.abs(means - self.scores)[scored] <= ROUNDED).all())


def _of_systems(people: _People, metric: JudgedMetric, statistic: SystemStatistic) -> Correlation:
    human = people.shares if statistic.by_share else people.scores
    known = ~np.isnan(human) & ~np.isnan(metric.systems)
    counts = people.by_system[:, known]
    if statistic.values is None:
        seed = people.judged.seed
        by_human, by_metric = _soft_p(people.segments[known], metric.segments[known], seed)
        value = float(soft_pairwise_accuracy(by_human, by_metric))
        replicates, resampled = soft_pairwise_accuracy(by_human, by_metric, counts), "systems"
        counted = int((~np.isnan(by_human)).sum())
    else:
        value = float(statistic.values(human[known], metric.systems[known]))
        if people.replicates is not None and not statistic.by_share:
            drawn = people.replicates[:, known]
            replicates = statistic.values(drawn, metric.replicates[: len(drawn), known])
            resampled = _drawn(people.judged)
        else:
            replicates, resampled = statistic.values(human[known], metric.systems[known], counts), "systems"
        counted = int(known.sum())
        counted = counted * (counted - 1) // 2 if statistic.unit == "pairs" else counted
    return Correlation(
        value=value,
        counted=counted,
        unit=statistic.unit,
        interval=None if math.isnan(value) else percentile_interval(replicates, people.level),
        replicates=replicates,
        resampled=resampled if len(replicates) else "",
    )


def _soft_p(human: Floats, metric: Floats, seed: int) -> tuple[Floats, Floats]:
    """The p-values of all pairs by human scores and by the metric, on the segments that both score."""
    judged = ~np.isnan(human) & ~np.isnan(metric)
    return better_p(human, judged, seed), better_p(metric, judged, seed)


def _test_systems(
    people: _People, one: JudgedMetric, other: JudgedMetric, statistic: SystemStatistic, trials: int
) -> tuple[float, float]:
    """The p-values by permutation and by Williams' test."""
    values = statistic.values
    if values is None:
        return math.nan, math.nan
    human = people.shares if statistic.by_share else people.scores
    known = ~np.isnan(human) & ~np.isnan(one.systems) & ~np.isnan(other.systems)
    first, second, human = one.systems[known], other.systems[known], human[known]
    seed = people.judged.seed
    p = permutation_p(lambda stack: values(human, stack), first, second, seed=seed, trials=trials)
    if statistic.values is not pearson:
        return p, math.nan
    between = float(pearson(first, second))
    return p, williams_p(float(pearson(human, first)), float(pearson(human, second)), between, len(human))


def _table(
    judged: Judged,
    level: str,
    statistics: Sequence[_S],
    agreements: Sequence[Sequence[Correlation]],
    options: CorrelationOptions,
    trials: int,
    test: Callable[[_S, JudgedMetric, JudgedMetric, int], tuple[float, float]],
) -> CorrelationTable[Judged]:
    """Ranked by the first statistic that is defined; every metric tested against the best one or the baseline."""
    known = [
        any(not math.isnan(of_metric[number].value) for of_metric in agreements) for number in range(len(statistics))
    ]
    defined = [number for number, is_known in enumerate(known) if is_known]
    rows = [MetricRow(metric, None, [], None) for metric in judged.metrics]
    baseline: int | None = None
    if defined:
        values = [of_metric[defined[0]].value for of_metric in agreements]
        ranks = [None if math.isnan(value) else 1 + sum(other > value for other in values) for value in values]
        rows = [
            replace(row, rank=rank, agreements=[of_metric[number] for number in defined])
            for row, rank, of_metric in zip(rows, ranks, agreements, strict=True)
        ]
        order = sorted(range(len(rows)), key=lambda number: (ranks[number] or math.inf, number))
        best = order[0] if options.baseline is None else options.baseline
        if trials and len(rows) > 1 and ranks[best]:
            baseline, tests = best, {}
            for number in order:
                if number != best:
                    p, williams = test(statistics[defined[0]], judged.metrics[best], judged.metrics[number], trials)
                    pair = rows[best].agreements[0], rows[number].agreements[0]
                    tests[number] = _compared(*pair, p, williams, options.level)
            by_permutation = corrected([each.p for each in tests.values()], options.correction)
            by_williams = corrected([each.williams for each in tests.values()], options.correction)
            for (number, found), p, williams in zip(tests.items(), by_permutation, by_williams, strict=True):
                both = replace(found, p_corrected=float(p), williams_corrected=float(williams))
                rows[number] = replace(rows[number], test=both)
        rows = [rows[number] for number in order]
    return CorrelationTable(
        judged=judged,
        level=level,
        statistics=[statistics[number] for number in defined],
        undefined=[statistic for statistic, is_known in zip(statistics, known, strict=True) if not is_known],
        rows=rows,
        asked=options,
        trials=trials if baseline is not None else 0,
        baseline=None if baseline is None else judged.metrics[baseline],
    )


def _compared(best: Correlation, other: Correlation, p: float, williams: float, level: float) -> MetricTest:
    difference = best.value - other.value
    interval = None
    if len(best.replicates) == len(other.replicates) and not math.isnan(difference):
        interval = percentile_interval(best.replicates - other.replicates, level)
    return MetricTest(difference, interval, p, math.nan, williams, math.nan)
