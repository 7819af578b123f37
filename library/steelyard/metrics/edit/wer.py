"""WER: word error rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

from steelyard.kernels.edit.edit_distance import edit_distances
from steelyard.metrics.edit.error_rate import ErrorRate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from steelyard.metrics.keywords import WERKeywords
    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class WER(ErrorRate):
    """Words to insert, delete or replace, per word of the reference."""

    name: ClassVar[str] = "wer"
    source: ClassVar[str] = "Su, Wu and Chang 1992; Kos 2008, section 2.3.1"
    cost: ClassVar[float] = 0.3
    growth: ClassVar[float] = 2.0
    examples: ClassVar[tuple[str, ...]] = ("", "case=lc:tok=intl")

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[WERKeywords]) -> None: ...

    def edits(self, segments: Segments) -> NDArray[np.int64]:
        """Levenshtein distances."""
        return edit_distances(segments.words(self.tok, self.case), segments.reference_mask, len(segments.hypotheses))
