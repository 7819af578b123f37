"""A part of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading of its own, to which other parts can link."""

    name: str
    """An id that no other section of the page has: letters, digits and hyphens."""
    title: str
    body: Markup
    """What stands below the heading, escaped already."""
