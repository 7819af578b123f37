"""Byte strings that are too large for the memory together, in a temporary file."""

from __future__ import annotations

from contextlib import suppress
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HELD_BYTES = 1 << 25
"""Bytes of all together that stay in memory, without a file."""

AT_ONCE = 1 << 18
"""Bytes that are read at once."""


class SetAside:
    """Byte strings, by number, that are written and read piece by piece; gone with the object."""

    def __init__(self, held_bytes: int = HELD_BYTES) -> None:
        self._file = SpooledTemporaryFile(max_size=max(held_bytes, 1))  # noqa: SIM115 - it is closed with this object
        self._places: list[list[tuple[int, int]]] = []
        self._end = 0

    def __len__(self) -> int:
        return len(self._places)

    def __del__(self) -> None:
        with suppress(AttributeError):
            self._file.close()

    def write(self, number: int, piece: bytes) -> None:
        """Put a piece behind what there is under this number."""
        while len(self._places) <= number:
            self._places.append([])
        self._file.seek(self._end)
        self._file.write(piece)
        self._places[number].append((self._end, len(piece)))
        self._end += len(piece)

    def pieces(self, number: int) -> Iterator[bytes]:
        """All that was written under a number, in pieces."""
        for begin, size in self._places[number]:
            for at in range(begin, begin + size, AT_ONCE):
                self._file.seek(at)
                yield self._file.read(min(AT_ONCE, begin + size - at))

    def whole(self, number: int) -> bytes:
        """The same as one."""
        return b"".join(self.pieces(number))
