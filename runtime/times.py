"""Times as programs read them; inside, they are seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime


def utc(seconds: float, timespec: str = "seconds") -> str:
    """Format a time in ISO 8601, in UTC, like 2026-12-06T13:00:00Z."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=timespec).replace("+00:00", "Z")
