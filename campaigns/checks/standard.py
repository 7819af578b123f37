"""What an output is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metrics.text.plain import Utf8


@dataclass(frozen=True, slots=True)
class OtherOutput:
    """What somebody else has handed in, or the same team before."""

    called: str
    """As the asker may know it: "baseline of harbour"."""
    text: Utf8
    own: bool = False
    """Whether it is the asker's own."""


@dataclass(frozen=True, slots=True)
class Standard:
    """A test set with what else may be seen. Texts are lines joined by line feeds, one for each segment."""

    segments: int
    source: Utf8 | None = None
    references: Sequence[Utf8] = ()
    source_language: str = ""
    """A code such as `cs`; "" where it is not known."""
    target_language: str = ""
    others: Sequence[OtherOutput] = ()
    """Outputs for the same test set that may be the same."""
