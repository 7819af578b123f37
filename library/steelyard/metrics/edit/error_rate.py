"""What WER and PER have in common: edits, divided by the length of the reference they lead to."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import case_parameter, tokenizer_parameter
from steelyard.metrics.references.choice import least, lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class ErrorRate(Metric):
    """Edits per reference word.

    Of several references the one with the fewest edits counts, the shorter on ties. The rate exceeds 100
    where there are more edits than reference words; it is 100 where an empty reference meets words.
    """

    higher_is_better: ClassVar[bool] = False

    case: str = case_parameter()
    tok: str = tokenizer_parameter()

    @property
    def title(self) -> str:
        """The name in capitals."""
        return self.name.upper()

    @property
    def columns(self) -> tuple[str, ...]:
        """Edits, and the length of the reference they lead to."""
        return ("edits", "ref_len")

    @abstractmethod
    def edits(self, segments: Segments) -> NDArray[np.int64]:
        """The edits of each pair of hypothesis and reference.

        Parameters
        ----------
        segments : Segments

        Returns
        -------
        (references, systems, segments) int64
            Of no meaning where a reference is missing.
        """

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 2)."""
        words, systems = segments.words(self.tok, self.case), len(segments.hypotheses)
        reference_lengths, _ = lengths(words, segments.reference_mask, systems)
        return np.stack(least(self.edits(segments), reference_lengths, segments.reference_mask), axis=-1).astype(
            np.float64
        )

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Edits per 100 reference words; against an empty reference 100, or 0 where there are no edits."""
        return rate(sums[..., 0], sums[..., 1])


def rate(edits: NDArray[np.float64], length: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edits per 100 words.

    Parameters
    ----------
    edits : (...) float64
    length : (...) float64
        Words of the references.

    Returns
    -------
    (...) float64
        Without words 100, or 0 where there are no edits.
    """
    return 100.0 * np.where(length > 0, edits / np.maximum(length, 1.0), edits > 0)
