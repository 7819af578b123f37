"""WER_modif: word error rate in which a similar word is less of an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.kernels.embeddings.similarities import EDIT
from steelyard.metrics.edit.error_rate import rate
from steelyard.metrics.embeddings.embedding_metric import UNKNOWN_COLUMNS, VectorMetric
from steelyard.metrics.parameters import parameter
from steelyard.metrics.references.choice import least, lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.keywords import WERModifKeywords
    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class WERModif(VectorMetric):
    """Words to insert, delete or replace, per word of the reference, where a replacement costs 1 - similarity.

    The similarity of two words is the cosine of their vectors. Without vectors it is WER.
    """

    name: ClassVar[str] = "wer_modif"
    source: ClassVar[str] = "Wang and Merlo 2016"
    higher_is_better: ClassVar[bool] = False
    cost: ClassVar[float] = 6.2
    examples: ClassVar[tuple[str, ...]] = ("vectors=toy", "vectors=toy:clamp=no")

    clamp: bool = parameter(True, "a replacement costs at most 1, as words without any similarity do", ours=True)

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[WERModifKeywords]) -> None: ...

    @property
    def title(self) -> str:
        """The name, and whether costs are not clamped."""
        return "WER_modif" if self.clamp else "WER_modif[unclamped]"

    @property
    def columns(self) -> tuple[str, ...]:
        """Distance, length of the reference it leads to, words of the hypothesis, words without a vector."""
        return ("dist", "ref_len", "hyp_len", *UNKNOWN_COLUMNS)

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 6)."""
        segments = segments.nfc
        words, systems = segments.words(self.tok, self.case), len(segments.hypotheses)
        reference_lengths, hypothesis_lengths = lengths(words, segments.reference_mask, systems)
        found, unknown = self.similarities(segments)
        distances, chosen = least(found.distances[0 if self.clamp else 1], reference_lengths, segments.reference_mask)
        own = np.stack([distances / EDIT, chosen, hypothesis_lengths], axis=-1)
        return np.concatenate([own, unknown], axis=-1)

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distance per 100 reference words; against an empty reference 100, or 0 where there are no edits."""
        return rate(sums[..., 0], sums[..., 1])

    def details(self, sums: NDArray[np.float64]) -> dict[str, float]:
        """The shares of unknown words."""
        return self.unknown_shares(sums[3:], float(sums[2]))
