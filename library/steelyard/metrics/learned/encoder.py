"""The forward pass of BERT, RoBERTa and their relatives as a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadModel
from steelyard.metrics.learned.onnx_graph import Graph

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from steelyard.metrics.learned.folder import EncoderConfig, Weights

ROWS, TOKENS = "rows", "tokens"
INPUTS: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "ids": ("int64", (ROWS, TOKENS)),
    "positions": ("int64", (ROWS, TOKENS)),
    "types": ("int64", (ROWS, TOKENS)),
    "lengths": ("int32", (ROWS,)),
}
"""What an encoder reads of a batch: tokens, their places, which of two texts they are of, and how many there are."""


@dataclass
class EncoderGraph:
    """A graph that ends with the hidden states of some layers; something may be added on top."""

    graph: Graph
    states: list[str]
    """The output of the embeddings, then that of each layer."""


def encoder_graph(config: EncoderConfig, weights: Weights, layers: int, where: Path) -> EncoderGraph:
    """The first layers of an encoder.

    Parameters
    ----------
    config : EncoderConfig
    weights : dict of str to array
        By the names that they have in `transformers`.
    layers : int
    where : Path
        For messages.

    Returns
    -------
    EncoderGraph

    Raises
    ------
    BadModel
        Where weights are missing or of other sizes than the configuration says.
    """
    return _Builder(config, weights, where).built(layers)


class _Builder:
    def __init__(self, config: EncoderConfig, weights: Weights, where: Path) -> None:
        self.config, self.weights, self.where = config, weights, where
        self.graph = Graph(dict(INPUTS))
        self.first_norm = config.kind == "xlm-roberta-xl"
        """Layers are normalized before attention and feed-forward, and not behind them."""

    def built(self, layers: int) -> EncoderGraph:
        state = self._embedded()
        states = [state]
        for number in range(layers):
            layer = self._normalized_first if self.first_norm else self._normalized_last
            state = layer(state, f"encoder.layer.{number}.")
            states.append(state)
        if self.first_norm and layers == self.config.layers:
            states[-1] = self._norm(states[-1], "encoder.LayerNorm")
        return EncoderGraph(self.graph, states)

    def _embedded(self) -> str:
        graph, width = self.graph, self.config.width
        tables = {"word": "ids", "token_type": "types", "position": "positions"}
        found = [
            graph.add("Gather", self._weight(f"embeddings.{name}_embeddings.weight", None, width), places)
            for name, places in tables.items()
        ]
        total = graph.add("Add", graph.add("Add", found[0], found[1]), found[2])
        return total if self.first_norm else self._norm(total, "embeddings.LayerNorm")

    def _normalized_last(self, state: str, layer: str) -> str:
        attended = self._attention(state, layer)
        state = self._joined(state, attended, f"{layer}attention.output")
        return self._joined(state, self._feed_forward(state, layer), f"{layer}output")

    def _normalized_first(self, state: str, layer: str) -> str:
        graph = self.graph
        for norm, part, end in (
            ("attention.self_attn_layer_norm", self._attention, "attention.output"),
            ("LayerNorm", self._feed_forward, "output"),
        ):
            change = part(self._norm(state, layer + norm), layer)
            bias = self._weight(f"{layer}{end}.dense.bias", self.config.width)
            state = graph.add("Add", state, graph.add("Add", change, bias))
        return state

    def _attention(self, state: str, layer: str) -> str:
        """What attention makes of a state, before the bias of its last product."""
        width, names = self.config.width, [f"{layer}attention.self.{each}" for each in ("query", "key", "value")]
        matrix = np.concatenate([self._values(f"{name}.weight", width, width).T for name in names], axis=1)
        bias = np.concatenate([self._values(f"{name}.bias", width) for name in names])
        graph = self.graph
        attended = graph.add(
            "Attention", state, graph.weight(f"{layer}qkv.weight", matrix), graph.weight(f"{layer}qkv.bias", bias),
            "lengths", num_heads=self.config.heads,
        )  # fmt: skip
        return self._product(attended, f"{layer}attention.output.dense", width, width)

    def _feed_forward(self, state: str, layer: str) -> str:
        width = self.config.width
        inner = len(self._values(f"{layer}intermediate.dense.bias", None))
        wide = self._product(state, f"{layer}intermediate.dense", inner, width)
        wide = self.graph.add("Add", wide, self._weight(f"{layer}intermediate.dense.bias", inner))
        return self._product(self.graph.add("Gelu", wide), f"{layer}output.dense", width, inner)

    def _product(self, state: str, name: str, out: int, into: int) -> str:
        return self.graph.add("MatMul", state, self.graph.weight(name, self._values(f"{name}.weight", out, into).T))

    def _joined(self, state: str, change: str, end: str) -> str:
        width = self.config.width
        names = (f"{end}.LayerNorm.weight", f"{end}.LayerNorm.bias", f"{end}.dense.bias")
        weights = [self._weight(name, width) for name in names]
        return self.graph.add("SkipLayerNormalization", state, change, *weights, epsilon=self.config.epsilon)

    def _norm(self, state: str, name: str) -> str:
        weights = [self._weight(f"{name}.{part}", self.config.width) for part in ("weight", "bias")]
        return self.graph.add("LayerNormalization", state, *weights, axis=-1, epsilon=self.config.epsilon)

    def _weight(self, name: str, *shape: int | None) -> str:
        return self.graph.weight(name, self._values(name, *shape))

    def _values(self, name: str, *shape: int | None) -> NDArray[np.float32]:
        values = self.weights.get(name)
        if values is None and name.endswith("LayerNorm.weight"):
            values = self.weights.get(name.replace("weight", "gamma"))
        if values is None and name.endswith("LayerNorm.bias"):
            values = self.weights.get(name.replace("bias", "beta"))
        if values is None:
            raise BadModel(f"{self.where}: the weights lack {name}.")
        if len(values.shape) != len(shape) or any(
            wanted is not None and wanted != size for wanted, size in zip(shape, values.shape, strict=True)
        ):
            raise BadModel(f"{self.where}: {name} has the shape {values.shape}, which config.json does not fit.")
        return np.asarray(values, np.float32)
