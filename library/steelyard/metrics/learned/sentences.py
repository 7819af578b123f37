"""What COMET makes of an encoder: one vector for each text, and a head that gives a score."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from steelyard.errors import BadModel
from steelyard.metrics.learned.checkpoint import (
    REFERENCELESS,
    UNIFIED,
    Hyperparameters,
    encoder_folder,
    head_layers,
    layer_shares,
    read_state,
)
from steelyard.metrics.learned.encoder import ROWS, TOKENS, EncoderGraph, encoder_graph
from steelyard.metrics.learned.engine import Encoder, Model, TokenSequence
from steelyard.metrics.learned.folder import encoder_weights, read_config
from steelyard.metrics.learned.onnx_graph import Graph
from steelyard.metrics.learned.tokens import TextTokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from steelyard.metrics.learned.folder import EncoderConfig, Weights
    from steelyard.metrics.learned.tokens import Tokens

    Vectors = NDArray[np.float32]

HEAD_ROWS = 64
"""Of the head's batches, which are always full."""


class SentenceModel:
    """A checkpoint of COMET in memory.

    Parameters
    ----------
    folder : Path
    hyperparameters : Hyperparameters
    device : str
        "cpu" or "cuda:N".

    Raises
    ------
    BadModel, MissingResource
    """

    def __init__(self, folder: Path, hyperparameters: Hyperparameters, device: str) -> None:
        own = encoder_folder(folder)
        self._config = read_config(own)
        # COMET leaves two places free, and two more for the tokens round a text.
        self._longest = self._config.positions - 2
        self._tokenizer = TextTokenizer(own, self._longest - 2)
        graphs = checkpoint_graphs(folder, self._config, hyperparameters)
        model = Model(graphs.encoder, [graphs.pooled], device)
        self._encoder = Encoder(model, self._config.pad, self._config.offset, device)
        self._head, self._width = Model(graphs.head, [graphs.score], device), graphs.width

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of texts.

        Parameters
        ----------
        texts : list of str

        Returns
        -------
        list of Tokens
        """
        return self._tokenizer.tokens(texts)

    def joined(self, parts: Sequence[Tokens]) -> tuple[TokenSequence, bool]:
        """Several texts as one sequence, the hypothesis first; and whether something was cut off.

        Parameters
        ----------
        parts : list of Tokens

        Returns
        -------
        sequence : TokenSequence
        truncated : bool
        """
        # Padding tokens that stand in a text are lost on the way, as in COMET.
        inner = [[each for each in part.ids if each != self._config.pad][1:-1] for part in parts]
        begin, end = self._tokenizer.begin, self._tokenizer.end
        ids = [begin, *inner[0], end]
        for more in inner[1:]:
            ids += [end] * (self._config.separators - 1) + more + [end]
        special = 1 + len(parts) * self._config.separators
        too_long = sum(map(len, inner)) > self._longest - special
        # Only BERT reads which text a token is of.
        first = len(inner[0]) + 2 if self._config.kind == "bert" else 1 << 30
        cut = ids[: self._longest] if too_long else ids
        return TokenSequence(tuple(cut), first), too_long or any(part.truncated for part in parts)

    def vectors(self, sequences: Sequence[TokenSequence]) -> list[Vectors]:
        """The vector of each sequence.

        Parameters
        ----------
        sequences : list of TokenSequence

        Returns
        -------
        list of (width,) float32
        """
        found = dict(self._encoder.encoded(sequences))
        return [cast("Vectors", found[position]) for position in range(len(sequences))]

    def head(self, features: Vectors) -> NDArray[np.float64]:
        """The scores of what the head reads.

        Parameters
        ----------
        features : (n, width of the head) float32

        Returns
        -------
        (n,) float64
        """
        scores = np.empty(len(features))
        for begin in range(0, len(features), HEAD_ROWS):
            part = features[begin : begin + HEAD_ROWS]
            batch = np.zeros((HEAD_ROWS, self._width), np.float32)
            batch[: len(part)] = part
            (found,) = self._head.run({"features": batch})
            scores[begin : begin + HEAD_ROWS] = found[: len(part), 0]
        return scores


class CheckpointGraphs(NamedTuple):
    """A checkpoint as graphs, with the names of what they end with."""

    encoder: Graph
    pooled: str
    head: Graph
    score: str
    width: int
    """How many numbers the head reads."""


def checkpoint_graphs(folder: Path, config: EncoderConfig, hyperparameters: Hyperparameters) -> CheckpointGraphs:
    """The graphs of a checkpoint, with all its weights.

    Parameters
    ----------
    folder : Path
    config : EncoderConfig
    hyperparameters : Hyperparameters

    Returns
    -------
    CheckpointGraphs

    Raises
    ------
    BadModel
        Where weights are missing or damaged, or do not go together.

    """
    state = read_state(folder)
    made = encoder_graph(config, encoder_weights(state, folder), config.layers, folder)
    pooled = _pooled(made, state, hyperparameters, folder)
    head, score, width = _head(state, hyperparameters, folder)
    texts = {REFERENCELESS: 4, UNIFIED: 1}.get(hyperparameters.kind, 6)
    if width != texts * config.width:
        raise BadModel(f"{folder}: the head reads {width} numbers, not {texts} × {config.width}.")
    return CheckpointGraphs(made.graph, pooled, head, score, width)


def _pooled(made: EncoderGraph, state: Weights, hyperparameters: Hyperparameters, where: Path) -> str:
    """The output of a graph that ends with one vector for each row."""
    graph = made.graph
    graph.inputs |= {"mask": ("float32", (ROWS, TOKENS)), "kept": ("float32", (ROWS, TOKENS))}
    if hyperparameters.layer is None:
        states = _mixed(made, state, hyperparameters, where)
    elif 0 <= hyperparameters.layer < len(made.states):
        states = made.states[hyperparameters.layer]
    else:
        raise BadModel(f"{where}: layer {hyperparameters.layer} is pooled, but there are {len(made.states)}.")
    axis = graph.numbers(1, kind="int64")
    if hyperparameters.pool == "cls":
        first = graph.add("Slice", states, *(graph.numbers(each, kind="int64") for each in (0, 1, 1)))
        return graph.add("Squeeze", first, axis)
    if hyperparameters.pool == "max":
        there = graph.add("Cast", graph.add("Unsqueeze", "kept", graph.numbers(2, kind="int64")), to=9)
        below = graph.add("Where", there, states, graph.numbers(-np.inf))
        return graph.add("ReduceMax", below, axes=[1], keepdims=0)
    total = graph.add("Squeeze", _over_tokens(graph, "kept", states), axis)
    return graph.add("Div", total, graph.add("ReduceSum", "mask", axis, keepdims=1))


def _over_tokens(graph: Graph, counted: str, values: str) -> str:
    """The sum over those tokens that count, (rows, 1, ...).

    By a product for each row: ONNX Runtime's own sum adds in an order that follows rows and threads.
    """
    return graph.add("MatMul", graph.add("Unsqueeze", counted, graph.numbers(1, kind="int64")), values)


def _mixed(made: EncoderGraph, state: Weights, hyperparameters: Hyperparameters, where: Path) -> str:
    """The weighted sum of all hidden states; those without weight are left out."""
    graph = made.graph
    shares = layer_shares(state, len(made.states), sparse=hyperparameters.sparse, where=where)
    total = ""
    for share, states in zip(shares.tolist(), made.states, strict=True):
        if share:
            one = _normalized(graph, states) if hyperparameters.layer_norm else states
            weighted = graph.add("Mul", one, graph.numbers(share))
            total = graph.add("Add", total, weighted) if total else weighted
    return total


def _normalized(graph: Graph, states: str) -> str:
    """Hidden states less their mean, in their standard deviation: over all numbers of all tokens of a row."""

    def mean(values: str) -> str:
        of_tokens = graph.add("ReduceMean", values, axes=[2], keepdims=1)
        return graph.add("Div", _over_tokens(graph, "mask", of_tokens), tokens)

    tokens = graph.add("ReduceSum", "mask", graph.numbers(1, kind="int64"), keepdims=1)
    tokens = graph.add("Unsqueeze", tokens, graph.numbers(2, kind="int64"))
    centred = graph.add("Sub", states, mean(states))
    variance = mean(graph.add("Mul", centred, centred))
    return graph.add("Div", centred, graph.add("Sqrt", graph.add("Add", variance, graph.numbers(1e-12))))


def _head(state: Weights, hyperparameters: Hyperparameters, where: Path) -> tuple[Graph, str, int]:
    """The head, what it ends with, and how many numbers it reads."""
    layers = head_layers(state, where)
    width = layers[0][0].shape[1]
    graph = Graph({"features": ("float32", (HEAD_ROWS, width))})
    output = "features"
    for number, (matrix, bias) in enumerate(layers):
        product = graph.add("MatMul", output, graph.weight(f"matrix{number}", matrix.T))
        output = graph.add("Add", product, graph.weight(f"bias{number}", bias))
        last = number == len(layers) - 1
        if activation := hyperparameters.final if last else hyperparameters.activation:
            output = graph.add(activation, output)
    return graph, output, width
