"""BLEU_modif: BLEU whose n-grams need not be equal, only similar by their word vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.fixed_point import GRID
from steelyard.kernels.embeddings.similarities import WHOLE
from steelyard.metrics.embeddings.embedding_metric import UNKNOWN_COLUMNS, VectorMetric
from steelyard.metrics.ngram.bleu import BLEU
from steelyard.metrics.parameters import number_to, parameter, show_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.keywords import BLEUModifKeywords
    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class BLEUModif(VectorMetric, BLEU):
    """BLEU in which an n-gram counts as much as it resembles the most similar n-gram of the references.

    The similarity of two n-grams is the cosine of the means of their words' vectors, 1 if they are equal, and counts
    from `gamma` on. Nothing is clipped.
    """

    name: ClassVar[str] = "bleu_modif"
    source: ClassVar[str] = "Wang and Merlo 2016"
    cost: ClassVar[float] = 6.5
    examples: ClassVar[tuple[str, ...]] = ("vectors=toy", "vectors=toy:gamma=0.9:order=1-3,6:case=mixed")

    gamma: float = parameter(
        0.1, "least similarity that counts, 0 to 1", parse=number_to(1), show=show_number, ours=True
    )

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[BLEUModifKeywords]) -> None: ...

    @property
    def title(self) -> str:
        """The name, with orders and gamma where they are not the usual ones."""
        gamma = "" if self.gamma == 0.1 else f"[gamma={show_number(self.gamma)}]"
        return super().title.replace("BLEU", "BLEU_modif") + gamma

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of BLEU, then words without a vector."""
        return (*super().columns, *UNKNOWN_COLUMNS)

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 5 + 2 * orders)."""
        segments = segments.nfc
        words, systems = segments.words(self.tok, self.case), len(segments.hypotheses)
        found, unknown = self.similarities(segments, self.order[-1])
        plain = self._ngrams(segments).copy()
        starts = words.starts[segments.reference_mask.size :] - words.starts[segments.reference_mask.size]
        least = round(self.gamma * WHOLE)
        for column, order in enumerate(self.order, 2):
            best = found.best[order - 1]
            # Whole numbers, whose sums are exact: what has overflown disappears in the difference.
            sums = np.concatenate([[0], np.cumsum(np.where(best >= least, best, 0))])[starts]
            credit = np.diff(sums).reshape(systems, -1)
            plain[..., column] = ((credit + 2**15) >> 16) / GRID
        return np.concatenate([plain, unknown], axis=-1)

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """0 to 100; 0 without any similarity."""
        return super().score(sums[..., : self._own])

    def segment_score(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """As `score`, but over the orders that the segment is long enough for."""
        return super().segment_score(statistics[..., : self._own])

    def details(self, sums: NDArray[np.float64]) -> dict[str, float]:
        """The shares of unknown words."""
        return {**super().details(sums[: self._own]), **self.unknown_shares(sums[self._own :], float(sums[0]))}

    @property
    def _own(self) -> int:
        return 2 + 2 * len(self.order)
