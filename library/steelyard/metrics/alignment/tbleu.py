"""tBLEU: BLEU that forgives small differences at the ends of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.kernels.alignment.alignments import alignments
from steelyard.kernels.alignment.weighted_ngrams import FULL, weighted_ngrams
from steelyard.metrics.ngram.bleu import BLEU
from steelyard.metrics.parameters import number_to, parameter, show_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.alignment.alignments import Alignments
    from steelyard.metrics.keywords import TBLEUKeywords
    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class TBLEU(BLEU):
    """BLEU after correcting words that resemble the reference word they stand for; such words weigh less.

    Words are paired one to one by affix distance. One that is at most `eps` away becomes the reference's word with
    the weight 1 - distance, and an n-gram counts the mean weight of its words. With eps=0 it is BLEU.
    """

    name: ClassVar[str] = "tbleu"
    source: ClassVar[str] = "Libovický and Pecina 2014"
    cost: ClassVar[float] = 4.5
    growth: ClassVar[float] = 2.0
    examples: ClassVar[tuple[str, ...]] = (
        "",
        "order=1,2:eps=1",
        "order=3,1,5:smooth=none:eff=yes:case=lc:tok=intl:eps=0.5",
    )

    eps: float = parameter(
        0.05, "largest affix distance that is corrected, 0 to 1", parse=number_to(1), show=show_number, ours=True
    )

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[TBLEUKeywords]) -> None: ...

    @property
    def title(self) -> str:
        """The name, with orders and eps where they are not the usual ones."""
        eps = "" if self.eps == 0.05 else f"[eps={show_number(self.eps)}]"
        return super().title.replace("BLEU", "tBLEU") + eps

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 2 + 2 * orders)."""
        words, systems = segments.words(self.tok, self.case), len(segments.hypotheses)
        statistics = self._ngrams(segments).copy()
        pairs = self._alignments(segments)
        own = words.ids[words.starts[segments.reference_mask.size] :]
        corrects = pairs.distances <= self.eps
        # A pair of words with nothing in common may be corrected at eps=1; a word without a partner never is.
        corrects &= pairs.words >= 0
        corrected = np.where(corrects, pairs.words, own)
        weights = np.where(corrects, np.rint((1.0 - pairs.distances) * FULL).astype(np.int64), FULL)
        credit = weighted_ngrams(words, segments.reference_mask, systems, corrected, weights, self.order)
        # Whole numbers until here: the mean over the words of an n-gram is rounded once per segment.
        orders = np.array(self.order)
        statistics[..., 2 : 2 + len(orders)] = (2 * credit + orders) // (2 * orders) / FULL
        return statistics

    def _alignments(self, segments: Segments) -> Alignments:
        # They do not depend on eps, so that a sweep of it aligns words once.
        return segments.cached(
            ("alignments", self.tok, self.case),
            lambda: alignments(segments.words(self.tok, self.case), segments.reference_mask, len(segments.hypotheses)),
        )
