"""Writing ONNX graphs: nodes by name, as bytes that ONNX Runtime reads. Weights stay where they are in memory.

The format is protobuf (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). Of its messages a graph needs a dozen
fields, so that a writer takes less than the package that would bring them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

OPSET = 17
IR_VERSION = 8
FUSED = "com.microsoft"
"""The domain of ONNX Runtime's own operators, such as attention as one."""
FUSED_OPERATORS = frozenset({"Attention", "FastGelu", "Gelu", "SkipLayerNormalization"})
TYPES = {"float32": 1, "int32": 6, "int64": 7}
_FLOAT, _INT, _TEXT, _INTS = 1, 2, 3, 7


@dataclass
class Graph:
    """Operators in the order in which they are computed."""

    inputs: dict[str, tuple[str, tuple[str | int, ...]]] = field(default_factory=dict)
    """Type and shape by name."""
    weights: dict[str, NDArray[np.generic]] = field(default_factory=dict)
    """By name; they are handed to the session beside the graph."""
    constants: dict[str, NDArray[np.generic]] = field(default_factory=dict)
    """Small ones, such as axes, which lie in the graph."""
    nodes: list[bytes] = field(default_factory=list)
    count: int = 0

    def weight(self, name: str, values: NDArray[np.generic]) -> str:
        """A constant that lies beside the graph.

        Parameters
        ----------
        name : str
        values : array

        Returns
        -------
        str
            The name.
        """
        self.weights[name] = np.ascontiguousarray(values)
        return name

    def numbers(self, *values: float, kind: str = "float32") -> str:
        """A small constant of one dimension.

        Parameters
        ----------
        *values : float
        kind : str
            A key of `TYPES`.

        Returns
        -------
        str
            Its name.
        """
        self.count += 1
        name = f"numbers{self.count}"
        self.constants[name] = np.array(values, kind)
        return name

    def add(self, operator: str, *inputs: str, **attributes: float | str | Sequence[int]) -> str:
        """One operator with one output.

        Parameters
        ----------
        operator : str
        *inputs : str
            "" for an optional one that is left out.
        **attributes : float, str or list of int
            A float or an int as it is given.

        Returns
        -------
        str
            The name of the output.
        """
        self.count += 1
        output = f"{operator}{self.count}"
        domain = FUSED if operator in FUSED_OPERATORS else ""
        self.nodes.append(
            b"".join(_text(1, each) for each in inputs)
            + _text(2, output)
            + _text(4, operator)
            + b"".join(_message(5, _attribute(name, value)) for name, value in attributes.items())
            + _text(7, domain)
        )
        return output

    def model(self, outputs: Mapping[str, str]) -> bytes:
        """The graph as a file would hold it.

        Parameters
        ----------
        outputs : mapping of str to str
            The type of each output by name.

        Returns
        -------
        bytes
        """
        graph = b"".join(_message(1, node) for node in self.nodes) + _text(2, "steelyard")
        graph += b"".join(_message(5, _inside(name, values)) for name, values in self.constants.items())
        graph += b"".join(_message(5, _beside(name, values)) for name, values in self.weights.items())
        graph += b"".join(_message(11, _value(name, kind, shape)) for name, (kind, shape) in self.inputs.items())
        graph += b"".join(_message(12, _value(name, kind, None)) for name, kind in outputs.items())
        opsets = _message(8, _text(1, "") + _number(2, OPSET)) + _message(8, _text(1, FUSED) + _number(2, 1))
        return _number(1, IR_VERSION) + _message(7, graph) + opsets


def _attribute(name: str, value: float | str | Sequence[int]) -> bytes:
    start = _text(1, name)
    if isinstance(value, int):
        return start + _number(3, value) + _number(20, _INT)
    if isinstance(value, float):
        return start + _key(2, 5) + struct.pack("<f", value) + _number(20, _FLOAT)
    if isinstance(value, str):
        return start + _text(4, value) + _number(20, _TEXT)
    return start + b"".join(_number(8, each) for each in value) + _number(20, _INTS)


def _inside(name: str, values: NDArray[np.generic]) -> bytes:
    shape = b"".join(_number(1, size) for size in values.shape)
    return shape + _number(2, TYPES[values.dtype.name]) + _text(8, name) + _message(9, values.tobytes())


def _beside(name: str, values: NDArray[np.generic]) -> bytes:
    """A weight whose numbers are elsewhere: the session finds them by its name."""
    shape = b"".join(_number(1, size) for size in values.shape)
    place = _message(13, _text(1, "location") + _text(2, "memory"))
    return shape + _number(2, TYPES[values.dtype.name]) + _text(8, name) + place + _number(14, 1)


def _value(name: str, kind: str, shape: Sequence[str | int] | None) -> bytes:
    tensor = _number(1, TYPES[kind])
    if shape is not None:
        sizes = (_number(1, size) if isinstance(size, int) else _text(2, size) for size in shape)
        tensor += _message(2, b"".join(_message(1, size) for size in sizes))
    return _text(1, name) + _message(2, _message(1, tensor))


def _text(number: int, text: str) -> bytes:
    return _message(number, text.encode())


def _message(number: int, content: bytes) -> bytes:
    return _key(number, 2) + _variable(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _key(number, 0) + _variable(value & (1 << 64) - 1)


def _key(number: int, wire: int) -> bytes:
    return _variable(number << 3 | wire)


def _variable(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
