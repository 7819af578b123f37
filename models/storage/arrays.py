"""Arrays as blobs: a 12-byte header, then raw little-endian numbers.

Header: format version (uint8), codec (uint8), bytes per number (uint8), zero (uint8), rows (uint32), columns (uint32).
Codec 0 holds float64 row by row. Codec 1 holds non-negative integers in the smallest unsigned type that fits them all,
column by column, compressed in zlib's format: neighbouring segments have similar counts, so columns compress best.
ISA-L does it in an eighth of zlib's time.
Never pickle: a blob can hold numbers and nothing else.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from itertools import repeat

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from models.errors import BadBlob

VERSION = 1
MAX_BYTES = 1 << 28
"""The limit for an array of unknown shape: 256 MiB."""
OVERHEAD = 1 << 10
"""Bytes of a blob beyond its numbers: the header, and zlib's overhead on incompressible data."""
_HEADER = struct.Struct("<BBBxII")
_RAW_FLOATS, _COMPRESSED_COUNTS = 0, 1


def pack(array: NDArray[np.float64]) -> bytes:
    """Pack an array without loss.

    Parameters
    ----------
    array : ndarray of float64, shape (rows, columns) or (rows,)
    """
    matrix = array.reshape(len(array), -1) if array.size else array.reshape(len(array), *array.shape[1:] or (1,))
    rows, columns = matrix.shape
    width = _count_width(matrix)
    if width is None:
        values = np.ascontiguousarray(matrix, dtype="<f8")
        return _HEADER.pack(VERSION, _RAW_FLOATS, 8, rows, columns) + values.tobytes()
    counts = np.ascontiguousarray(matrix.T, dtype=f"<u{width}")
    return _HEADER.pack(VERSION, _COMPRESSED_COUNTS, width, rows, columns) + isal_zlib.compress(counts.tobytes(), 1)


def unpack(
    blob: bytes, *, rows: int | None = None, columns: int | None = None, finite: bool = False
) -> NDArray[np.float64]:
    """Unpack a blob.

    Memory is allocated for the expected size, whatever the blob claims.

    Parameters
    ----------
    rows, columns : int | None
        The expected shape; None if unknown, with a limit of MAX_BYTES.
    finite : bool
        Reject NaN and infinity.

    Returns
    -------
    ndarray of float64, shape (rows, columns)

    Raises
    ------
    BadBlob
        If the blob is damaged, or of an unknown format.
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
    if None in expected and 8 * rows * columns > MAX_BYTES:
        raise BadBlob(f"A stored array says that it has {rows:,} × {columns:,} numbers: that is impossible.")
    size = rows * columns * width
    if codec == _RAW_FLOATS and width == 8:
        body = blob[_HEADER.size :]
        kind, order = "<f8", (rows, columns)
    elif codec == _COMPRESSED_COUNTS and width in {1, 2, 4}:
        try:
            # One byte more than expected suffices to detect a false size.
            unzip = isal_zlib.decompressobj()
            body = unzip.decompress(blob[_HEADER.size :], min(size + 1, sys.maxsize))
        except isal_zlib.error as error:  # type: ignore[misc]  # its stub calls the class an instance
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
        raise BadBlob("A stored array has NaN or infinity where only finite numbers are valid.")
    return values if codec == _RAW_FLOATS else np.ascontiguousarray(values.T)


def unpack_scores(blobs: Sequence[bytes]) -> NDArray[np.float64]:
    """Unpack arrays of one column and equally many rows each, shape (len(blobs), rows).

    Raises
    ------
    BadBlob
        As `unpack`, and for arrays of different lengths.
    """
    lengths = set(map(len, blobs))
    if len(lengths) == 1:
        (length,) = lengths
        rows = (length - _HEADER.size) // 8
        header = _HEADER.pack(VERSION, _RAW_FLOATS, 8, rows, 1) if 0 <= rows < 2**32 else b""
        # Nearly all are floats of one length: a leaderboard has hundreds, which are copied once and together.
        if length == _HEADER.size + 8 * rows and all(map(bytes.startswith, blobs, repeat(header))):
            whole = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), length)[:, _HEADER.size :]
            return np.ascontiguousarray(whole).view("<f8").astype(np.float64, copy=False)
    found = [unpack(blob, columns=1)[:, 0] for blob in blobs]
    if len(set(map(len, found))) > 1:
        raise BadBlob("Stored arrays of one kind have different lengths.")
    return np.stack(found) if found else np.empty((0, 0))


def max_packed_bytes(rows: int, columns: int) -> int:
    """The maximum blob size of such an array."""
    return 8 * rows * columns * 1001 // 1000 + OVERHEAD


def _count_width(matrix: NDArray[np.float64]) -> int | None:
    """The bytes that hold every value as an integer; None if floats are needed."""
    if matrix.size == 0:
        return 1
    low, high = matrix.min(), matrix.max()
    # NaN fails these comparisons. -0.0 needs a float, or its sign would be lost.
    if not (low >= 0 and high < 2**32) or np.signbit(matrix).any():
        return None
    if not np.array_equal(matrix, np.floor(matrix)):
        return None
    return 1 if high < 2**8 else 2 if high < 2**16 else 4
