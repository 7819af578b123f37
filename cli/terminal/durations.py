"""Durations as text."""

from __future__ import annotations

STEPS = ((60.0, 1.0, "s"), (3600.0, 60.0, "min"), (86400.0, 3600.0, "h"))


def duration(seconds: float) -> str:
    """A duration such as "0.4 s", "35 s", "12 min", "2.5 h" or "3.1 days"."""
    for end, unit, called in STEPS:
        if round(seconds / unit, 1) < end / unit:
            return f"{_short(seconds / unit)} {called}"
    return f"{_short(seconds / 86400.0)} days"


def _short(value: float) -> str:
    return f"{max(value, 0.0):.1f}" if value < 9.95 else f"{value:.0f}"
