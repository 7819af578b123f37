"""The texts that are scored: checked once at the door, prepared once however many metrics read them."""

from __future__ import annotations

from copy import copy
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.errors import MissingLayer, MissingState
from steelyard.formats.layers import describe_layers
from steelyard.kernels.characters.lowercase import lowercased
from steelyard.kernels.characters.nfc import is_nfc
from steelyard.kernels.text.words import lowercased_words, words
from steelyard.metrics.preparation.shared_work import SharedWork
from steelyard.metrics.preparation.slicing import slice_count
from steelyard.metrics.preparation.text_checks import (
    equal_line_counts,
    joined_texts,
    present_references,
    refuse_no_texts,
)
from steelyard.metrics.resources import Resources
from steelyard.text.blocks import split_lines
from steelyard.text.normalization import normalized
from steelyard.tokenizers.registry import lowercases_afterwards, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words

SHORT_TEXT = 2048
"""Bytes up to which a kernel costs more by being called than by what it does."""


class Segments(SharedWork):
    r"""The references of a test set and the hypotheses of all systems that are scored together.

    Every text is UTF-8 bytes with one segment per line, lines joined by "\n" and without a final one; all have as many
    lines. `from_bytes` takes them so, `from_lines` takes lists of strings. `len` is the number of segments.

    Row `t * segments + i` of what is prepared for all texts is segment i of text t, where references come first, then
    hypotheses.

    Parameters
    ----------
    references, hypotheses : sequence of bytes
        There may be no hypotheses where something is to be counted in the references alone.
    source : bytes, optional
        What was translated, for metrics that read it (`Metric.inputs`).
    variable_references : bool
        An empty line of a reference means that the segment lacks it.
    layers : mapping of str to sequence of bytes, optional
        The linguistic layers that all texts have, those of the references, then of the hypotheses
        (`steelyard.formats.layers`).
    resources : Resources, optional
        Files that metrics read.
    states : mapping, optional
        What was counted in the references of the whole test set, for metrics that need it (`corpus_statistics.py`).

    Raises
    ------
    BadText
        For what is no list of texts, not UTF-8, or of another number of lines.
    """

    def __init__(
        self,
        *,
        references: Sequence[bytes],
        hypotheses: Sequence[bytes],
        source: bytes | None = None,
        variable_references: bool = False,
        layers: Mapping[str, Sequence[bytes]] | None = None,
        resources: Resources | None = None,
        states: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.references = references
        self.hypotheses = hypotheses
        self.source = source
        self.variable_references = variable_references
        self.layers = layers or {}
        self.resources = resources or Resources()
        self.states = states or {}
        refuse_no_texts(references, hypotheses)
        self._count = equal_line_counts(self.named())

    @classmethod
    def from_bytes(
        cls,
        *,
        references: Sequence[bytes],
        hypotheses: Sequence[bytes],
        source: bytes | None = None,
        variable_references: bool = False,
    ) -> Self:
        r"""Of texts of which each is all its segments, joined by line feeds.

        Parameters
        ----------
        references, hypotheses : list of bytes
        source : bytes, optional
        variable_references : bool
            An empty line of a reference means that the segment lacks it.

        Returns
        -------
        Segments

        Raises
        ------
        BadText
            For what is not UTF-8, or of another number of lines.
        """
        return cls(references=references, hypotheses=hypotheses, source=source, variable_references=variable_references)

    @classmethod
    def from_lines(
        cls,
        *,
        references: Sequence[Sequence[str]],
        hypotheses: Sequence[Sequence[str]],
        source: Sequence[str] | None = None,
        variable_references: bool = False,
    ) -> Self:
        """Of lists of segments.

        Parameters
        ----------
        references : list of list of str
            One list for each reference.
        hypotheses : list of list of str
            One list for each system.
        source : list of str, optional
        variable_references : bool
            An empty string of a reference means that the segment lacks it.

        Returns
        -------
        Segments

        Raises
        ------
        BadText
            For what is no list of strings, and for lists of different lengths.
        """
        return cls(
            references=joined_texts("references", references),
            hypotheses=joined_texts("hypotheses", hypotheses),
            source=None if source is None else joined_texts("source", [source])[0],
            variable_references=variable_references,
        )

    def __len__(self) -> int:
        return self._count

    def with_resources(self, resources: Resources | None) -> Self:
        """The same texts with files that metrics read, nothing prepared.

        Parameters
        ----------
        resources : Resources or None

        Returns
        -------
        Segments
        """
        other = copy(self)
        other.resources, other._prepared = resources or Resources(), {}
        return other

    def with_texts(
        self,
        references: Sequence[bytes],
        hypotheses: Sequence[bytes],
        layers: Mapping[str, Sequence[bytes]],
        source: bytes | None = None,
    ) -> Self:
        """The same with other texts that are known to be right, nothing prepared.

        Parameters
        ----------
        references, hypotheses : list of bytes
        layers : mapping of str to list of bytes
        source : bytes, optional

        Returns
        -------
        Segments
        """
        other = copy(self)
        other.references, other.hypotheses, other.layers, other.source = references, hypotheses, layers, source
        other._count, other._prepared = references[0].count(b"\n") + 1, {}
        return other

    def named(self) -> Iterator[tuple[str, bytes]]:
        """Every text, and what to call it in a message."""
        yield from ((f"reference {number}", text) for number, text in enumerate(self.references, 1))
        yield from ((f"hypothesis {number}", text) for number, text in enumerate(self.hypotheses, 1))
        if self.source is not None:
            yield "source", self.source
        for layer, texts in self.layers.items():
            yield from ((f"text {number} of the layer {layer}", text) for number, text in enumerate(texts, 1))

    def slices(self) -> Iterator[Self]:
        """The same in runs of consecutive segments that together hold them all; itself where it is small.

        What one of them needs fits in the processor's cache, and nobody who waits for its end waits for long.
        """
        count = self._slice_count
        if count == 1:
            yield self
            return
        yield from self.cut(-(-len(self) // count))

    def cut(self, segments: int) -> Iterator[Self]:
        """The same in runs of consecutive segments.

        Parameters
        ----------
        segments : int
            How many each has; the last may have fewer.

        Returns
        -------
        iterator of Segments
        """
        layered = [text for layer in self.layers.values() for text in layer]
        sources = [] if self.source is None else [self.source]
        for run in split_lines([*self.references, *self.hypotheses, *layered, *sources], segments):
            own = iter(run)
            yield self.with_texts(
                list(islice(own, len(self.references))),
                list(islice(own, len(self.hypotheses))),
                {name: list(islice(own, len(layer))) for name, layer in self.layers.items()},
                next(own, None),
            )

    @property
    def _slice_count(self) -> int:
        return slice_count([*self.references, *self.hypotheses], len(self))

    @property
    def reference_side(self) -> Self:
        """The references alone; itself where metrics work on it as a whole, so that its words serve for both."""
        return self if self._slice_count == 1 else self.without_hypotheses

    @property
    def without_hypotheses(self) -> Self:
        """The references alone."""
        layers = {name: layer[: len(self.references)] for name, layer in self.layers.items()}
        return self.with_texts(self.references, [], layers)

    @property
    def text(self) -> bytes:
        """All references and hypotheses, one after the other."""
        return self.cached("text", lambda: b"\n".join((*self.references, *self.hypotheses)))

    @property
    def nfc(self) -> Self:
        """The same with all texts and layers in Unicode's NFC, for metrics that compare forms; as a rule itself."""
        return self.cached("nfc", self._nfc) or self

    @property
    def reference_mask(self) -> NDArray[np.uint8]:
        """(references, segments): 0 where the segment lacks that reference."""
        return self.cached(
            "reference mask",
            lambda: present_references(self.references, len(self), variable=self.variable_references),
        )

    def words(self, tokenizer: str, case: str) -> Words:
        """Tokens as numbers; equal numbers mean equal tokens, over all texts.

        Parameters
        ----------
        tokenizer : str
            Its name, pinned where it has versions.
        case : str
            "mixed" (kept) or "lc" (lowercased before tokenization).

        Returns
        -------
        Words
            Rows as the class says.
        """
        return self.cached(("words", tokenizer, case), lambda: self._words(tokenizer, case))

    def layer(self, name: str, case: str) -> Words:
        """The items of a linguistic layer as numbers.

        Parameters
        ----------
        name : str
        case : str
            As of `words`.

        Returns
        -------
        Words
            Rows as in `words`.

        Raises
        ------
        MissingLayer
            Where the texts do not have it.
        """
        if name not in self.layers:
            have = describe_layers(self.layers)
            raise MissingLayer(f"These texts lack the layer {describe_layers([name])}. Layers found: {have}.")
        return self.cached(("layer", name, case), lambda: self._layer(name, case))

    def state(self, key: str) -> Any:
        """What was counted in the whole reference side.

        Parameters
        ----------
        key : str
            `CorpusStatistics.key`.

        Returns
        -------
        Any
            As `CorpusStatistics.read` gives it.

        Raises
        ------
        MissingState
            Where it was not counted.
        """
        if key not in self.states:
            raise MissingState(
                f"{key} was not counted in the references of the test set. Score with "
                "steelyard.metrics.score_systems.score_systems, or give Segments the states that "
                "needed_statistics.states_of(...) counts."
            )
        return self.states[key]

    def cased(self, case: str) -> bytes:
        """All references and hypotheses, one after the other.

        Parameters
        ----------
        case : str
            As of `words`.

        Returns
        -------
        bytes
            Lines joined by line feeds.
        """
        if case == "mixed":
            return self.text
        return self.cached("lowercased", lambda: lowercased(self.text))

    @property
    def _rows(self) -> int:
        return (len(self.references) + len(self.hypotheses)) * len(self)

    def _words(self, tokenizer: str, case: str) -> Words:
        if case == "lc" and len(self.text) > SHORT_TEXT and lowercases_afterwards(self.text, tokenizer):
            # To lowercase the types instead of the tokens is some ten times less work, and one kernel more.
            return lowercased_words(self.words(tokenizer, "mixed"))
        return words_of(self.cased(case), self._rows, tokenizer, self.resources)

    def _nfc(self) -> Self | None:
        """None where it is this one: segments that held themselves would stay in memory until cycles are looked for."""

        def in_nfc(text: bytes) -> bytes:
            return normalized("NFC", text.decode()).encode()

        texts = [self.text, *(b"\n".join(layer) for layer in self.layers.values())]
        if all(map(is_nfc, texts)):
            return None
        return self.with_texts(
            [in_nfc(text) for text in self.references],
            [in_nfc(text) for text in self.hypotheses],
            {name: [in_nfc(text) for text in layer] for name, layer in self.layers.items()},
            None if self.source is None else in_nfc(self.source),
        )

    def _layer(self, name: str, case: str) -> Words:
        items = words(b"\n".join(self.layers[name]), self._rows)
        return lowercased_words(items) if case == "lc" else items
