"""Metrics ranked over many language pairs, as WMT's metrics task ranks them.

Each pair has two tasks: soft pairwise accuracy of systems and accuracy with tie calibration of segments. A metric's
average is over all tasks; two metrics are told apart by permutation tests, and groups of metrics that no test tells
apart share a rank (Freitag et al. 2024, "Are LLMs Breaking MT Metrics?", section 6).
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.errors import BadParameter
from steelyard.meta_evaluation.comparison import AS_LARGE, exchanged_differences
from steelyard.meta_evaluation.exchanged_soft_accuracy import exchanged_soft_accuracy
from steelyard.meta_evaluation.soft_accuracy import better_p, soft_pairwise_accuracy
from steelyard.meta_evaluation.statistics import segment_statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from steelyard.meta_evaluation.judged_scores import JudgedMetric, JudgedScores

    Floats = NDArray[np.float64]

SOFT, CALIBRATED = "soft-pairwise", "acc-eq"
STATISTICS = (SOFT, CALIBRATED)
"""Those of a language pair, by their names in `statistics.py`."""
TRIALS = 1000
ALPHA = 0.05


@dataclass(frozen=True)
class Task:
    """A language pair by one statistic."""

    pair: str
    statistic: str
    """One of STATISTICS."""
    systems: int
    """Judged systems."""
    segments: int
    """Segments of which at least two systems were judged."""


@dataclass(frozen=True)
class TaskScore:
    """A metric in a task."""

    value: float
    rank: int | None
    """The number of its group, from 1; None without tests."""


@dataclass(frozen=True)
class RankedMetric:
    """A metric over all tasks."""

    metric: str
    average: float | None
    """None where a task has no value of it."""
    rank: int | None
    """The number of its group by the average, from 1; None without one, or without tests."""
    scores: tuple[TaskScore | None, ...]
    """For each task; None where it has no value."""
    p: tuple[float | None, ...]
    """For each metric that is before it, how likely chance makes that one as much better; None without a test."""


@dataclass(frozen=True)
class MetricsTask:
    """The metrics of many language pairs, the best by the average first."""

    tasks: tuple[Task, ...]
    metrics: tuple[RankedMetric, ...]
    left_out: tuple[str, ...]
    """Pairs without a value of any metric."""
    trials: int
    """Of the permutation tests; 0 without tests."""
    alpha: float
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Return it with all digits, None where something is undefined.

        Returns
        -------
        dict of str to object
        """
        return asdict(self)


class _Compared(NamedTuple):
    """How much better the first of two metrics is in a task, and what chance makes of that."""

    difference: float
    by_chance: Floats

    @property
    def p(self) -> float:
        """That chance makes the first one as much better; a trial without a value says nothing against chance."""
        as_large = int((~(self.by_chance < self.difference - AS_LARGE)).sum())
        return (as_large + 1) / (len(self.by_chance) + 1)

    def turned(self) -> _Compared:
        """The second one against the first."""
        return _Compared(-self.difference, -self.by_chance)


def metrics_task(
    pairs: Mapping[str, JudgedScores], *, trials: int = TRIALS, alpha: float = ALPHA, seed: int = 12345
) -> MetricsTask:
    """Rank the metrics of many language pairs.

    Parameters
    ----------
    pairs : mapping of str to JudgedScores
        The judged scores of each pair. Metrics of two pairs are the same where their specifications are.
    trials : int
        Of each permutation test, 0 for none.
    alpha : float
        Two metrics part where p is not larger.
    seed : int
        Of all draws; those of a task depend on its pair's name as well, so that other pairs do not change them.

    Returns
    -------
    MetricsTask

    Raises
    ------
    BadParameter
        Where no metric has a value in any pair, or for trials or a level that cannot be.
    """
    if trials < 0 or not 0 < alpha < 1:
        raise BadParameter(
            f"{trials} trials at a level of {alpha}: there are 0 trials or more, and levels from 0 to 1."
        )
    tasks: list[Task] = []
    values: list[dict[str, float]] = []
    compared: list[dict[tuple[str, str], _Compared]] = []
    left_out = []
    for pair, judged in sorted(pairs.items()):
        found = {statistic: _values(judged, statistic, seed) for statistic in STATISTICS}
        if not any(found.values()):
            left_out.append(pair)
        for statistic, of_metrics in found.items():
            if of_metrics:
                several = int(((~np.isnan(judged.human_segments)).sum(axis=0) > 1).sum())
                tasks.append(Task(pair, statistic, len(judged.systems), several))
                values.append(of_metrics)
                compared.append(_compared(judged, tasks[-1], of_metrics, trials, seed) if trials else {})
    if not tasks:
        raise BadParameter("No metric and human judgments have scores of the same segments of at least two systems.")
    names = list(dict.fromkeys(name for of_metrics in values for name in of_metrics))
    averages = {
        name: math.fsum(of_metrics[name] for of_metrics in values) / len(tasks)
        for name in names
        if all(name in of_metrics for of_metrics in values)
    }
    together = {
        both: _averaged([of_task[both] for of_task in compared]) for both in combinations(averages, 2) if trials
    }
    of_tasks = [_ranks(*each, alpha) for each in zip(values, compared, strict=True)]
    ranks = _ranks(averages, together, alpha)
    order = [*_ordered(averages), *sorted(name for name in names if name not in averages)]
    rows = []
    for place, name in enumerate(order):
        scores = tuple(
            TaskScore(of_metrics[name], of_task.get(name)) if name in of_metrics else None
            for of_metrics, of_task in zip(values, of_tasks, strict=True)
        )
        p = tuple(_p(together, before, name) for before in order[:place])
        rows.append(RankedMetric(name, averages.get(name), ranks.get(name), scores, p))
    return MetricsTask(tuple(tasks), tuple(rows), tuple(left_out), trials, alpha, seed)


def _values(judged: JudgedScores, statistic: str, seed: int) -> dict[str, float]:
    """By metric; those without a value are left out."""
    human = judged.human_segments
    calibrated = segment_statistic(CALIBRATED)
    found = {}
    for metric in judged.metrics:
        if statistic == CALIBRATED:
            value = calibrated.value(human, metric.segments)
        else:
            both = ~np.isnan(human) & ~np.isnan(metric.segments)
            value = float(soft_pairwise_accuracy(better_p(human, both, seed), better_p(metric.segments, both, seed)))
        if not math.isnan(value):
            found[metric.specification] = value
    return found


def _compared(
    judged: JudgedScores, task: Task, values: Mapping[str, float], trials: int, seed: int
) -> dict[tuple[str, str], _Compared]:
    """Every two metrics of a task."""
    human = judged.human_segments
    by_name = {metric.specification: metric for metric in judged.metrics if metric.specification in values}
    of_task = _seed_of(task, seed)

    def against(one: JudgedMetric, other: JudgedMetric) -> _Compared:
        both = ~np.isnan(human) & ~np.isnan(one.segments) & ~np.isnan(other.segments)
        people, first, second = (np.where(both, each, np.nan) for each in (human, one.segments, other.segments))
        exchanged: Callable[[Floats, Floats], Callable[[NDArray[np.bool_]], Floats]]
        if task.statistic == CALIBRATED:
            exchanged = partial(segment_statistic(CALIBRATED).exchanged, people)
        else:
            exchanged = partial(exchanged_soft_accuracy, people, seed=seed)
        return _Compared(*exchanged_differences(exchanged, first, second, seed=of_task, trials=trials))

    return {(one, other): against(by_name[one], by_name[other]) for one, other in combinations(by_name, 2)}


def _seed_of(task: Task, seed: int) -> int:
    """Tasks draw apart: pairs may share their source, and chance must not help a metric in all of them at once."""
    digest = hashlib.sha256(f"{seed}\n{task.pair}\n{task.statistic}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def _averaged(of_tasks: Sequence[_Compared]) -> _Compared:
    """Two metrics by their averages: each trial is one of every task."""
    count = len(of_tasks)
    by_chance = np.stack([each.by_chance for each in of_tasks])
    # The first task first, so that the last bits do not depend on how the rows are added.
    total: Floats = np.add.accumulate(by_chance)[-1] / count
    return _Compared(math.fsum(each.difference for each in of_tasks) / count, total)


def _ordered(values: Mapping[str, float]) -> list[str]:
    return sorted(values, key=lambda name: (-values[name], name))


def _p(compared: Mapping[tuple[str, str], _Compared], better: str, worse: str) -> float | None:
    if (better, worse) in compared:
        return compared[better, worse].p
    return compared[worse, better].turned().p if (worse, better) in compared else None


def _ranks(values: Mapping[str, float], compared: Mapping[tuple[str, str], _Compared], alpha: float) -> dict[str, int]:
    """A metric that one of its group is significantly better than begins the next group, from the best one on."""
    ranks: dict[str, int] = {}
    group: list[str] = []
    for name in _ordered(values) if compared or len(values) == 1 else []:
        p = [_p(compared, before, name) for before in group]
        if any(each is not None and each <= alpha for each in p):
            group = []
        if not group:
            ranks[name] = max(ranks.values(), default=0) + 1
        group.append(name)
        ranks.setdefault(name, ranks[group[0]])
    return ranks
