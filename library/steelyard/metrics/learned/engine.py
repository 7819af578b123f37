"""Running a model on many texts so that what it says of one does not depend on the others.

What changes the low bits of a model's output is the shape of the batch. So a sequence is padded to a length that
follows from its own, sequences of one padded length make a batch, and a batch has a power of two of rows: on a
processor the number of rows changes nothing (`tests/library/metrics/learned`), on CUDA batches are filled to one size.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import MissingResource, OutOfMemory
from steelyard.metrics.learned.packages import package

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from steelyard.metrics.learned.onnx_graph import Graph

    Array = NDArray[np.generic]

STEPS = ((64, 4), (256, 16), (1 << 30, 64))
"""Up to how many tokens lengths are multiples of what: short texts are many, and padding them costs the most."""
TOKENS_AT_ONCE = {"cpu": 256, "cuda": 16384}
"""Of a batch: on a processor as many as stay in its cache."""
_MEMORY = re.compile(r"bad.?alloc|out of memory|failed to allocate|alloc_failed|available memory", re.IGNORECASE)


@dataclass(frozen=True)
class TokenSequence:
    """Tokens that are read together."""

    ids: tuple[int, ...]
    first: int = 1 << 30
    """How many of them are of the first of two texts that are read as one."""


def padded_length(tokens: int) -> int:
    """The length of the batches in which a sequence is read.

    Parameters
    ----------
    tokens : int

    Returns
    -------
    int
    """
    step = next(step for largest, step in STEPS if tokens <= largest)
    return -(-tokens // step) * step


class Model:
    """A graph on a device.

    Parameters
    ----------
    graph : Graph
    outputs : list of str
        Names of what is computed.
    device : str
        "cpu" or "cuda:N".

    Raises
    ------
    MissingResource
        Where the packages or the device are not here.
    """

    def __init__(self, graph: Graph, outputs: Sequence[str], device: str) -> None:
        runtime = package("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = usable_cores()
        options.inter_op_num_threads = 1
        # Threads that wait for the next product do so without keeping a core busy.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._weights = {name: runtime.OrtValue.ortvalue_from_numpy(each) for name, each in graph.weights.items()}
        options.add_external_initializers(list(self._weights), list(self._weights.values()))
        kind, _, number = device.partition(":")
        provider: Any = "CPUExecutionProvider"
        if kind == "cuda":
            # TF32 would keep ten bits of a product's factors.
            provider = ("CUDAExecutionProvider", {"device_id": int(number), "use_tf32": "0"})
        name = provider if isinstance(provider, str) else provider[0]
        if name not in runtime.get_available_providers():
            raise MissingResource(
                f"This onnxruntime cannot compute on {device}. Install onnxruntime-gpu in its place, or choose cpu."
            )
        model = graph.model(dict.fromkeys(outputs, "float32"))
        self._session = runtime.InferenceSession(model, options, providers=[provider])
        if self._session.get_providers()[0] != name:
            raise MissingResource(f"onnxruntime-gpu is here, but cannot use {device}: are CUDA and cuDNN installed?")
        self._outputs = list(outputs)
        self.inputs = frozenset(graph.inputs)
        self.fills = kind == "cuda"

    def run(self, inputs: dict[str, Array]) -> list[Array]:
        """The outputs for one batch.

        Parameters
        ----------
        inputs : dict of str to array
            Those of the graph at least.

        Returns
        -------
        list of array

        Raises
        ------
        OutOfMemory
            Where the device has no room for it.
        """
        given = {name: each for name, each in inputs.items() if name in self.inputs}
        try:
            found: list[Array] = self._session.run(self._outputs, given)
        except Exception as error:  # ONNX Runtime has no class for it
            if isinstance(error, MemoryError) or _MEMORY.search(str(error)):
                raise OutOfMemory(f"A batch of {len(given['ids'])} rows does not fit in memory ({error}).") from error
            raise
        return found


class Encoder:
    """A model that reads sequences of tokens.

    Parameters
    ----------
    model : Model
        With the inputs of `encoder.INPUTS`, and perhaps "mask" and "kept": which places hold tokens, and which of them
        no padding token.
    pad : int
        The id of the padding token.
    offset : int
        The position of the first token.
    device : str
    """

    def __init__(self, model: Model, pad: int, offset: int, device: str) -> None:
        self._model, self._pad, self._offset = model, pad, offset
        self._tokens_at_once = TOKENS_AT_ONCE[device.partition(":")[0]]

    def encoded(self, sequences: Sequence[TokenSequence]) -> Iterator[tuple[int, Array]]:
        """What the model says of each sequence.

        Parameters
        ----------
        sequences : list of TokenSequence

        Yields
        ------
        position : int
            In the list; in any order.
        output : array
            Its row of the model's first output.

        Raises
        ------
        OutOfMemory
            Where not even one of them fits.
        """
        by_length: dict[int, list[int]] = {}
        for position, sequence in enumerate(sequences):
            by_length.setdefault(padded_length(len(sequence.ids)), []).append(position)
        for length, positions in sorted(by_length.items()):
            begin = 0
            while begin < len(positions):
                rows = self._rows(length, len(positions) - begin)
                batch = positions[begin : begin + rows]
                try:
                    (found,) = self._model.run(self._batch([sequences[each] for each in batch], length, rows))
                except OutOfMemory:
                    if rows == 1:
                        raise
                    # From now on, too: what did not fit once would not fit again.
                    self._tokens_at_once = rows * length // 2
                    continue
                yield from zip(batch, found, strict=False)
                begin += rows

    def _rows(self, length: int, waiting: int) -> int:
        rows = max(1, self._tokens_at_once // length)
        most = rows if self._model.fills else min(rows, waiting)
        return 1 << most.bit_length() - 1

    def _batch(self, sequences: Sequence[TokenSequence], length: int, rows: int) -> dict[str, Array]:
        ids = np.full((rows, length), self._pad, np.int64)
        # Rows that only fill the batch have one token.
        lengths = np.ones(rows, np.int32)
        types = np.zeros((rows, length), np.int64)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence.ids)] = sequence.ids
            types[row, sequence.first :] = 1
            lengths[row] = len(sequence.ids)
        mask = np.arange(length) < lengths[:, None]
        if self._offset:
            # As RoBERTa counts: padding has no place, wherever it stands.
            there = ids != self._pad
            positions = np.where(there, there.cumsum(axis=1) + self._offset - 1, self._offset - 1)
        else:
            positions = np.where(mask, np.arange(length), 0)
        kept = (mask & (ids != self._pad)).astype(np.float32)
        return {
            "ids": ids, "positions": positions, "types": types, "lengths": lengths,
            "mask": mask.astype(np.float32), "kept": kept,
        }  # fmt: skip


def usable_cores() -> int:
    """The cores that this process may use.

    Returns
    -------
    int
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
