"""What annotators did: how far they agree on values, how each differs from the others, and how fast they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.scoring import mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from steelyard.meta_evaluation.human.judgments import Judgment


@dataclass(frozen=True, slots=True)
class Reliability:
    """Krippendorff's alpha of values on an interval scale."""

    alpha: float
    """1 if annotators always agree, 0 if they agree as by chance; NaN where nothing can be said."""
    outputs: int
    """How many outputs of segments several annotators judged."""


@dataclass(frozen=True, slots=True)
class Annotator:
    """One annotator among others."""

    name: str
    judgments: int
    outputs: int
    """How many outputs of segments."""
    mean: float
    deviation: float
    """Standard deviation of a sample; with the mean it makes z-scores. NaN for a single output."""
    shared: int
    """How many of the outputs others judged, too."""
    z: float
    """The mean difference from the others on these, in standard deviations of all values; NaN without any."""
    seconds: float
    """The median of a judgment; NaN where no times are known."""


def reliability(judgments: Iterable[Judgment]) -> Reliability:
    """Return Krippendorff's alpha (2011) of the mean values that annotators gave to outputs, with squared differences.

    Parameters
    ----------
    judgments : iterable of Judgment
        Ratings, or sums of penalties.

    Returns
    -------
    Reliability
    """
    units = [list(values.values()) for values in _outputs(judgments).values() if len(values) > 1]
    everything = list(chain.from_iterable(units))
    expected = _squared_differences(everything) / (len(everything) - 1) if units else 0.0
    # Where everybody always says the same there is nothing to agree on.
    if expected <= 0:
        return Reliability(math.nan, len(units))
    observed = math.fsum(_squared_differences(values) / (len(values) - 1) for values in units)
    return Reliability(1 - observed / expected, len(units))


def describe_annotators(values: Sequence[Judgment], judgments: Sequence[Judgment]) -> list[Annotator]:
    """Describe each annotator, by name.

    Parameters
    ----------
    values : sequence of Judgment
        What can be compared: ratings, or sums of penalties.
    judgments : sequence of Judgment
        What was stored: of errors each one, with the time that it took.

    Returns
    -------
    list of Annotator
    """
    outputs = _outputs(values)
    spread = _deviation([value for of_output in outputs.values() for value in of_output.values()])
    by_annotator: dict[str, list[Mapping[str, float]]] = {}
    for of_output in outputs.values():
        for annotator in of_output:
            by_annotator.setdefault(annotator, []).append(of_output)
    counts: dict[str, int] = {}
    times: dict[str, list[float]] = {}
    for each in judgments:
        counts[each.annotator] = counts.get(each.annotator, 0) + 1
        if each.seconds is not None:
            times.setdefault(each.annotator, []).append(each.seconds)
    return [
        _described(name, counts[name], by_annotator.get(name, ()), spread, times.get(name, ()))
        for name in sorted(counts)
    ]


def _described(
    name: str, judgments: int, outputs: Collection[Mapping[str, float]], spread: float, times: Sequence[float]
) -> Annotator:
    own = [of_output[name] for of_output in outputs]
    differences = [
        of_output[name] - mean([value for other, value in of_output.items() if other != name])
        for of_output in outputs
        if len(of_output) > 1
    ]
    return Annotator(
        name=name,
        judgments=judgments,
        outputs=len(own),
        mean=mean(own) if own else math.nan,
        deviation=_deviation(own),
        shared=len(differences),
        z=mean(differences) / spread if differences and spread > 0 else math.nan,
        seconds=median(times) if times else math.nan,
    )


def _outputs(judgments: Iterable[Judgment]) -> dict[tuple[str, int, int], dict[str, float]]:
    """By system, segment and wave the mean value that each annotator gave."""
    found: dict[tuple[str, int, int], dict[str, list[float]]] = {}
    for each in judgments:
        of_output = found.setdefault((each.system, each.segment, each.wave), {})
        of_output.setdefault(each.annotator, []).append(each.value)
    return {
        output: {annotator: mean(values) for annotator, values in of_output.items()}
        for output, of_output in found.items()
    }


def _squared_differences(values: Sequence[float]) -> float:
    """The sum over all ordered pairs."""
    centre = mean(values)
    return 2 * len(values) * math.fsum((value - centre) * (value - centre) for value in values)


def _deviation(values: Sequence[float]) -> float:
    if len(values) < 2:
        return math.nan
    return math.sqrt(_squared_differences(values) / (2 * len(values) * (len(values) - 1)))
