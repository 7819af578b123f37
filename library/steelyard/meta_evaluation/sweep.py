"""One metric with many values of one of its parameters."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from steelyard.errors import BadParameter
from steelyard.metrics.ngram.bleu import BLEU
from steelyard.metrics.registry import metric_class
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.metrics.metric import Metric

LARGEST_SWEEP = 100
"""Values in one sweep: each is stored for every segment."""

PUBLISHED = {
    ("tbleu", "eps"): ("0.05", "1", 20),
    ("bleu_modif", "gamma"): ("0", "0.9", 10),
}
"""First value, last value and number of values of the sweeps that papers show, by metric and parameter.

Libovický and Pecina 2014, Figure 2, and Wang and Merlo 2016, Figure 1.
"""


@dataclass(frozen=True)
class Sweep:
    """One metric with many values of one of its parameters, and what it has to be better than."""

    parameter: str
    values: tuple[str, ...]
    """In their order."""
    metrics: tuple[Metric, ...]
    """One for each value."""
    rivals: tuple[Metric, ...]
    """The metric as it is by default, and the metric that it is a variant of."""

    @property
    def every(self) -> tuple[Metric, ...]:
        """All metrics that have to be measured, each once: those of the values first."""
        return tuple(dict.fromkeys((*self.metrics, *self.rivals)))


def sweep(
    name: str, parameter: str, values: Sequence[str], fixed: Mapping[str, str], rivals: Sequence[Metric] | None = None
) -> Sweep:
    """One metric with each of several values of one parameter.

    Parameters
    ----------
    name : str
        Of the metric.
    parameter : str
    values : list of str
    fixed : mapping of str to str
        Its other parameters.
    rivals : list of Metric, optional
        What it has to be better than; else the metric with the parameter's default value, and BLEU with the same order,
        smoothing, tokenizer and case where the metric is a variant of it.

    Returns
    -------
    Sweep

    Raises
    ------
    UnknownMetric
        For a metric that there is not.
    BadParameter
        For a parameter that the metric does not have, a value that it does not allow, a value given twice and too many
        of them.
    """
    found = metric_class(name)
    if parameter in fixed:
        raise BadParameter(f"{name}: {parameter} cannot be tried and fixed at the same time.")
    if not 2 <= len(values) <= LARGEST_SWEEP:
        raise BadParameter(f"{number_of(len(values), 'value')} of {parameter}: give 2 to {LARGEST_SWEEP}.")
    metrics = [found.from_texts({**fixed, parameter: value}) for value in values]
    shown = [_shown(metric, parameter) for metric in metrics]
    if twice := [value for place, value in enumerate(shown) if value in shown[:place]]:
        raise BadParameter(f"{name}: {parameter}={twice[0]} is given twice.")
    plain = found.from_texts(fixed)
    if rivals is None:
        rivals = [plain]
        if isinstance(plain, BLEU) and type(plain) is not BLEU:
            shared = {field.name: getattr(plain, field.name) for field in dataclasses.fields(BLEU)}
            rivals = [plain, BLEU(**shared)]
    return Sweep(parameter, tuple(shown), tuple(metrics), tuple(rivals))


def published_values(name: str, parameter: str) -> list[str] | None:
    """The values that the metric's paper shows.

    Parameters
    ----------
    name : str
    parameter : str

    Returns
    -------
    list of str, or None
        None where it shows none.

    Raises
    ------
    UnknownMetric
        For a metric that there is not.
    BadParameter
        For a parameter that it does not have.
    """
    metric_class(name).parameter(parameter)
    known = PUBLISHED.get((name, parameter))
    return evenly(*known) if known else None


def evenly(first: str, last: str, steps: int) -> list[str]:
    """Values at equal distances, exact in decimals: 0.1, not 0.1000…01.

    Parameters
    ----------
    first : str
    last : str
    steps : int
        How many values.

    Returns
    -------
    list of str

    Raises
    ------
    BadParameter
        For what is no number, and for too many or too few steps.
    """
    try:
        low, high = Decimal(first), Decimal(last)
        if not (low.is_finite() and high.is_finite() and 2 <= steps <= LARGEST_SWEEP):
            raise InvalidOperation
        width = (high - low) / (steps - 1)
        return [f"{(low + width * step).quantize(Decimal('1e-9')).normalize():f}" for step in range(steps)]
    except ArithmeticError as error:
        raise BadParameter(
            f"From {first} to {last} in {steps} steps: give two numbers, and 2 to {LARGEST_SWEEP} steps."
        ) from error


def _shown(metric: Metric, parameter: str) -> str:
    return metric.shown(metric.parameter(parameter))
