"""Arrays as blobs: a 12-byte header, then raw little-endian numbers.

Header: format version (uint8), codec (uint8), bytes per number (uint8), nought (uint8),
rows (uint32), columns (uint32). Codec 0 holds float64 row by row. Codec 1 holds whole numbers
from 0 up in the smallest unsigned type that fits them all, column by column, compressed by
zlib at level 1: neighbouring segments have similar counts, so columns compress best.
Never pickle: a blob can hold numbers and nothing else.
"""

from __future__ import annotations

import struct
import sys
import zlib

import numpy as np
from numpy.typing import NDArray

from models.errors import BadBlob

VERSION = 1
MOST_BYTES = 1 << 28
"""Of an array whose shape nobody knows beforehand: 256 MiB."""
OVERHEAD = 1 << 10
"""Bytes that a blob may have beyond its numbers: the header, and what zlib adds to what it cannot compress."""
_HEADER = struct.Struct("<BBBxII")
_RAW_FLOATS, _COMPRESSED_COUNTS = 0, 1


def pack(array: NDArray[np.float64]) -> bytes:
    """Pack a (rows × columns) or (rows,) float64 array; every bit of its values comes back."""
    matrix = array.reshape(len(array), -1) if array.size else array.reshape(len(array), *array.shape[1:] or (1,))
    rows, columns = matrix.shape
    width = _count_width(matrix)
    if width is None:
        values = np.ascontiguousarray(matrix, dtype="<f8")
        return _HEADER.pack(VERSION, _RAW_FLOATS, 8, rows, columns) + values.tobytes()
    counts = np.ascontiguousarray(matrix.T, dtype=f"<u{width}")
    return _HEADER.pack(VERSION, _COMPRESSED_COUNTS, width, rows, columns) + zlib.compress(counts.tobytes(), 1)


def unpack(
    blob: bytes, *, rows: int | None = None, columns: int | None = None, finite: bool = False
) -> NDArray[np.float64]:
    """The (rows × columns) float64 array in a blob. Raises BadBlob.

    Memory is taken for what is expected, whatever the blob says of itself: `rows` and `columns`, or where they are not
    known at most MOST_BYTES. With `finite` neither NaN nor infinity may be in it.
    """
    expected = rows, columns
    if len(blob) < _HEADER.size:
        raise BadBlob(f"A stored array has only {len(blob)} bytes.")
    version, codec, width, rows, columns = _HEADER.unpack_from(blob)
    if version != VERSION:
        raise BadBlob(f"A stored array has format {version}; this release reads {VERSION}. Upgrade it.")
    for found, wanted, what in zip((rows, columns), expected, ("rows", "columns"), strict=True):
        if wanted is not None and found != wanted:
            raise BadBlob(f"A stored array has {found:,} {what} and should have {wanted:,}.")
    if None in expected and 8 * rows * columns > MOST_BYTES:
        raise BadBlob(f"A stored array says that it has {rows:,} × {columns:,} numbers: more than can be.")
    size = rows * columns * width
    if codec == _RAW_FLOATS and width == 8:
        body = blob[_HEADER.size :]
        kind, order = "<f8", (rows, columns)
    elif codec == _COMPRESSED_COUNTS and width in {1, 2, 4}:
        try:
            # One byte more than expected is enough to see that a blob is not what it says.
            unzip = zlib.decompressobj()
            body = unzip.decompress(blob[_HEADER.size :], min(size + 1, sys.maxsize))
        except zlib.error as error:
            raise BadBlob(f"A stored array cannot be decompressed: {error}.") from error
        if len(body) <= size and not unzip.eof:
            raise BadBlob("A stored array is cut off.")
        kind, order = f"<u{width}", (columns, rows)
    else:
        raise BadBlob(f"A stored array has the unknown codec {codec} with {width} bytes per number.")
    if len(body) != size:
        raise BadBlob(f"A stored array should have {size} bytes and has {len(body)}.")
    values = np.frombuffer(body, dtype=kind).reshape(order).astype(np.float64)
    if finite and codec == _RAW_FLOATS and not np.isfinite(values).all():
        raise BadBlob("A stored array has NaN or infinity where only numbers can be.")
    return values if codec == _RAW_FLOATS else np.ascontiguousarray(values.T)


def max_packed_bytes(rows: int, columns: int) -> int:
    """What the blob of such an array has at most."""
    return 8 * rows * columns * 1001 // 1000 + OVERHEAD


def _count_width(matrix: NDArray[np.float64]) -> int | None:
    """Bytes that hold every value as a whole number; None where floats are needed."""
    if matrix.size == 0:
        return 1
    low, high = matrix.min(), matrix.max()
    # NaN fails these comparisons. -0.0 is a float of its own: its sign would be lost.
    if not (low >= 0 and high < 2**32) or np.signbit(matrix).any():
        return None
    if not np.array_equal(matrix, np.floor(matrix)):
        return None
    return 1 if high < 2**8 else 2 if high < 2**16 else 4
