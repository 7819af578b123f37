"""The receipt of a submission as text, for a database and a server alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.tables.formatting import duration
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Limit:
    """The usage of a quota."""

    used: int
    amount: int
    of_what: str


@dataclass(frozen=True, slots=True)
class SubmissionReceipt:
    """A submission with its numbers, queue position and quotas."""

    number: int
    stored: bool
    """False where the same output was stored before."""
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


def receipt_text(receipt: SubmissionReceipt) -> str:
    """The receipt in lines."""
    where = receipt.test_set
    if receipt.campaign != where:
        where = f"{receipt.campaign}: {where}"
    run = f", run {receipt.run}" if receipt.run else ""
    begin = "Stored as submission" if receipt.stored else "Already submitted as submission"
    numbers = ", ".join(map(str, receipt.evaluations)) or "none"
    plural = "" if len(receipt.evaluations) == 1 else "s"
    lines = [
        f"{begin} {receipt.number} ({receipt.name}{run}) for {where}, "
        f"{number_of(receipt.segments, 'segment')}. Evaluation{plural}: {numbers}."
    ]
    if receipt.queued_as:
        before = f"{number_of(receipt.ahead, 'submission')} ahead of it" if receipt.ahead else "next in the queue"
        lines.append(f"Queued as {receipt.queued_as}, {before}.")
    if receipt.late_seconds:
        lines.append(f"It came {duration(receipt.late_seconds)} after the deadline, and is marked as late.")
    if receipt.limits:
        shown = ", ".join(f"{each.used} of {each.amount} {each.of_what}" for each in receipt.limits)
        lines.append(f"Quota: {shown}.")
    return "\n".join(lines) + "\n"
