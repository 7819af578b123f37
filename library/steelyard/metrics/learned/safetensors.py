"""Weights in safetensors: a header in JSON, then the numbers, mapped into memory. Nothing in it can be executed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import BadModel

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

LARGEST_HEADER = 100_000_000
"""Bytes, as in safetensors' own reader."""
TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4"}


def read_safetensors(path: Path) -> dict[str, NDArray[np.generic]]:
    """The tensors of a file by name; of kinds that weights do not have they are left out.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict of str to array
        Floats of two bytes come as float32.

    Raises
    ------
    BadModel
        Where the file is damaged or of another format.
    """
    try:
        content = np.memmap(path, np.uint8, "r")
        size = int(content[:8].view("<u8")[0])
        if not 2 <= size <= min(LARGEST_HEADER, len(content) - 8):
            raise ValueError("the header does not fit into the file")
        header = json.loads(content[8 : 8 + size].tobytes())
        found = {name: _tensor(content[8 + size :], entry) for name, entry in header.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise BadModel(f"{path}: is no whole safetensors file ({error}). Copy it again.") from error
    return {name: tensor for name, tensor in found.items() if tensor is not None}


def widened(values: NDArray[np.generic], *, brain: bool = False) -> NDArray[np.generic]:
    """Floats of two bytes as float32; others as they are.

    Parameters
    ----------
    values : array
    brain : bool
        They are the upper halves of float32, given as uint16.

    Returns
    -------
    array
    """
    if brain:
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32) if values.dtype in (np.float16, np.float64) else values


def _tensor(content: NDArray[np.uint8], entry: dict[str, Any]) -> NDArray[np.generic] | None:
    if entry["dtype"] not in TYPES:
        return None
    begin, end = entry["data_offsets"]
    kind = np.dtype(TYPES[entry["dtype"]])
    if not 0 <= begin <= end <= len(content) or end - begin != kind.itemsize * int(np.prod(entry["shape"])):
        raise ValueError("a tensor does not fit into the file")
    # A copy where the header's length leaves the numbers at an odd address.
    values = np.frombuffer(content[begin:end].data, kind) if begin % kind.itemsize == 0 else None
    if values is None or not values.flags.aligned:
        values = np.frombuffer(content[begin:end].tobytes(), kind)
    return widened(values.reshape(entry["shape"]), brain=entry["dtype"] == "BF16")
