"""Unpacks gzip as a stream that stays within limits, whatever it was made of."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.text.limits import OverLimit, too_large

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from steelyard.text.limits import TextLimits

GZIP = b"\x1f\x8b"
GZIP_HEADERS = 16 + zlib.MAX_WBITS
UNPACKED_AT_ONCE = 1 << 20
TAKEN_AT_ONCE = 1 << 16
"""Packed bytes given to zlib: it copies the rest of them for every member, and members may be tiny."""
MOST_MEMBERS = 100_000
"""Files packed in blocks of 64 KiB (bgzip) have fewer up to several gigabytes."""
ALWAYS_ALLOWED = 16 << 20
"""Unpacked bytes from which on the expansion counts: short texts may well be one line many times over."""


class BadGzip(BadText):
    """The file is packed with gzip, but damaged. Pack it again."""


def unpacked(parts: Iterator[bytes], name: str, limits: TextLimits) -> Generator[bytes]:
    """The parts of a file, unpacked where they are packed with gzip; members that follow one another are one file.

    Parameters
    ----------
    parts : iterator of bytes
    name : str
        For messages.
    limits : TextLimits

    Yields
    ------
    bytes

    Raises
    ------
    BadGzip
        For damage and for what follows the last member, zeros apart.
    OverLimit
        For more than `limits.file_bytes` bytes, or than `limits.expansion` times those that were packed.
    """
    first = b""
    while len(first) < len(GZIP) and (part := next(parts, b"")):
        first += part
    if not first.startswith(GZIP):
        if first:
            yield first
        yield from parts
        return
    yield from _Members(name, limits).unpack(first, parts)


class _Members:
    def __init__(self, name: str, limits: TextLimits) -> None:
        self._name = name
        self._limits = limits
        self._member = zlib.decompressobj(GZIP_HEADERS)
        self._members = 1
        self._ended = False
        """The last member is complete; all that may follow is another one, or zeros."""
        self._packed = self._unpacked = 0

    def unpack(self, first: bytes, parts: Iterator[bytes]) -> Iterator[bytes]:
        yield from self._taken(first)
        for part in parts:
            yield from self._taken(part)
        if not self._ended:
            raise BadGzip(
                f"{self._name}: the gzip data ends too early, after {self._packed:,} bytes ({self._unpacked:,} "
                "unpacked). The file was cut off: copy or pack it again."
            )

    def _taken(self, part: bytes) -> Iterator[bytes]:
        for start in range(0, len(part), TAKEN_AT_ONCE):
            taken = part[start : start + TAKEN_AT_ONCE]
            self._packed += len(taken)
            yield from self._pieces(taken)

    def _pieces(self, packed: bytes) -> Iterator[bytes]:
        while True:
            if self._ended:
                packed = packed.lstrip(b"\0")
                if not packed:
                    return
                self._begin_another()
            try:
                piece = self._member.decompress(packed, UNPACKED_AT_ONCE)
            except zlib.error as error:
                what = "something that is not gzip follows the gzip data" if self._members > 1 else "damaged gzip data"
                raise BadGzip(
                    f"{self._name}: {what}, within {self._packed:,} bytes ({self._unpacked:,} unpacked; {error}). "
                    "Copy or pack the file again."
                ) from error
            self._unpacked += len(piece)
            self._check_size()
            if piece:
                yield piece
            if self._member.eof:
                self._ended = True
                packed = self._member.unused_data
            else:
                packed = self._member.unconsumed_tail
                # Without input left there may still be output that did not fit.
                if not packed and len(piece) < UNPACKED_AT_ONCE:
                    return

    def _begin_another(self) -> None:
        self._members += 1
        if self._members > MOST_MEMBERS:
            raise OverLimit(f"{self._name}: more than {MOST_MEMBERS:,} gzip members. Pack the file in one.")
        self._member = zlib.decompressobj(GZIP_HEADERS)
        self._ended = False

    def _check_size(self) -> None:
        if self._unpacked > self._limits.file_bytes:
            raise too_large(f"{self._name}, unpacked", self._limits)
        if self._unpacked > max(ALWAYS_ALLOWED, self._limits.expansion * self._packed):
            raise OverLimit(
                f"{self._name}: unpacks to more than {self._limits.expansion} times its size, as no text does. If it "
                "is one, unpack it first, or raise the limit on expansion."
            )
