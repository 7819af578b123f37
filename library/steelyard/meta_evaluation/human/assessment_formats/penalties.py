"""Scores of MQM from error spans."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.table import BadTable
from steelyard.meta_evaluation.human.weights import Weights
from steelyard.text.findings import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.meta_evaluation.human.assessment_formats.assessment import ErrorSpan

_MORE = {"critical": 5.0, "undecided": 0.0, "minor/non-translation": 25.0, "critical/non-translation": 25.0}
WEIGHTS = Weights({**Weights().by_path, **_MORE})
"""Those of Freitag et al. 2021, and WMT24's of what they do not have."""

_NO_FAULT_OF_SYSTEMS = ("source issue", "source-issue", "reinterpretation")
"""Categories that WMT24 does not count."""


def penalty(spans: Iterable[ErrorSpan], where: str, weights: Weights = WEIGHTS) -> float:
    """Minus the sum of what errors weigh.

    Parameters
    ----------
    spans : iterable of ErrorSpan
    where : str
    weights : Weights

    Returns
    -------
    float
        0 without errors, never -0.0.

    Raises
    ------
    BadTable
        For a severity that weighs nothing known.
    """
    return 0.0 - math.fsum(weight_of(each.severity, each.category, where, weights) for each in spans)


def weight_of(severity: str, category: str, where: str, weights: Weights = WEIGHTS) -> float:
    """What one error weighs.

    Parameters
    ----------
    severity, category : str
    where : str
    weights : Weights

    Returns
    -------
    float

    Raises
    ------
    BadTable
        For a severity that weighs nothing known.
    """
    if any(each in category.casefold().replace("_", " ") for each in _NO_FAULT_OF_SYSTEMS):
        return 0.0
    found = weights.of(severity or "no-error", category)
    if found is None:
        raise BadTable(f"{where}: nothing says what an error of severity {quoted(severity)} weighs.")
    return found
