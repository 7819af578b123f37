"""Contextual embeddings of tokens, of length 1."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from steelyard.metrics.learned.encoder import encoder_graph
from steelyard.metrics.learned.engine import Encoder, Model, TokenSequence
from steelyard.metrics.learned.folder import encoder_weights, read_config, read_weights
from steelyard.metrics.learned.tokens import TextTokenizer, Tokens, stated_length

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


class TokenEmbeddings:
    """An encoder up to some layer, loaded when it is first needed.

    Parameters
    ----------
    folder : Path
    layer : int
        1 is the first.
    device : str
        "cpu" or "cuda:N".

    Attributes
    ----------
    special : tuple of int
        The tokens before and behind a text.

    Raises
    ------
    BadModel, MissingResource
    """

    def __init__(self, folder: Path, layer: int, device: str) -> None:
        self._folder, self._layer, self._device = folder, layer, device
        self._config = read_config(folder)
        self._tokenizer = TextTokenizer(folder, stated_length(folder, self._config.window))
        self.special = (self._tokenizer.begin, self._tokenizer.end)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of texts without white space round them.

        Parameters
        ----------
        texts : list of str

        Returns
        -------
        list of Tokens
        """
        # bert-score has RoBERTa's first word look like any other.
        spaced = [f" {text}" if text else text for text in texts] if self._config.kind == "roberta" else texts
        return self._tokenizer.tokens(spaced)

    def embedded(self, tokens: Sequence[Tokens]) -> list[NDArray[np.float32]]:
        """The embeddings of the tokens of each text.

        Parameters
        ----------
        tokens : list of Tokens

        Returns
        -------
        list of (tokens, width) float32
        """
        found: dict[int, NDArray[np.float32]] = {}
        for position, states in self._encoder.encoded([TokenSequence(each.ids) for each in tokens]):
            found[position] = cast("NDArray[np.float32]", states[: len(tokens[position].ids)])
        return [found[position] for position in range(len(tokens))]

    @cached_property
    def _encoder(self) -> Encoder:
        weights = encoder_weights(read_weights(self._folder), self._folder)
        made = encoder_graph(self._config, weights, self._layer, self._folder)
        graph, state = made.graph, made.states[self._layer]
        output = graph.add("Div", state, graph.add("ReduceL2", state, axes=[-1], keepdims=1))
        return Encoder(Model(graph, [output], self._device), self._config.pad, self._config.offset, self._device)
