"""The numbers along an axis: round, not too many, and short even if the values are not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_STEPS = 9
"""Steps from the first number of an axis to the last."""
MAX_LABEL_LENGTH = 7
"""Characters of a number that fit beside an axis."""
ROUNDING = 1e-9
"""Steps by which a number may exceed the end of the axis through rounding."""
SHORT = 4
"""Digits of a number after its common part was removed."""
_STEPS = ((1, 0), (2, 0), (25, -1), (5, 0), (1, 1))
"""1, 2, 2.5, 5 and 10: digits, and the power of ten to multiply them by."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Ticks:
    """The ticks of an axis."""

    places: Sequence[float]
    labels: Sequence[str]
    note: str = ""
    """What the labels leave out, such as `×10⁶ + 3`: multiply, then add."""


def ticks_between(low: float, high: float, most: int = MAX_STEPS) -> Ticks:
    """Return numbers from `low` to `high`, both finite, with at most `most` steps between them."""
    step, power = _step(low, high, most)
    unit = step * 10.0**power
    if not unit:
        return Ticks((), ())
    # Integer multiples of a power of ten, so that labels have no rounding errors.
    first, last = math.ceil(low / unit - ROUNDING), math.floor(high / unit + ROUNDING)
    numbers = [count * step for count in range(first, last + 1)]
    labels, note = _labels(numbers, power)
    return Ticks([number * 10.0**power for number in numbers], labels, note)


def _step(low: float, high: float, most: int) -> tuple[int, int]:
    """Return the smallest round step that is large enough: its digits, and a power of ten."""
    room = (high - low) / most
    magnitude = math.floor(math.log10(room)) if room > 0 else -400
    for step, shift in _STEPS:
        if step * 10.0 ** (magnitude + shift) >= room * (1 - ROUNDING):
            return step, magnitude + shift
    return 1, magnitude + 1


def _labels(numbers: Sequence[int], power: int) -> tuple[list[str], str]:
    """Return texts of `numbers` times ten to this power, and what they leave out."""
    if not numbers:
        return [], ""
    labels = [_decimal(number, power) for number in numbers]
    if max(map(len, labels)) <= MAX_LABEL_LENGTH:
        return labels, ""
    offset = 0
    if max(len(str(abs(number))) for number in numbers) > SHORT:
        shared = 10 ** len(str(numbers[-1] - numbers[0]))
        offset = numbers[0] // shared * shared
    kept, power_kept = _without_zeros([number - offset for number in numbers], power)
    digits = len(str(max(abs(number) for number in kept))) - 1
    scale = power_kept + digits
    raised = f"×10{str(scale).translate(_RAISED)}" if scale else ""
    (added,), power = _without_zeros([abs(offset)], power)
    note = f"{raised} {'−' if offset < 0 else '+'} {_decimal(added, power)}" if offset else raised
    return [_decimal(number, -digits) for number in kept], note.strip()


def _without_zeros(numbers: Sequence[int], power: int) -> tuple[Sequence[int], int]:
    """The same numbers times a higher power of ten, where all end in zeros behind the point."""
    while power < 0 and not any(number % 10 for number in numbers):
        numbers, power = [number // 10 for number in numbers], power + 1
    return numbers, power


def _decimal(number: int, power: int) -> str:
    """`number` times ten to this power, written out, with a minus sign."""
    sign, digits = "−" if number < 0 else "", str(abs(number))
    if power >= 0:
        return sign + (digits + "0" * power if number else digits)
    digits = digits.rjust(1 - power, "0")
    return f"{sign}{digits[:power]}.{digits[power:]}"
