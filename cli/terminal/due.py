"""Deadlines on the command line: a time with its zone, or a duration from now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

_SECONDS = {"m": 60.0, "h": 3600.0, "d": 86400.0}
LONGEST_DAYS = 3650


@dataclass(frozen=True, slots=True)
class Due:
    """A time in seconds since 1970, or seconds from now."""

    seconds: float
    from_now: bool

    def at(self, connection: Connection) -> float:
        """The deadline in seconds since 1970, by the database's clock."""
        from models.schema.base import database_time

        return self.seconds + (database_time(connection) if self.from_now else 0.0)


def due_time(text: str) -> Due:
    """Parse "2h", "90m", "1.5d" or "2026-11-30T18:00+01:00"."""
    if found := re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([mhd])", text, re.ASCII):
        seconds = float(found[1]) * _SECONDS[found[2]]
        if seconds <= LONGEST_DAYS * _SECONDS["d"]:
            return Due(seconds, from_now=True)
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is not None:
            return Due(time.timestamp(), from_now=False)
    except (ValueError, OverflowError):
        pass
    raise ValueError(
        f'"{text}" is no time: write 2h, 90m or 3d from now, or a time with its zone such as 2026-11-30T18:00+01:00'
    )
