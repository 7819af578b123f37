"""Loads the compiled kernels and checks that they were built from the sources, where these lie beside them."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from steelyard.errors import KernelsNotBuilt

FOLDER = Path(__file__).parent
LARGEST_KEPT = (32 << 20) - (1 << 16)
"""Bytes of the largest block that glibc's allocator may keep for later, less what it puts beside it."""


@cache
def shared_library() -> ctypes.CDLL:
    """The shared library with all kernels.

    Raises KernelsNotBuilt when it is missing or older than its sources.
    """
    path = FOLDER / "_kernels.so"
    if not path.exists():
        raise KernelsNotBuilt(f"{path} is missing. Run `make install`, which compiles it.")
    loaded = ctypes.CDLL(str(path))
    loaded.steelyard_fingerprint.restype = ctypes.c_char_p
    sources = sorted(FOLDER.rglob("*.[ch]"), key=lambda path: path.name)
    digest = sha256()
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    # A wheel has no sources.
    if sources and loaded.steelyard_fingerprint().decode() != digest.hexdigest()[:16]:
        raise KernelsNotBuilt(f"{path} is older than the C files beside it. Run `make kernels`.")
    _keep_freed_memory()
    return loaded


def _keep_freed_memory() -> None:
    """Let the allocator of the C library reuse the memory of arrays and texts, and not return it to the system.

    Getting each page again took up to a fifth of the time of a short shard. glibc keeps blocks as large as the largest
    that was ever freed, up to 32 MiB, and twice as much in all; from here on it does so from the start. No page of this
    block is touched; elsewhere nothing happens.
    """
    # Where so much may not even be asked for, there is nothing to be kept.
    with suppress(MemoryError):
        np.empty(LARGEST_KEPT, np.uint8)
