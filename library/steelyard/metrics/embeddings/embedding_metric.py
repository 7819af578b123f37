"""What BLEU_modif and WER_modif have in common: words compared by their vectors."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from steelyard.errors import MissingResource
from steelyard.kernels.embeddings.similarities import Similarities, similarities
from steelyard.metrics.embeddings.vectors import store, vectors_in
from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import case_parameter, parameter, registered_name, tokenizer_parameter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from steelyard.metrics.run_context import RunContext
    from steelyard.metrics.segments import Segments

NO_VECTORS = "none"
UNKNOWN_COLUMNS = ("hyp_unknown", "ref_words", "ref_unknown")
USUAL_ORDER = 4
"""N-grams up to here are always compared, so that one comparison serves both metrics."""


@dataclass(frozen=True)
class VectorMetric(Metric):
    """Similarity of words is the cosine of their vectors; words without a vector are similar only to themselves."""

    growth: ClassVar[float] = 2.0
    examples: ClassVar[tuple[str, ...]] = ("vectors=toy",)

    case: str = case_parameter("lc")
    tok: str = tokenizer_parameter()
    vectors: str = parameter(
        NO_VECTORS, "word vectors, NAME or NAME@HASH; `steelyard vectors list` shows what there is",
        parse=registered_name("registered vectors"), ours=True,
    )  # fmt: skip

    @classmethod
    def example_resources(cls, folder: Path, words: Sequence[str]) -> dict[str, Path]:
        """Vectors of three dimensions for most of the words; they point in all directions."""
        path = folder / "toy-vectors"
        if not path.exists():
            path.mkdir()
            distinct = [word for word in sorted({word.lower() for word in words}) if len(word.split()) == 1]
            numbers = ((number * 7 % 5 - 2, number * 3 % 7 - 3, number % 3 - 1) for number in range(len(distinct)))
            entries = ((word.encode(), np.array(row, np.float32)) for word, row in zip(distinct, numbers, strict=True))
            store((entry for entry in entries if len(entry[0]) != 3), path, "toy", {"made": "for a check"})
        return {"toy": path}

    def resolve(self, context: RunContext) -> tuple[Self, list[str]]:
        """With the hash of the vectors. Raises MissingResource and BadVectors."""
        pinned = context.resources.pinned(self._named(), "vectors")
        vectors_in(context.resources, pinned)
        return dataclasses.replace(self, vectors=pinned), []

    def similarities(self, segments: Segments, deepest: int = USUAL_ORDER) -> tuple[Similarities, NDArray[np.float64]]:
        """The comparison of the words of all texts; made once for both metrics where they agree on vectors and words.

        Parameters
        ----------
        segments : Segments
        deepest : int
            The longest n-grams that are compared.

        Returns
        -------
        similarities : Similarities
        unknown : (systems, segments, 3) float64
            The unknown words that UNKNOWN_COLUMNS count.
        """
        key = (self._named(), self.tok, self.case, max(deepest, USUAL_ORDER))
        return segments.cached(("similarities", *key), lambda: self._compared(segments, key[-1]))

    def unknown_shares(self, counts: NDArray[np.float64], hypothesis_words: float) -> dict[str, float]:
        """The share of words without a vector, where there are words.

        Parameters
        ----------
        counts : (3,) float64
            Sums of UNKNOWN_COLUMNS of one system.
        hypothesis_words : float

        Returns
        -------
        dict of str to float
            In percent, by name.
        """
        hypothesis, words, references = counts.tolist()
        shares = {"unknown words": (hypothesis, hypothesis_words), "unknown reference words": (references, words)}
        return {name: 100.0 * unknown / of for name, (unknown, of) in shares.items() if of}

    def _named(self) -> str:
        if self.vectors == NO_VECTORS:
            raise MissingResource(
                f"{self.name} needs word vectors: name them with {self.name}:vectors=NAME. "
                "`steelyard vectors list` shows those that are registered; `steelyard vectors create NAME "
                "--input TEXT` makes some, `steelyard vectors import NAME FILE` takes those of others."
            )
        return self.vectors

    def _compared(self, segments: Segments, deepest: int) -> tuple[Similarities, NDArray[np.float64]]:
        words, systems = segments.words(self.tok, self.case), len(segments.hypotheses)
        vectors = vectors_in(segments.resources, self.vectors)
        rows = vectors.rows(words)
        found = similarities(words, segments.reference_mask, systems, rows, vectors.values, deepest)
        # How many unknown words come before each row's first.
        before = np.concatenate([[0], np.cumsum(rows[words.ids] < 0)])[words.starts]
        references = len(segments.references)
        unknown = np.diff(before).reshape(-1, len(segments))
        lengths = words.lengths.reshape(-1, len(segments))
        counts = np.zeros((systems, len(segments), 3))
        counts[..., 0] = unknown[references:]
        counts[..., 1] = (lengths[:references] * segments.reference_mask).sum(axis=0)
        counts[..., 2] = (unknown[:references] * segments.reference_mask).sum(axis=0)
        return found, counts
