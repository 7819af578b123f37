"""Metrics ranked over many language pairs, as WMT's metrics task ranks them.

Each pair has two tasks: soft pairwise accuracy of systems and accuracy with tie calibration of segments. A metric's
average is over all tasks; two metrics are told apart by permutation tests, and groups of metrics that no test tells
apart share a rank (Freitag et al. 2024, "Are LLMs Breaking MT Metrics?", section 6).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.errors import BadParameter
from steelyard.meta_evaluation.comparison import AS_LARGE
from steelyard.meta_evaluation.task_results import STATISTICS, Task, TaskResult, compare_in_task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from steelyard.meta_evaluation.judged_scores import JudgedScores

    Floats = NDArray[np.float64]

TRIALS = 1000
ALPHA = 0.05


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
    results = [
        compare_in_task(judged, pair, statistic, trials=trials, seed=seed)
        for pair, judged in pairs.items()
        for statistic in STATISTICS
    ]
    return rank_metrics(results, trials=trials, alpha=alpha, seed=seed)


def rank_metrics(results: Sequence[TaskResult], *, trials: int, alpha: float = ALPHA, seed: int) -> MetricsTask:
    """Rank the metrics by what `compare_in_task` found.

    Parameters
    ----------
    results : sequence of TaskResult
        Of every pair and statistic.
    trials : int
        Of the results.
    alpha : float
        As of `metrics_task`.
    seed : int
        Of the results.

    Returns
    -------
    MetricsTask

    Raises
    ------
    BadParameter
        Where no metric has a value in any of them.
    """
    ordered = sorted(results, key=lambda each: (each.task.pair, STATISTICS.index(each.task.statistic)))
    with_values = [each for each in ordered if each.metrics]
    left_out = sorted({each.task.pair for each in ordered} - {each.task.pair for each in with_values})
    tasks = [each.task for each in with_values]
    values = [dict(zip(each.metrics, each.values.tolist(), strict=True)) for each in with_values]
    compared = [
        {
            both: _Compared(difference, by_chance)
            for both, difference, by_chance in zip(
                combinations(each.metrics, 2) if trials else (), each.differences.tolist(), each.by_chance, strict=True
            )
        }
        for each in with_values
    ]
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
