"""Formats times, in seconds since 1970, and durations for pages."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def format_time(seconds: float, zone: str = "UTC") -> str:
    """Format a time like "6 December 2026, 14:00 (Europe/Prague)"; in UTC if the zone is unknown."""
    known = _zone(zone)
    at = datetime.fromtimestamp(seconds, known)
    return f"{at.day} {at:%B %Y, %H:%M} ({known.key})"


def format_duration(seconds: float) -> str:
    """Format a duration in its two largest units, like "3 days", "2 h 5 min" or "40 s"."""
    seconds = max(0, round(seconds))
    days, hours, minutes = seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60
    if days:
        return f"{days} day{'s' * (days != 1)}" + (f" {hours} h" if hours and days < 10 else "")
    if hours:
        return f"{hours} h" + (f" {minutes} min" if minutes else "")
    if minutes:
        return f"{minutes} min" + (f" {seconds % 60} s" if seconds % 60 and minutes < 10 else "")
    return f"{seconds} s"


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
