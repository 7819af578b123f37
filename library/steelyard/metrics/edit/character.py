"""CharacTER: translation edit rate on characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.kernels.edit.character import character_rates
from steelyard.metrics.parameters import case_parameter, tokenizer_parameter
from steelyard.metrics.segment_metric import SegmentMetric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.keywords import CharacTERKeywords
    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class CharacTER(SegmentMetric):
    """Characters to edit after blocks of equal words have moved, per character of the hypothesis.

    The corpus score is the mean of the segment scores, each of which is at most 100. Of several references the one
    with the lowest segment score counts.
    """

    name: ClassVar[str] = "character"
    source: ClassVar[str] = "Wang, Peter, Rosendahl and Ney 2016"
    higher_is_better: ClassVar[bool] = False
    factor: ClassVar[float] = 100.0
    cost: ClassVar[float] = 2.0
    growth: ClassVar[float] = 3.0
    examples: ClassVar[tuple[str, ...]] = ("", "tok=13a:case=lc")

    case: str = case_parameter()
    tok: str = tokenizer_parameter("none")

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[CharacTERKeywords]) -> None: ...

    @property
    def title(self) -> str:
        """CharacTER."""
        return "CharacTER"

    def score_segments(self, segments: Segments) -> NDArray[np.float64]:
        """Rates from 0 for a perfect segment to 1: (systems, segments)."""
        return character_rates(segments.words(self.tok, self.case), segments.reference_mask, len(segments.hypotheses))
