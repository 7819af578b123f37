"""A zip that is written while it is sent."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

PART_BYTES = 1 << 16
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Fixed timestamps, so that the same content gives the same zip; times are in the tables."""


def safe_name(*parts: str) -> str:
    """Return a file name that is safe on any system: ASCII letters and digits, without path separators."""
    name = "-".join(re.sub(r"[^A-Za-z0-9_]+", "_", part).strip("_")[:60] for part in parts if part)
    return name or "unnamed"


def zipped(files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """Yield a zip of named files, part by part; the contents come in parts, too."""
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for name, content in files:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as file:
                for part in content:
                    file.write(part)
                    if pipe.waiting >= PART_BYTES:
                        yield pipe.taken()
    yield pipe.taken()


class _Pipe(io.RawIOBase):
    """A buffer that the zip is written to and read from."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.waiting = 0

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        self.waiting += len(part)
        return len(part)

    def taken(self) -> bytes:
        parts, self._parts, self.waiting = self._parts, [], 0
        return b"".join(parts)
