"""The output of `mtrics`: the format of Kos (2008), appendix A.4."""

from __future__ import annotations

import math
import shlex
import time
from typing import TYPE_CHECKING, NamedTuple

from steelyard.commands.scoring.runs import shown_words
from steelyard.metrics.parameters import show_number
from steelyard.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.commands.scoring.score_result import MetricScores, Result
    from steelyard.metrics.score_systems import MetricResult


class Run(NamedTuple):
    """A call of the command."""

    started: float
    """Unix time."""
    seconds: float
    """Time to compute the scores."""
    parameters: Sequence[str]
    """The words of the command line."""


def report(result: Result, titles: Sequence[str], run: Run) -> Iterator[str]:
    """The lines of A.4: a header, and `SYSTEM:<tab>METRIC:<tab>SCORE` for every metric and system.

    With -v the same for every segment before it, in sections of their own, and in the end how the scores were made.
    `titles` are what the metrics are called.

    Parameters
    ----------
    result : Result
    titles : sequence of str
    run : Run
    """
    verbose = result.options.segments
    yield f"MT evaluation run on {time.ctime(run.started)}"
    yield from ("", f"Computation finished in {run.seconds:.0f} seconds")
    yield from ("", f"Parameters: {printable(shlex.join(run.parameters))}")
    named = list(zip(titles, result.metrics, strict=True))
    for segment in range(result.inputs.references[0].segments if verbose else 0):
        yield from ("", f"Segment {segment + 1}:", "")
        for title, metric in named:
            yield from segment_lines(result, title, metric.measurement, segment)
    yield from ("", "Total score:", "")
    for title, metric in named:
        yield from total_lines(result, title, metric)
    if verbose:
        yield from ("", "Signatures:", "")
        yield from (f"{title}:\t{metric.signature}" for title, metric in named)
        if result.options.confidence:
            yield f"Intervals:\t{100 * result.options.level:g} %"


def total_lines(result: Result, title: str, metric: MetricScores) -> Iterator[str]:
    """A line for each system; with -conf its interval behind the score, with -v further figures below it.

    Parameters
    ----------
    result : Result
    title : str
    metric : MetricScores
    """
    measurement = metric.measurement
    for system, name in enumerate(result.inputs.names):
        found = metric.systems[system]
        ends = found.interval
        interval = f"\t[{shown(measurement, ends[0])}, {shown(measurement, ends[1])}]" if ends else ""
        yield f"{name}:\t{title}:\t{shown(measurement, found.score)}{interval}"
        if result.options.segments:
            details = measurement.metric.details(measurement.sums[system])
            yield from (f"{name}:\t{title} {key}:\t{rounded(value)}" for key, value in details.items())


def segment_lines(result: Result, title: str, measurement: MetricResult, segment: int) -> Iterator[str]:
    """A line for each system, and below it the runs that GTM took.

    Parameters
    ----------
    result : Result
    title : str
    measurement : MetricResult
    segment : int
    """
    assert measurement.segment_scores is not None, "-v asks for them"
    for system, name in enumerate(result.inputs.names):
        yield f"{name}:\t{title}:\t{shown(measurement, float(measurement.segment_scores[system, segment]))}"
        runs = result.runs.of(measurement.metric, system) if result.runs else None
        for run in runs[segment] if runs else ():
            there = f"reference {run.reference + 1} at {run.reference_place + 1}"
            size = show_number(round(run.size, 4))
            yield f"{name}:\t{title} run:\t{size} at {run.place + 1}, {there}: {shown_words(run)}"


def shown(measurement: MetricResult, score: float) -> str:
    """A score from 0 to 1 where ours is from 0 to 100; other scales are kept.

    Parameters
    ----------
    measurement : MetricResult
    score : float

    Returns
    -------
    str
    """
    scale = measurement.metric.scale
    return rounded(score / scale if math.isfinite(scale) else score)


def rounded(value: float) -> str:
    """Four digits after the point, without zeros in the end, as A.4 has them (0.7322, 0.611).

    Parameters
    ----------
    value : float

    Returns
    -------
    str
    """
    return "n/a" if math.isnan(value) else f"{value:.4f}".rstrip("0").removesuffix(".")
