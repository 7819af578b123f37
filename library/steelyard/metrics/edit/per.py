"""PER: position-independent word error rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.metrics.edit.error_rate import ErrorRate
from steelyard.metrics.references.choice import lengths
from steelyard.metrics.references.unigram_overlap import unigram_overlap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.keywords import PERKeywords
    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class PER(ErrorRate):
    """Words of the longer side without a partner on the other, per word of the reference.

    Order does not count. The longer side is chosen segment by segment.
    """

    name: ClassVar[str] = "per"
    source: ClassVar[str] = "Tillmann et al. 1997; Kos 2008, section 2.2.2"
    cost: ClassVar[float] = 0.3
    growth: ClassVar[float] = 1.0
    examples: ClassVar[tuple[str, ...]] = ("", "case=lc:tok=zh")

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[PERKeywords]) -> None: ...

    def edits(self, segments: Segments) -> NDArray[np.int64]:
        """Length of the longer side minus the words in common."""
        references, hypotheses = lengths(
            segments.words(self.tok, self.case), segments.reference_mask, len(segments.hypotheses)
        )
        longer = np.maximum(references[:, None, :], hypotheses[None, :, :])
        return longer - unigram_overlap(segments, self.tok, self.case)
