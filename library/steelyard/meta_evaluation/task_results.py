"""Metrics in one task, a language pair by one statistic: their values, and the tests of every two of them."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from steelyard.meta_evaluation.comparison import exchanged_differences, standardised
from steelyard.meta_evaluation.exchanged_soft_accuracy import exchanged_soft_accuracy
from steelyard.meta_evaluation.soft_accuracy import better_p, soft_pairwise_accuracy
from steelyard.meta_evaluation.statistics import ACC_EQ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.meta_evaluation.judged_scores import JudgedScores

    Floats = NDArray[np.float64]

SOFT, CALIBRATED = "soft-pairwise", ACC_EQ.name
STATISTICS = (SOFT, CALIBRATED)
"""Those of a language pair, by their names in `statistics.py`."""


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


@dataclass(frozen=True, eq=False)
class TaskResult:
    """The metrics of a task, and what chance makes of the difference of every two of them."""

    task: Task
    metrics: tuple[str, ...]
    """Those that have a value, by their specifications."""
    values: Floats
    """(metrics,)."""
    differences: Floats
    """How much better the first one of two metrics is, in the order of `itertools.combinations`; none without tests."""
    by_chance: Floats
    """The same in each trial, (differences, trials)."""


def compare_in_task(judged: JudgedScores, pair: str, statistic: str, *, trials: int, seed: int) -> TaskResult:
    """Compare the metrics of a task.

    Parameters
    ----------
    judged : JudgedScores
        Of the pair.
    pair : str
        Its name: the draws depend on it, so that other pairs do not change them.
    statistic : str
        One of STATISTICS.
    trials : int
        Of each permutation test, 0 for none.
    seed : int

    Returns
    -------
    TaskResult
        Without metrics where none has a value.
    """
    human = judged.human_segments
    several = int(((~np.isnan(human)).sum(axis=0) > 1).sum())
    task = Task(pair, statistic, len(judged.systems), several)
    values = {metric.specification: _value(human, metric.segments, statistic, seed) for metric in judged.metrics}
    known = tuple(name for name, value in values.items() if not math.isnan(value))
    scores = {metric.specification: metric.segments for metric in judged.metrics}
    compared = list(combinations(known, 2)) if trials else []
    differences, by_chance = np.empty(len(compared)), np.empty((len(compared), trials))
    # Those that have scores in the same cells share their trials, and what a metric needs for them.
    alike: dict[bytes, list[int]] = {}
    for number, (one, other) in enumerate(compared):
        cells = ~np.isnan(human + scores[one] + scores[other])
        alike.setdefault(cells.tobytes(), []).append(number)
    soft = partial(exchanged_soft_accuracy, seed=seed)
    exchanged = ACC_EQ.exchanged_of_many if statistic == CALIBRATED else soft
    for pattern, numbers in alike.items():
        cells = np.frombuffer(pattern, np.bool_).reshape(human.shape)
        together = [compared[number] for number in numbers]
        names = list(dict.fromkeys(chain.from_iterable(together)))
        own = np.stack([standardised(scores[name], cells) for name in names])
        places = [(names.index(one), names.index(other)) for one, other in together]
        differences[numbers], by_chance[numbers] = exchanged_differences(
            exchanged(np.where(cells, human, np.nan), own, places), cells, seed=seed_of(task, seed), trials=trials
        )
    return TaskResult(task, known, np.array([values[name] for name in known]), differences, by_chance)


def seed_of(task: Task, seed: int) -> int:
    """Tasks draw apart: pairs may share their source, and chance must not help a metric in all of them at once.

    Parameters
    ----------
    task : Task
    seed : int
        Of all draws.

    Returns
    -------
    int
    """
    digest = hashlib.sha256(f"{seed}\n{task.pair}\n{task.statistic}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def _value(human: Floats, metric: Floats, statistic: str, seed: int) -> float:
    if statistic == CALIBRATED:
        return ACC_EQ.value(human, metric)
    both = ~np.isnan(human) & ~np.isnan(metric)
    return float(soft_pairwise_accuracy(better_p(human, both, seed), better_p(metric, both, seed)))
