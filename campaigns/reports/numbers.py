"""Numbers for people. The sign of a number below nought is a minus, not a hyphen."""

from __future__ import annotations

import math

MISSING = "n/a"
_RESOLUTION = 0.001


def digits(scale: float) -> int:
    """Digits after the point of scores on this scale: more where it has no end, for such scores are small."""
    return 1 if math.isfinite(scale) else 3


def number(value: float | None, places: int = 1, *, sign: bool = False) -> str:
    """The value with so many digits after the point; n/a where it is undefined."""
    if value is None or math.isnan(value):
        return MISSING
    text = f"{value:{'+' if sign else ''}.{places}f}"
    # What rounds to nought has no sign.
    text = text.lstrip("+-") if not text.strip("+-0.") else text
    return text.replace("-", "−")


def p_value(p: float | None) -> str:
    """A p-value with three digits, never as nought."""
    if p is None or math.isnan(p):
        return MISSING
    return f"< {_RESOLUTION}" if p < _RESOLUTION else f"{p:.3f}"


def ends(interval: tuple[float, float] | None, places: int = 1) -> str:
    """An interval in brackets; empty where there is none."""
    return "" if interval is None else f"[{number(interval[0], places)}, {number(interval[1], places)}]"


def rank_range(low: int, high: int) -> str:
    """Such as 2–4; one number where both are equal."""
    return str(low) if low == high else f"{low}–{high}"
