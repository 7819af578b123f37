"""Paired approximate randomization: how large a difference is if it does not matter which system made which output.

In each trial every segment's two outputs change places with probability 1/2 (Noreen 1989; Riezler and Maxwell 2005).
Which ones is a pure function of seed, trial and segment (docs/reference/resampling.md): all pairs of systems share it,
trials may be counted anywhere in any portions, and more trials keep the first ones.

Where a system has several runs, all of them change places together: runs of one system are alike, and moving their
outputs one by one, as Clark et al. (2011) do, would take each for evidence of its own (docs/explanation/statistics.md).
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter
from steelyard.resampling.bootstrap import summed
from steelyard.resampling.runs import mean_over_runs, rows_of_systems
from steelyard.text.blocks import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from steelyard.resampling.scored import Formula

    Floats = NDArray[np.float64]
    Bytes = NDArray[np.uint8]
    Pairs = Sequence[tuple[int, int]]

TRIALS = 10_000

MAX_TRIALS = 2**32

EQUAL = 2.0**-40
"""Two differences that differ by less than this share of the scores are equal: only rounding parts them."""

MEMORY = 1 << 26
"""Bytes for what is drawn, and for what is made of it, beside the statistics themselves."""

MOST_AT_ONCE = 2048
"""Trials worked on at once, of however few segments: their sums shall stay in the processor's cache."""


def permutation_counts(
    metric: Formula,
    statistics: Floats,
    pairs: Pairs,
    *,
    seed: int,
    first_trial: int,
    last_trial: int,
    runs: Sequence[int] | None = None,
    on_trials: Callable[[int], None] | None = None,
) -> NDArray[np.int64]:
    """In how many trials of a permutation test each pair's difference is at least as large as it really is.

    The cost grows with the outputs, and with the pairs only by that of the metric's formula: 2 x runs of a x runs of b
    times for each trial. The order of a pair does not matter, nor that of runs.

    Parameters
    ----------
    metric : Formula
        The formula of the score.
    statistics : ndarray of float64, shape (outputs, n, k)
        Those of every segment of every output. An output is a system, unless `runs` is given.
    pairs : sequence of (int, int)
        Positions of systems.
    seed : int
        0 to 2^64 - 1.
    first_trial, last_trial : int
        The trials to count, 0 to 2^32; counts of several portions are to be added.
    runs : sequence of int, optional
        How many of the outputs, side by side, are runs of each system.
    on_trials : function, optional
        Called now and then with the number of trials done.

    Returns
    -------
    ndarray of int64, shape (pairs,)
        Two systems of the same outputs count every trial, and a trial with an undefined score counts as one with a
        large difference. -1 where the score of a system is undefined.

    Raises
    ------
    BadParameter
        For a seed or trials out of bounds.
    TooLarge
        Where sums would not be exact.
    """
    if not 0 <= seed < 2**64 or not 0 <= first_trial <= last_trial <= MAX_TRIALS:
        raise BadParameter(
            f"Trials {first_trial} to {last_trial} with seed {seed}: trials go from 0 to 2^32 and seeds to 2^64 - 1."
        )
    outputs, segments, columns = statistics.shape
    rows = rows_of_systems(outputs, runs)
    # Checks of all segments at once that every part of the sums is exact.
    sums_of = summed([statistics], segments)
    totals = statistics.sum(axis=1) + 0.0
    scores = mean_over_runs(metric.score(totals), runs).tolist()
    counts = np.zeros(len(pairs), np.int64)
    made = 8 * columns * (2 * outputs + max((2 * len(rows[a]) * len(rows[b]) for a, b in pairs), default=1))
    at_once = max(1, min(MOST_AT_ONCE, MEMORY // max(segments, made)))
    for begin in range(first_trial, last_trial, at_once):
        moved = sums_of(sign_flips(segments, seed, begin, min(begin + at_once, last_trial)))[0]
        found = _exchanged(metric, totals, moved, [(rows[a], rows[b]) for a, b in pairs])
        for number, ((a, b), differences) in enumerate(zip(pairs, found, strict=True)):
            counts[number] += _as_large(differences, scores[a], scores[b])
        if on_trials:
            on_trials(min(begin + at_once, last_trial) - first_trial)
    undefined = [math.isnan(scores[a]) or math.isnan(scores[b]) for a, b in pairs]
    return np.where(undefined, -1, counts)


def randomization_p(count: int, trials: int) -> float:
    """The two-sided p-value of a pair.

    The real outputs count as one more trial (Noreen 1989; Phipson and Smyth 2010), so that the test never finds
    more false differences than it promises. Two identical outputs have p = 1.

    Parameters
    ----------
    count : int
        Of `permutation_counts`.
    trials : int

    Returns
    -------
    float
        NaN where the count is negative, that is, undefined.
    """
    return (count + 1) / (trials + 1) if count >= 0 else math.nan


def sign_flips(segments: int, seed: int, first_trial: int, last_trial: int) -> Bytes:
    """Whether the two outputs of each segment are exchanged in each trial.

    Parameters
    ----------
    segments : int
    seed : int
    first_trial, last_trial : int
        Without `last_trial`.

    Returns
    -------
    ndarray of uint8, shape (trials, segments)
        1 where they are, else 0.
    """
    trials, blocks = last_trial - first_trial, -(-segments // BLOCK)
    # One bit for each segment, of the 256 that one count of the generator gives for a block and trial.
    flips = np.empty((trials, blocks * BLOCK // 8), np.uint8)
    for block in range(blocks):
        key = np.array([seed, 3 << 62 | 2 << 32 | block], np.uint64)
        stream = np.random.Philox(key=key, counter=np.array([first_trial, 0, 0, 0], np.uint64))
        words = stream.random_raw(trials * BLOCK // 64).astype("<u8", copy=False)
        flips[:, block * BLOCK // 8 : (block + 1) * BLOCK // 8] = words.view(np.uint8).reshape(trials, -1)
    return np.unpackbits(flips, axis=1, count=segments, bitorder="little")


def _exchanged(
    metric: Formula, totals: Floats, moved: Floats, pairs: Sequence[tuple[range, range]]
) -> Iterator[Floats]:
    """The differences of each pair of systems, given by the rows of their runs, in the trials: (trials,) each.

    `totals` are the sums of each output, (outputs, k), and `moved` those of the segments that change places, (outputs,
    trials, k). In a segment that is swapped a run gets the output of one of the other system's; the score is the mean
    over all ways to choose which run that is, so that neither their order nor their numbers matter.
    """
    kept = totals[:, np.newaxis] - moved
    for a, b in pairs:
        ways = list(product(a, b))
        sums = np.empty((2, len(ways), *moved.shape[1:]))
        for way, (one, other) in enumerate(ways):
            np.add(kept[one], moved[other], out=sums[0, way])
            np.add(kept[other], moved[one], out=sums[1, way])
        scores = metric.score(sums.reshape(-1, *moved.shape[1:]))
        of_a, of_b = mean_over_runs(scores, [len(ways), len(ways)])
        yield of_b - of_a


def _as_large(differences: Floats, score_a: float, score_b: float) -> int:
    """How many of the trials' differences are as large as that of the scores, whatever their sign."""
    limit = abs(score_b - score_a) - EQUAL * (abs(score_a) + abs(score_b))
    return int((~(np.abs(differences) < limit)).sum())
