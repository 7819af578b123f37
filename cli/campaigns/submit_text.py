"""What is said of a submission that was handed in, here or on a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.terminal.durations import duration
from metrics.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Limit:
    """What is left of a quota."""

    used: int
    amount: int
    of_what: str


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A submission, by which numbers it is known, what waits before it."""

    number: int
    stored: bool
    """False where it was there already."""
    name: str
    """TEAM/SYSTEM."""
    run: str
    campaign: str
    test_set: str
    segments: int
    evaluations: Sequence[int]
    queued_as: str
    """The class of its place in the queue; "" where nothing was queued."""
    ahead: int
    late_seconds: float
    limits: Sequence[Limit]


def told(handed_in: HandedIn) -> str:
    """All of it, in lines."""
    where = handed_in.test_set
    if handed_in.campaign != where:
        where = f"{handed_in.campaign}: {where}"
    run = f", run {handed_in.run}" if handed_in.run else ""
    begin = "Stored as submission" if handed_in.stored else "This was handed in before: submission"
    numbers = ", ".join(map(str, handed_in.evaluations)) or "none"
    plural = "" if len(handed_in.evaluations) == 1 else "s"
    lines = [
        f"{begin} {handed_in.number} ({handed_in.name}{run}) for {where}, "
        f"{number_of(handed_in.segments, 'segment')}. Evaluation{plural}: {numbers}."
    ]
    if handed_in.queued_as:
        before = f"{number_of(handed_in.ahead, 'submission')} before it" if handed_in.ahead else "nothing before it"
        lines.append(f"Queued as {handed_in.queued_as}, {before}.")
    if handed_in.late_seconds:
        lines.append(f"It came {duration(handed_in.late_seconds)} after the deadline, and is marked as late.")
    if handed_in.limits:
        shown = ", ".join(f"{each.used} of {each.amount} {each.of_what}" for each in handed_in.limits)
        lines.append(f"Quota: {shown}.")
    return "\n".join(lines) + "\n"
