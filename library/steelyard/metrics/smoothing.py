"""What stands in for a precision of zero, so that a geometric mean is not zero for it: the parameter `smooth`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from steelyard.metrics.parameters import Alias, number_to

SMOOTHING_DEFAULTS = {"floor": 0.1, "add-k": 1.0}
LARGEST_VALUE = 10**9
"""Of a smoothing: far beyond what makes sense."""


@dataclass(frozen=True)
class Smoothing:
    """What stands in for a precision of zero (Chen and Cherry 2014); `value` belongs to floor and add-k."""

    method: str
    value: float = 0.0

    def __str__(self) -> str:
        if self.method not in SMOOTHING_DEFAULTS:
            return self.method
        # sacreBLEU writes two digits; a value that needs more keeps them, so that the text parses back.
        text = f"{self.value:.2f}" if round(self.value, 2) == self.value else repr(self.value)
        return f"{self.method}[{text}]"


def parse_smoothing(text: str) -> Smoothing:
    """A smoothing as sacreBLEU writes it.

    Parameters
    ----------
    text : str
        `none`, `exp`, `floor`, `add-k`, or with a value: `floor[0.05]`.

    Returns
    -------
    Smoothing

    Raises
    ------
    ValueError
        For anything else.
    """
    found = re.fullmatch(r"(none|exp)|(floor|add-k)(?:\[(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\])?", text)
    if not found:
        raise ValueError("is none, exp, floor[VALUE] or add-k[VALUE]")
    plain, method, value = found.groups()
    if plain:
        return Smoothing(plain)
    return Smoothing(method, float(value) if value else SMOOTHING_DEFAULTS[method])


def smoothing_text(method: str | None, value: str | None) -> str:
    """What sacreBLEU's two arguments say together. As there, none and exp pass over a value.

    Parameters
    ----------
    method : str or None
        None is exp.
    value : str or None

    Returns
    -------
    str
        For `parse_smoothing`.

    Raises
    ------
    ValueError
        For a value that is no number from 0 on.
    """
    method = "exp" if method is None else method
    if method not in SMOOTHING_DEFAULTS or value is None:
        return method
    return f"{method}[{number_to(LARGEST_VALUE)(value)!r}]"


EXPONENTIAL = Smoothing("exp")
SMOOTHING_ALIAS = Alias(("smooth_method", "smooth_value"), smoothing_text, ("str", "float"))
"""sacreBLEU's two arguments."""
