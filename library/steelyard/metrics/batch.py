"""The texts of one shard, each prepared once however many metrics look at them."""

from __future__ import annotations

from contextlib import nullcontext
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from steelyard.errors import BadText, MissingLayer, MissingState
from steelyard.formats.layers import describe_layers
from steelyard.kernels.text.composed import is_composed
from steelyard.kernels.text.lines import line_count
from steelyard.kernels.text.lowered import lowered
from steelyard.kernels.text.words import folded, words
from steelyard.metrics.resources import Resources
from steelyard.metrics.segments import Segments
from steelyard.text.blocks import split_lines
from steelyard.text.normalization import normalized
from steelyard.tokenizers.tokenizer import folds_afterwards, prepared_text, unescaped

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words
    from steelyard.metrics.corpus_statistics import Preparation
    from steelyard.metrics.stopwatch import Stopwatch

Prepared = TypeVar("Prepared")

SLICE_ROWS = 1 << 12
"""Segments times texts that are worked on at once: fewer cost more calls, more do not fit in a cache."""

SMALLEST_SLICE = 64
"""Segments that are worked on at once at least, however many texts there are, unless they are long."""

SLICE_BYTES = 1 << 23
"""Bytes of all texts: of very long segments one is worked on at a time, so that Ctrl-C is heard after each."""


class Batch:
    """A block range of a test set: its references and the hypotheses of all systems scored together.

    Texts are numbered references first, then systems; row `t * segments + i` of a prepared array is segment i of
    text t, and layers are in the same order. `states` has what was counted in the references of the whole test set, for
    metrics that need it (`corpus_statistics.py`). A `stopwatch` may be set, which then measures what is prepared.
    """

    def __init__(
        self,
        segments: Segments,
        *,
        resources: Resources | None = None,
        states: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(segments, Segments):
            raise BadText("A batch is made of Segments, by Segments.from_lines or Segments.from_bytes.")
        self.references = segments.references
        self.systems = segments.hypotheses
        self.variable_references = segments.variable_references
        self.layers = segments.layers
        self.resources = resources or Resources()
        self.states = states or {}
        self.stopwatch: Stopwatch | None = None
        self._prepared: dict[Hashable, Any] = {}
        self._segments = len(segments)

    @property
    def segments(self) -> int:
        """How many segments each text has."""
        return self._segments

    def slices(self) -> Iterator[Batch]:
        """The same in runs of consecutive segments that together hold them all; itself where it is small.

        What one of them needs fits in the processor's cache, and nobody who waits for its end waits for long.
        """
        count = self._slice_count
        if count == 1:
            yield self
            return
        yield from self.cut(-(-self.segments // count))

    def cut(self, segments: int) -> Iterator[Batch]:
        """The same in runs of so many segments, the last of which may have fewer."""
        layered = [text for layer in self.layers.values() for text in layer]
        for run in split_lines([*self.references, *self.systems, *layered], segments):
            own = iter(run)
            yield self.with_texts(
                list(islice(own, len(self.references))),
                list(islice(own, len(self.systems))),
                {name: list(islice(own, len(layer))) for name, layer in self.layers.items()},
            )

    def with_texts(
        self, references: Sequence[bytes], systems: Sequence[bytes], layers: Mapping[str, Sequence[bytes]]
    ) -> Batch:
        """The same with other texts, which have as many lines as each other, and nothing prepared."""
        batch = copy(self)
        batch.references, batch.systems, batch.layers = references, systems, layers
        batch._segments, batch._prepared = line_count(references[0]), {}
        return batch

    @property
    def _slice_count(self) -> int:
        texts = [*self.references, *self.systems]
        by_rows = -(-self.segments // max(SLICE_ROWS // len(texts), SMALLEST_SLICE))
        by_bytes = -(-sum(map(len, texts)) // SLICE_BYTES)
        return max(by_rows, min(by_bytes, self.segments))

    @property
    def reference_side(self) -> Batch:
        """The references alone; itself where metrics work on it as a whole, so that its words serve for both."""
        return self if self._slice_count == 1 else self.without_systems

    @property
    def without_systems(self) -> Batch:
        """The references alone."""
        layers = {name: layer[: len(self.references)] for name, layer in self.layers.items()}
        return self.with_texts(self.references, [], layers)

    @property
    def text(self) -> bytes:
        """All texts, one after the other."""
        return self.once("text", lambda: b"\n".join((*self.references, *self.systems)))

    @property
    def composed(self) -> Batch:
        """The same with all texts and layers in Unicode's NFC, for metrics that compare forms; as a rule itself."""
        return self.once("composed", self._composed) or self

    @property
    def present(self) -> NDArray[np.uint8]:
        """(references, segments): 0 where the segment lacks that reference."""
        return self.once("present", self._present)

    def words(self, tokenizer: str, case: str) -> Words:
        """Tokens as numbers; equal numbers mean equal tokens, over the whole batch.

        `case` is "mixed" (kept) or "lc" (folded by Unicode's rules before tokenization).
        """
        return self.once(("words", tokenizer, case), lambda: self._words(tokenizer, case))

    def layer(self, name: str, case: str) -> Words:
        """The items of a linguistic layer as numbers, rows as in `words`. Raises MissingLayer."""
        if name not in self.layers:
            have = describe_layers(self.layers)
            raise MissingLayer(f"These texts lack the layer {describe_layers([name])}. Layers found: {have}.")
        return self.once(("layer", name, case), lambda: self._layer(name, case))

    def state(self, preparation: Preparation) -> Any:
        """What `preparation.read` made of the whole reference side. Raises MissingState."""
        if preparation.key not in self.states:
            raise MissingState(
                f"{preparation.key} was not counted in the references of the test set. Score with "
                "steelyard.metrics.measure.measure, or give the batch what corpus_statistics.states_of(...) counts."
            )
        return self.states[preparation.key]

    @property
    def _rows(self) -> int:
        return (len(self.references) + len(self.systems)) * self.segments

    def once(self, key: Hashable, make: Callable[[], Prepared]) -> Prepared:
        """What `make` returns, made at the first call with this key: for work that several metrics share."""
        watch = self.stopwatch
        # What is in another Unicode form is another batch with the same keys.
        piece = (id(self), key)
        if key not in self._prepared:
            with watch.timing(piece) if watch else nullcontext():
                self._prepared[key] = make()
        elif watch:
            watch.uses(piece)
        return cast("Prepared", self._prepared[key])

    def cased(self, case: str) -> bytes:
        """All texts, one after the other, with `case` as in `words`."""
        if case == "mixed":
            return self.text
        return self.once("lowered", lambda: lowered(self.text))

    def _words(self, tokenizer: str, case: str) -> Words:
        if case == "lc" and folds_afterwards(self.text, tokenizer):
            # Folding the types instead of the tokens is some ten times less work.
            return folded(self.words(tokenizer, "mixed"))
        if tokenizer == "13a":
            return words(unescaped(self.cased(case)), self._rows, western=True)
        return words(prepared_text(self.cased(case), tokenizer), self._rows)

    def _composed(self) -> Batch | None:
        """None where it is this one: a batch that held itself would stay in memory until cycles are looked for."""
        texts = [self.text, *(b"\n".join(layer) for layer in self.layers.values())]
        if all(map(is_composed, texts)):
            return None
        return self.with_texts(
            [_in_nfc(text) for text in self.references],
            [_in_nfc(text) for text in self.systems],
            {name: [_in_nfc(text) for text in layer] for name, layer in self.layers.items()},
        )

    def _layer(self, name: str, case: str) -> Words:
        items = words(b"\n".join(self.layers[name]), self._rows)
        return folded(items) if case == "lc" else items

    def _present(self) -> NDArray[np.uint8]:
        mask = np.ones((len(self.references), self.segments), np.uint8)
        if self.variable_references:
            for row, text in zip(mask, self.references, strict=True):
                row[:] = [bool(line) for line in text.split(b"\n")]
            lacking = np.flatnonzero(~mask.any(axis=0))
            if len(lacking):
                raise BadText(f"Segment {lacking[0] + 1} has no reference at all.")
        return mask


def _in_nfc(text: bytes) -> bytes:
    return normalized("NFC", text.decode()).encode()
