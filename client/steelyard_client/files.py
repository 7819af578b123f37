"""Files to send: read, compressed, and reported on while they are sent."""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

GZIP_ABOVE_BYTES = 2**20
"""Larger files are compressed with gzip before they are sent."""


def read_file(content: Path | str | bytes, name: str = "") -> tuple[str, bytes]:
    """The name and content of a file; a path has a name of its own, which `name` replaces."""
    if isinstance(content, bytes):
        return name or "output.txt", content
    path = Path(content)
    return name or path.name, path.read_bytes()


def compressed(name: str, content: bytes) -> tuple[str, bytes]:
    """The same, compressed if it is large."""
    if len(content) <= GZIP_ABOVE_BYTES:
        return name, content
    return f"{name}.gz", gzip.compress(content, mtime=0)


class ProgressReader(BytesIO):
    """A file that reports how much of it was read; a retry starts again at 0."""

    def __init__(self, content: bytes, on_progress: Callable[[int, int], None] | None) -> None:
        super().__init__(content)
        self._on_progress, self._size = on_progress, len(content)

    def read(self, size: int | None = -1, /) -> bytes:
        """Read, and report."""
        part = super().read(size)
        if self._on_progress is not None:
            self._on_progress(self.tell(), self._size)
        return part
