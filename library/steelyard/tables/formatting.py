"""Numbers, p-values, intervals, times and durations as people read them: in tables, on pages and in reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

MISSING = "n/a"
"""An undefined number."""
SMALLEST_P = 0.0001
"""Smaller p-values are shown as below it, never as zero."""


@dataclass(frozen=True)
class Notation:
    """How numbers are written: with the characters of a keyboard, or with those of print."""

    minus: str = "-"
    dash: str = "-"
    """Between the ends of a range."""

    def number(self, value: float | None, places: int = 1, *, sign: bool = False) -> str:
        """Return the value with so many decimals; what rounds to zero has no sign. None and NaN are `MISSING`.

        Parameters
        ----------
        value : float or None
        places : int, optional
        sign : bool, optional

        Returns
        -------
        str
        """
        if value is None or math.isnan(value):
            return MISSING
        text = f"{value:{'+' if sign else ''}.{places}f}"
        text = text.lstrip("+-") if not text.strip("+-0.") else text
        return text.replace("-", self.minus)

    def interval(self, ends: tuple[float, float] | None, places: int = 1, *, sign: bool = False) -> str:
        """Return the ends in brackets; nothing where there is no interval.

        Parameters
        ----------
        ends : (float, float) or None
        places : int, optional
        sign : bool, optional

        Returns
        -------
        str
        """
        if ends is None:
            return ""
        return f"[{self.number(ends[0], places, sign=sign)}, {self.number(ends[1], places, sign=sign)}]"

    def estimate(
        self,
        value: float | None,
        ends: tuple[float, float] | None,
        places: int = 1,
        *,
        sign: bool = False,
        end_places: int | None = None,
    ) -> str:
        """Return the value, then its interval, whose ends have `end_places` decimals where that is given.

        Parameters
        ----------
        value : float or None
        ends : (float, float) or None
        places : int, optional
        sign : bool, optional
        end_places : int or None, optional

        Returns
        -------
        str
        """
        shown = self.number(value, places, sign=sign)
        if ends is None or shown == MISSING:
            return shown
        return f"{shown} {self.interval(ends, places if end_places is None else end_places, sign=sign)}"

    def rank_range(self, low: int, high: int) -> str:
        """Return the ends with a dash between them; one number where both are equal.

        Parameters
        ----------
        low : int
        high : int

        Returns
        -------
        str
        """
        return str(low) if low == high else f"{low}{self.dash}{high}"


PLAIN = Notation()
"""For terminals and files: numbers can be searched and pasted."""
TYPESET = Notation(minus="−", dash="–")
"""For pages and reports."""


def digits(scale: float, asked: int = 1) -> int:
    """Return the decimals of scores on this scale: more than asked where it goes to 1, or where it has no end.

    Scores without an upper bound are small, too: NIST's.

    Parameters
    ----------
    scale : float
    asked : int, optional

    Returns
    -------
    int
    """
    least = 4 if scale <= 1 else 0 if math.isfinite(scale) else 3
    return max(asked, least)


def p_value(p: float | None) -> str:
    """Return a p-value with four decimals, never as zero. None and NaN are `MISSING`.

    Parameters
    ----------
    p : float or None

    Returns
    -------
    str
    """
    if p is None or math.isnan(p):
        return MISSING
    return f"{p:.4f}" if p >= SMALLEST_P / 2 else f"<{SMALLEST_P}"


def count(value: int) -> str:
    """Return a whole number with commas between the thousands.

    Parameters
    ----------
    value : int

    Returns
    -------
    str
    """
    return f"{value:,}"


def percentage(share: float) -> str:
    """Return a share of one in percent, with no more digits than it has: 0.95 is 95 %.

    Parameters
    ----------
    share : float

    Returns
    -------
    str
    """
    return f"{100 * share:g} %"


def date_time(seconds: float, zone: str = "UTC") -> str:
    """Return seconds since 1970 as "6 December 2026, 14:00 (Europe/Prague)"; in UTC where the zone is unknown.

    Parameters
    ----------
    seconds : float
    zone : str, optional

    Returns
    -------
    str
    """
    known, name = _zone(zone)
    at = datetime.fromtimestamp(seconds, known)
    return f"{at.day} {at:%B %Y, %H:%M} ({name})"


def date(seconds: float) -> str:
    """Return the day, in UTC, of seconds since 1970: 2026-12-06.

    Parameters
    ----------
    seconds : float

    Returns
    -------
    str
    """
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"


def duration(seconds: float) -> str:
    """Return a duration in its two largest units, such as "3 days 2 h", "2 h 5 min", "40 s" or "0.4 s".

    Parameters
    ----------
    seconds : float

    Returns
    -------
    str
    """
    if 0.05 <= seconds < 0.95:
        return f"{seconds:.1f} s"
    whole = max(0, round(seconds))
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    if days:
        return f"{days} day{'s' * (days != 1)}" + (f" {hours} h" if hours and days < 10 else "")
    if hours:
        return f"{hours} h" + (f" {minutes} min" if minutes else "")
    if minutes:
        return f"{minutes} min" + (f" {whole % 60} s" if whole % 60 and minutes < 10 else "")
    return f"{whole} s"


def _zone(name: str) -> tuple[tzinfo, str]:
    # Imported only now: tables without times must not wait for it.
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name), name
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC, "UTC"
