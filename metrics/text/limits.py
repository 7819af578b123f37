"""How large a text may be before it is refused."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextLimits:
    """Bounds on one text file.

    The defaults leave room for every test set ever published and still stop a mistaken file
    (a disk image, a corpus without line ends) before it fills the memory.
    """

    file_bytes: int = 1 << 30
    """Bytes of one file, as it lies on the disk: 1 GiB."""

    segment_characters: int = 1_000_000
    """Unicode characters of one line: a million."""

    segments: int = 20_000_000
    """Lines of one file: 20 million."""


DEFAULT_LIMITS = TextLimits()
