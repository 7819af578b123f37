"""Checks for shifted lines: runs that fit better some segments before or after their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.checks.finding import Finding, Severity, make_finding
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.checks.examined import AlignedOutput
    from steelyard.checks.matching import Matching

NEAR = 20
"""Offsets that are always tried."""
FURTHER = 20
"""Other offsets that are tried, for blocks that have changed places."""
VOTE = 4.0
"""Nats by which a line must fit another segment better to vote for its offset."""
FEWEST_VOTES = 4
DRIFT = 0.3
"""Nats that each line of a run must gain: without it, runs would go on until something contradicts them."""
ENOUGH = 15.0
"""Nats that a run must gain in all. Real systems have up to 8; twenty segments shifted by one have 20 and more."""
FITTING, FITTING_LINE = 5.0, 0.2
"""Nats by which a run, and each line of it, must fit its new place better than a random one.

Otherwise the old place is merely a bad fit.
"""
MAX_RUNS = 6


@dataclass(frozen=True, slots=True)
class ShiftedRun:
    """Consecutive lines that belong elsewhere."""

    first: int
    end: int
    """Positions of the first line, and after the last."""
    gain: float
    offset: int
    """How many segments later they belong."""


def find_shifts(examined: AlignedOutput, runs: Sequence[ShiftedRun]) -> list[Finding]:
    """The finding that describes runs of shifted lines.

    Parameters
    ----------
    examined : AlignedOutput
    runs : sequence of ShiftedRun

    Returns
    -------
    list of Finding
        Empty without runs.
    """
    if not runs:
        return []
    sentences = describe_runs(examined, runs)
    against = "the references" if examined.references else "the source"
    message = (
        f"Lines look shifted against {against}. {' '.join(sentences)} Check whether lines were lost, duplicated or "
        "reordered."
    )
    places = [place for run in runs for place in range(run.first, run.end)]
    return [make_finding("shifted", Severity.WARNING, message, examined.numbers[sorted(set(places))])]


def describe_runs(examined: AlignedOutput, runs: Sequence[ShiftedRun]) -> list[str]:
    """A sentence for each run.

    Parameters
    ----------
    examined : AlignedOutput
    runs : sequence of ShiftedRun

    Returns
    -------
    list of str
    """
    return [_describe_run(examined, run) for run in runs]


def find_runs(matching: Matching, most: int = MAX_RUNS) -> list[ShiftedRun]:
    """The disjoint runs of shifted lines that gain enough, in order.

    Parameters
    ----------
    matching : Matching
    most : int
        How many to look for.

    Returns
    -------
    list of ShiftedRun
    """
    runs: list[ShiftedRun] = []
    tried = 0
    gains = {offset: matching.gains(offset) - DRIFT for offset in _offsets(matching)}
    best = {offset: ShiftedRun(*maximum_sum_run(gain), offset) for offset, gain in gains.items()}
    while len(runs) < most and tried < 4 * most:
        tried += 1
        run = max(best.values(), key=lambda each: (each.gain, -abs(each.offset)))
        if run.gain < ENOUGH:
            break
        if matching.fits(run.offset)[run.first : run.end].sum() >= max(FITTING, FITTING_LINE * (run.end - run.first)):
            runs.append(run)
        for offset, gain in gains.items():
            gain[run.first : run.end] = -np.inf
            if best[offset].first < run.end and run.first < best[offset].end:
                best[offset] = ShiftedRun(*maximum_sum_run(gain), offset)
    return sorted(runs, key=lambda each: each.first)


def _offsets(matching: Matching) -> list[int]:
    """Return nearby offsets, and those that several lines vote for."""
    values, which, _ = matching.elsewhere
    votes = values > matching.here + VOTE
    offsets, counts = np.unique(which[votes] - np.flatnonzero(votes), return_counts=True)
    most = np.argsort(-counts, kind="stable")[:FURTHER]
    voted = {int(offset) for offset, count in zip(offsets[most], counts[most], strict=True) if count >= FEWEST_VOTES}
    near = range(-NEAR, NEAR + 1)
    return sorted((voted | set(near)) - {0})


def maximum_sum_run(gain: NDArray[np.float64]) -> tuple[int, int, float]:
    """The consecutive lines with the largest sum.

    Parameters
    ----------
    gain : ndarray of float64, shape (lines,)

    Returns
    -------
    first, end : int
        Without `end`.
    total : float
        Their sum.
    """
    # Infinities would spoil all later sums; this much is never compensated.
    sums = np.concatenate([[0.0], np.cumsum(np.maximum(gain, -1e6))])
    rises = sums - np.minimum.accumulate(sums)
    end = int(rises.argmax())
    first = int(np.flatnonzero(sums[: end + 1] == sums[: end + 1].min())[-1]) if end else 0
    return first, end, float(rises[end])


def _describe_run(examined: AlignedOutput, run: ShiftedRun) -> str:
    first, last = int(examined.numbers[run.first]), int(examined.numbers[run.end - 1])
    lines = number_of(abs(run.offset), "line")
    told = f"Lines {first:,}-{last:,} fit the segments {first + run.offset:,}-{last + run.offset:,}"
    if abs(run.offset) > NEAR:
        return f"{told}."
    if run.offset > 0:
        return f"{told}: {lines} may be missing at about line {first:,}."
    return f"{told}: {lines} may be too many at about line {max(1, first + run.offset):,}."
