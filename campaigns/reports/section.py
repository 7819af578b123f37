"""A section of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Section:
    """A section of a page with a heading, to which other sections can link."""

    name: str
    """A unique id on the page: letters, digits and hyphens."""
    title: str
    body: Markup
    """The content below the heading, already escaped."""
