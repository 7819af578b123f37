"""F-measure: harmonic mean of the precision and recall of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.errors import BadParameter
from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import case_parameter, number_to, parameter, show_number, tokenizer_parameter
from steelyard.metrics.references.choice import least, lengths
from steelyard.metrics.references.unigram_overlap import unigram_overlap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.keywords import FMeasureKeywords
    from steelyard.metrics.segments import Segments

weight = number_to(1_000_000)


@dataclass(frozen=True)
class FMeasure(Metric):
    """Words in common, whatever their order: the weighted harmonic mean of precision and recall.

    Of several references the one with the most words in common counts, the shorter on ties.
    """

    name: ClassVar[str] = "fmeasure"
    source: ClassVar[str] = "Melamed, Green and Turian 2003; Kos 2008, section 2.2.1"
    cost: ClassVar[float] = 0.3
    growth: ClassVar[float] = 1.0
    examples: ClassVar[tuple[str, ...]] = ("", "p=1:r=3:case=lc:tok=none", "r=0")

    case: str = case_parameter()
    tok: str = tokenizer_parameter()
    p: float = parameter(1.0, "weight of precision", parse=weight, show=show_number, ours=True)
    r: float = parameter(1.0, "weight of recall", parse=weight, show=show_number, ours=True)

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[FMeasureKeywords]) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.p + self.r:
            raise BadParameter("fmeasure: p and r are both 0; one of them must be larger.")

    @property
    def title(self) -> str:
        """F-measure."""
        return "F-measure"

    @property
    def columns(self) -> tuple[str, ...]:
        """Words in common, and the lengths of hypothesis and reference."""
        return ("match", "hyp_len", "ref_len")

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 3)."""
        words, systems = segments.words(self.tok, self.case), len(segments.hypotheses)
        references, hypotheses = lengths(words, segments.reference_mask, systems)
        overlaps = unigram_overlap(segments, self.tok, self.case)
        missed, reference = least(-overlaps, references, segments.reference_mask)
        return np.stack((-missed, hypotheses, reference), axis=-1).astype(np.float64)

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """0 to 100; 0 without a common word."""
        match, hypothesis, reference = sums[..., 0], sums[..., 1], sums[..., 2]
        # (p + r) / (p / precision + r / recall), multiplied out: one division, and none by 0.
        below = self.p * hypothesis + self.r * reference
        return np.where(match > 0, 100.0 * ((self.p + self.r) * match / np.where(match > 0, below, 1.0)), 0.0)
