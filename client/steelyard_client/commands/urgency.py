"""How urgent work is: its class in the queue, and a deadline, which is a time with its zone or a duration from now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import click

from steelyard.commands.options import option
from steelyard.commands.parsing import Value
from steelyard_client.vocabulary import PriorityClass

if TYPE_CHECKING:
    from steelyard.commands.options import Decorator

_SECONDS = {"m": 60.0, "h": 3600.0, "d": 86400.0}
LONGEST_DAYS = 3650


@dataclass(frozen=True, slots=True)
class Due:
    """A time in seconds since 1970, or seconds from now."""

    seconds: float
    from_now: bool

    def at(self, now: float) -> float:
        """The deadline in seconds since 1970, as the time now is."""
        return self.seconds + (now if self.from_now else 0.0)


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


def class_option(default: str, whose: str = "") -> Decorator:
    """--class; `whose` says who may give it (`; for organisers`)."""
    return option(
        "--class", "queue_class", type=click.Choice([each.value for each in PriorityClass]), default=default,
        help=f"priority class in the queue{whose} (default: {default})",
    )  # fmt: skip


def due_option(whose: str = "") -> Decorator:
    """--due; `whose` says who may give it (`; for organisers`)."""
    return option(
        "--due", type=Value(due_time), metavar="TIME",
        help="deadline of the evaluation: 2h, 90m or 3d from now, or a time with its zone, e.g. "
        f"2026-11-30T18:00+01:00{whose}",
    )  # fmt: skip
