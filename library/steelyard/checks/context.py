"""What an output is checked against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.formats.plain import Utf8


@dataclass(frozen=True, slots=True)
class OtherOutput:
    """An output of another team, or an earlier one of the same team."""

    called: str
    """Its name as the submitter may see it: "baseline of harbour"."""
    text: Utf8
    own: bool = False
    """Whether it is the submitter's own."""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """A test set with what else is visible. Texts are lines joined by line feeds, one for each segment."""

    segments: int
    source: Utf8 | None = None
    references: Sequence[Utf8] = ()
    source_language: str = ""
    """A code such as `cs`; "" if unknown."""
    target_language: str = ""
    others: Sequence[OtherOutput] = ()
    """Outputs for the same test set that may be the same."""
