"""Change points: where a series of scores settles on another level, as opposed to noise of single runs.

The runs are cut where the ranks of those before and those after differ most (Pettitt 1979, "A non-parametric approach
to the change-point problem", with each cut's statistic divided by its standard deviation, so that a cut near the end is
seen as well as one in the middle). Shorter sequences of runs are cut, too, so that one change does not hide another
(Kovács et al. 2023, "Seeded binary segmentation"). A permutation test decides whether a cut is significant: if nothing
changed, the runs might as well have come in any other order. Both parts are then searched again, as in the hierarchical
search of Matteson and James 2014 (E-divisive), which is used to watch the speed of software (Daly et al. 2020, "The use
of change point detection to identify software performance regressions in a continuous integration system").

Ranks ignore how far off a run is, so that one failed run is no change and hides none. They assume nothing about how
runs vary, and do not show whether other segments would agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ALPHA = 0.01
"""Stricter than for a single run, because a series is tested again after every run."""

FEWEST = 8
"""Minimum number of runs with a score."""

LASTING = 3
"""Minimum number of runs of a level; fewer are outliers."""

PERMUTATIONS = 20_000
"""Most permutations of a test; fewer where alpha needs no more."""

RESOLUTION = 20
"""Alpha is at least this multiple of the smallest possible p-value."""

PORTION = 500
"""Permutations of the first batch."""

SMALLEST_ALPHA = 2e-4
"""Lower bound of the corrected alpha: a smaller one would need more permutations."""

SEED = 12345


@dataclass(frozen=True)
class ChangePoint:
    """A change of level."""

    at: int
    """The first run of the new level, a position in the series."""
    before: int
    """The first run of the level before."""
    after: int
    """The end of the new level: the first run of the next, or the length of the series."""
    p: float
    """Of the permutation test."""


def find_change_points(values: Floats, alpha: float = ALPHA) -> list[ChangePoint]:
    """The changes of level in a series of runs. The same series has the same changes on every machine.

    Parameters
    ----------
    values : ndarray of float64, shape (runs,)
        The scores, in order; NaN where a run has none.
    alpha : float
        The significance level of a change.

    Returns
    -------
    list of ChangePoint
        The earliest first; empty if fewer than `FEWEST` runs have a score.
    """
    there = np.flatnonzero(~np.isnan(values))
    if len(there) < FEWEST:
        return []
    cuts: dict[int, float] = {}
    _search(values[there], 0, alpha, cuts)
    places = sorted(cuts)
    ends = [0, *places, len(there)]
    return [
        ChangePoint(
            at=int(there[place]),
            before=int(there[ends[number]]),
            after=int(there[ends[number + 2]]) if number + 2 < len(ends) - 1 else len(values),
            p=cuts[place],
        )
        for number, place in enumerate(places)
    ]


def shared_alpha(series: int, alpha: float = ALPHA) -> float:
    """The alpha of each of several series, corrected by Bonferroni but not below `SMALLEST_ALPHA`.

    Parameters
    ----------
    series : int
        How many series vary: constant ones cannot show a false change.
    alpha : float
        Of all together.

    Returns
    -------
    float
    """
    return max(alpha / max(series, 1), min(alpha, SMALLEST_ALPHA))


def _search(values: Floats, offset: int, alpha: float, cuts: dict[int, float]) -> None:
    if len(values) < 2 * LASTING:
        return
    place, p = _best_cut(values, alpha)
    if p >= alpha:
        return
    cuts[offset + place] = p
    _search(values[:place], offset, alpha, cuts)
    _search(values[place:], offset + place, alpha, cuts)


def _best_cut(values: Floats, alpha: float) -> tuple[int, float]:
    """The first run after the likeliest cut, and its p-value, which is inexact unless below alpha."""
    ranks = _doubled_ranks(values)
    cuts = _cuts(len(values))
    statistics = _statistics(ranks[np.newaxis], cuts)[:, 0]
    largest, place = float(statistics.max()), int(cuts.at[np.argmax(statistics)])
    if not largest:
        return place, 1.0
    permutations = min(max(math.ceil(RESOLUTION / alpha), PORTION), PERMUTATIONS)
    as_large, made, needed = 0, 0, alpha * (permutations + 1)
    # A few hundred at first: for most series they suffice to exclude a change.
    while made < permutations:
        first, made = made, min(max(2 * made, PORTION), made + 4 * PORTION, permutations)
        found = _statistics(ranks[_orders(len(values), first, made)], cuts)
        as_large += int((found.max(axis=0) >= largest).sum())
        if as_large + 1 >= needed:
            break
    return place, (as_large + 1) / (made + 1)


@dataclass(frozen=True)
class _Cuts:
    """Arrays of intervals of runs and their cuts: runs first..at against runs at..last."""

    first: NDArray[np.int64]
    at: NDArray[np.int64]
    last: NDArray[np.int64]


@lru_cache(maxsize=256)
def _cuts(runs: int) -> _Cuts:
    """All cuts of the whole series, and of parts half as long, a quarter and so on, which overlap by half."""
    found, parts = [], 1
    while (length := -(-runs // parts)) >= 2 * LASTING:
        for run in range(2 * parts - 1):
            first = run * (runs - length) // max(2 * parts - 2, 1)
            found += [(first, at, first + length) for at in range(first + LASTING, first + length - LASTING + 1)]
        parts *= 2
    first, at, last = np.array(found, np.int64).T
    return _Cuts(first, at, last)


def _statistics(ranks: NDArray[np.int64], cuts: _Cuts) -> NDArray[Any]:
    """How far apart the mean ranks before and after every cut are: (cuts, series), squared and scaled.

    Doubled ranks are integers, and so are these sums: equal orders have equal statistics.
    """
    runs = ranks.shape[1]
    # All products for so few runs are integers that float32 holds, too, at half the cost.
    kind: type[np.float32 | np.float64] = np.float32 if 2 * runs**3 < 2**24 else np.float64
    sums: NDArray[Any] = np.zeros((runs + 1, len(ranks)), kind)
    np.cumsum(ranks.T, axis=0, out=sums[1:])
    history: NDArray[Any] = (cuts.at - cuts.first).astype(kind)[:, np.newaxis]
    after: NDArray[Any] = (cuts.last - cuts.at).astype(kind)[:, np.newaxis]
    away = (history + after) * sums[cuts.at] - history * sums[cuts.last] - after * sums[cuts.first]
    scaled: NDArray[Any] = away * away / (history * after * (history + after))
    return scaled


def _doubled_ranks(values: Floats) -> NDArray[np.int64]:
    """Twice the rank of each; equal values share the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (2 * ends - counts + 1)[which].astype(np.int64)


@lru_cache(maxsize=64)
def _orders(runs: int, first: int, last: int) -> NDArray[np.uint16]:
    """Random orders of so many runs, (orders, runs), a pure function of their numbers; read-only.

    They are the same for all series of this length, so they are cached.
    """
    groups = math.ceil(runs / 4)
    key = np.array([SEED, 3 << 62 | 3 << 32 | runs], np.uint64)
    stream = np.random.Philox(key=key, counter=np.array([first * groups, 0, 0, 0], np.uint64))
    words = stream.random_raw((last - first) * groups * 4).reshape(last - first, groups * 4)[:, :runs]
    orders = np.argsort(words, axis=1, kind="stable").astype(np.uint16)
    orders.flags.writeable = False
    return orders
