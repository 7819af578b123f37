"""Lines in another order, and texts that have nothing to do with the test set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.checks.finding import Finding, Severity, make_finding
from steelyard.checks.matching import deviation
from steelyard.checks.shifts import maximum_sum_run
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.checks.examined import AlignedOutput
    from steelyard.checks.matching import Matching
    from steelyard.checks.shifts import ShiftedRun

SURE = 12.0
"""Nats by which a line must fit another segment better to be counted as displaced: about two rare words."""
CLEAR = 6.0
"""Nats by which that other segment must fit better than any third."""
SHARE, FEWEST = 0.05, 5
"""Of the lines, and lines, that must be displaced. Real systems have up to one of a hundred."""
ENOUGH_LINES = 30
"""Fewer tell nothing of the whole."""
RELATED = 0.2
"""Correlation of lengths below which line and segment have nothing to do with each other. Real systems have 0.8."""
MOSTLY = 1 / 3
"""Of the lines, in runs that fit elsewhere: then it is the right text."""
REVERSED = 0.5
"""Correlation of lengths with those of the other end from which on a file is in reverse order."""
VARIED = 0.25
"""Standard deviation of the logarithm of lengths below which lengths tell nothing."""
CHANCE = 3.0
"""Standard errors above chance below which shared words tell nothing, either."""
MISFIT = 0.1
"""Of how well the lines of the output fit their segments: what each line of a run must fall below, on the mean."""
ENOUGH_MISFIT = 12.0
"""Nats that a run must lack in all. Real systems have up to 2; eighty lines of another text have 30 and more."""
LOOK = "Are they in another order, or of another text?"
EXAMPLES = 5


def find_disorder(examined: AlignedOutput, matching: Matching, runs: Sequence[ShiftedRun]) -> list[Finding]:
    """Find lines in another order, and texts of another test set.

    Parameters
    ----------
    examined : AlignedOutput
    matching : Matching
    runs : sequence of ShiftedRun
        Those that were found already.

    Returns
    -------
    list of Finding
    """
    displaced = displaced_lines(matching, runs)
    if len(displaced) >= max(FEWEST, SHARE * len(examined.lines)):
        return [_reordered(examined, matching, displaced)]
    if len(examined.lines) < ENOUGH_LINES or sum(run.end - run.first for run in runs) > MOSTLY * len(examined.lines):
        return []
    against = "references" if examined.references else "source"
    if not _fits(matching):
        if _related(matching.lines[::-1], matching.segments) > REVERSED:
            message = "Judging by their lengths, the lines are in reverse order. Put them in the order of the test set."
            return [Finding("reordered", Severity.WARNING, message, count=len(examined.lines))]
        message = (
            "The output does not seem to belong to this test set: neither the words nor the lengths of its lines match "
            f"those of the {against}. Is it the output for another test set, or are its lines in another order?"
        )
        return [Finding("other_text", Severity.WARNING, message)]
    fits = matching.fits(0)
    # Empty lines are reported elsewhere.
    there = ~(np.isnan(matching.lines) | np.isnan(matching.segments))
    misfits = np.where(there, MISFIT * fits.mean() - fits, 0.0)
    for run in runs:
        misfits[run.first : run.end] = -np.inf
    first, end, amount = maximum_sum_run(misfits)
    if amount < ENOUGH_MISFIT:
        return []
    numbers = examined.numbers[first:end]
    message = f"Lines {numbers[0]:,}-{numbers[-1]:,} do not match their segments of the {against}. {LOOK}"
    return [make_finding("misfit", Severity.WARNING, message, numbers)]


def displaced_lines(matching: Matching, runs: Sequence[ShiftedRun]) -> NDArray[np.int64]:
    """Lines that fit one other segment much better than all others, and are in no run.

    Parameters
    ----------
    matching : Matching
    runs : sequence of ShiftedRun

    Returns
    -------
    ndarray of int64
        Positions.
    """
    best, _, next_best = matching.elsewhere
    sure = (best > matching.here + SURE) & (best > next_best + CLEAR)
    for run in runs:
        sure[run.first : run.end] = False
    return np.flatnonzero(sure)


def _reordered(examined: AlignedOutput, matching: Matching, displaced: NDArray[np.int64]) -> Finding:
    _, which, _ = matching.elsewhere
    advice = "Put the lines in the order of the test set."
    share = round(100 * len(displaced) / len(examined.lines))
    if list(examined.lines) == sorted(examined.lines):
        what = "The lines of the output are sorted by their text."
    elif np.mean(np.abs(displaced + which[displaced] - (len(examined.lines) - 1)) <= 2) > 0.8:
        what = "The lines of the output are in reverse order."
    else:
        examples = [
            f"{examined.numbers[place]:,} fits {examined.numbers[which[place]]:,}" for place in displaced[:EXAMPLES]
        ]
        what = (
            f"The lines of the output look reordered: {number_of(len(displaced), 'line')} ({share} %) fit other "
            f"segments much better ({listed(examples)})."
        )
    return make_finding("reordered", Severity.WARNING, f"{what} {advice}", examined.numbers[displaced])


def _fits(matching: Matching) -> bool:
    """Whether lines share more words with their own segments than with others, or have their lengths."""
    other = [matching.at(offset) for offset in (-13, -7, 7, 13)]
    more = matching.here - np.mean(other, axis=0)
    error = more.std() / np.sqrt(len(more))
    if float(more.mean()) > CHANCE * error + 1e-9:
        return True
    if deviation(matching.segments) < VARIED:
        # Lengths tell nothing, and words only where some are shared at all.
        return bool(matching.evidence.data.size < len(more))
    return _related(matching.lines, matching.segments) >= RELATED


def _related(lines: NDArray[np.float64], segments: NDArray[np.float64]) -> float:
    """Correlation of those where neither is empty; 0 where one side does not vary."""
    both = ~(np.isnan(lines) | np.isnan(segments))
    lines, segments = lines[both], segments[both]
    if len(lines) < 2 or min(lines.std(), segments.std()) < 1e-9:
        return 0.0
    return float(np.corrcoef(lines, segments)[0, 1])
