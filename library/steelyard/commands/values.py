"""Values of options from text; ValueError says what is wrong with one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TRIALS = 10_000
"""Trials of the randomization test: `steelyard.resampling.randomization.TRIALS`, not imported to keep help fast."""
UNITS = ("segment", "document")
"""What may be resampled: `steelyard.resampling.documents`, which is not imported for the help."""
ALPHA = 0.05
"""p-value below which a difference counts."""
MOST_REPLICATES = 100_000
"""More would fill the memory and change no printed digit."""
MAX_TRIALS = 10_000_000
"""Of a randomization test."""
MOST_DIGITS = 17
"""Digits after the point: a float64 has no more."""


def named_file(text: str) -> tuple[str, Path]:
    """Parse NAME=FILE.

    Parameters
    ----------
    text : str

    Returns
    -------
    (str, Path)
    """
    name, equals, file = text.partition("=")
    if not (name and equals and file):
        raise ValueError(f'"{text}" is not of the form NAME=FILE')
    return name, Path(file)


def whole_number(text: str) -> int:
    """Parse a non-negative integer below 2^63.

    Parameters
    ----------
    text : str

    Returns
    -------
    int
    """
    if not (text.isascii() and text.isdigit()) or int(text) >= 2**63:
        raise ValueError(f'"{text}" is not a whole number')
    return int(text)


def at_most(most: int) -> Callable[[str], int]:
    """A parser of integers from 0 to `most`.

    Parameters
    ----------
    most : int

    Returns
    -------
    callable
    """

    def number(text: str) -> int:
        found = whole_number(text)
        if found > most:
            raise ValueError(f"{text}: {most:,} is the most")
        return found

    return number


def level(text: str) -> float:
    """Parse a level or probability strictly between 0 and 1.

    Parameters
    ----------
    text : str

    Returns
    -------
    float
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise ValueError(f'"{text}" is not a number between 0 and 1, such as 0.05 for 5 %')
    return value
