"""Numbers for people. Negative numbers have a minus sign, not a hyphen."""

from __future__ import annotations

import math

MISSING = "n/a"
_RESOLUTION = 0.001


def digits(scale: float) -> int:
    """Return the decimals of scores on this scale: more if it has no upper end, because such scores are small."""
    return 1 if math.isfinite(scale) else 3


def number(value: float | None, places: int = 1, *, sign: bool = False) -> str:
    """Format with so many decimals; n/a if undefined."""
    if value is None or math.isnan(value):
        return MISSING
    text = f"{value:{'+' if sign else ''}.{places}f}"
    # What rounds to zero has no sign.
    text = text.lstrip("+-") if not text.strip("+-0.") else text
    return text.replace("-", "−")


def p_value(p: float | None) -> str:
    """Format a p-value with three decimals, never as zero."""
    if p is None or math.isnan(p):
        return MISSING
    return f"< {_RESOLUTION}" if p < _RESOLUTION else f"{p:.3f}"


def ends(interval: tuple[float, float] | None, places: int = 1) -> str:
    """Format an interval in brackets; "" if there is none."""
    return "" if interval is None else f"[{number(interval[0], places)}, {number(interval[1], places)}]"


def rank_range(low: int, high: int) -> str:
    """Format as 2–4; one number if both are equal."""
    return str(low) if low == high else f"{low}–{high}"
