"""How large a file of documents with ids may be before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.text.limits import DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class MarkupLimits:
    """Bounds on one file of documents with ids; far beyond every published test set."""

    file_bytes: int = 64 << 20
    """Bytes of the file: 64 MiB."""

    tags: int = 1_000_000
    """Opening and closing tags, their attributes, and comments; fields of JSON Lines and tables: each may cost as much
    as a line of text."""

    depth: int = 32
    """Elements open at the same time; the formats need eight."""

    attributes: int = 32
    """Attributes of one tag; fields of one row."""

    attribute_bytes: int = 4096
    """Bytes of one attribute's value, of a tag's or an attribute's name, and of an id in a row."""

    segments: int = 1_000_000
    """Segments in the file, those of all texts together."""

    segment_characters: int = DEFAULT_LIMITS.segment_characters
    """Unicode characters of one segment: a million, as in plain text."""


DEFAULT_MARKUP_LIMITS = MarkupLimits()
