"""What a deletion takes away, and what stays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Deletion:
    """What is deleted, or would be."""

    subject: str
    """What it is about, such as "campaign wmt26"."""
    removed: Mapping[str, int] = field(default_factory=dict)
    """How many of what, by words in the plural; only what there is."""
    kept: Sequence[str] = ()
    """Sentences about what stays."""


def present(counts: Mapping[str, int | None]) -> dict[str, int]:
    """Return the counts that are not 0."""
    return {what: amount for what, amount in counts.items() if amount}
