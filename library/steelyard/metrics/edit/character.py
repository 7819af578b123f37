"""CharacTER: translation edit rate on characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from steelyard.fixed_point import on_grid
from steelyard.kernels.edit.character import character_rates
from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import case_parameter, tokenizer_parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.batch import Batch


@dataclass(frozen=True)
class CharacTER(Metric):
    """Characters to edit after blocks of equal words have moved, per character of the hypothesis.

    The corpus score is the mean of the segment scores, each of which is at most 100. Of several references the one
    with the lowest segment score counts.
    """

    name: ClassVar[str] = "character"
    source: ClassVar[str] = "Wang, Peter, Rosendahl and Ney 2016"
    higher_is_better: ClassVar[bool] = False
    cost: ClassVar[float] = 2.0
    growth: ClassVar[float] = 3.0
    examples: ClassVar[tuple[str, ...]] = ("", "tok=13a:case=lc")

    case: str = case_parameter()
    tok: str = tokenizer_parameter("none")

    @property
    def title(self) -> str:
        """CharacTER."""
        return "CharacTER"

    @property
    def columns(self) -> tuple[str, ...]:
        """The segment's rate, 0 to 1, rounded to a multiple of 2^-24; and 1 for the segment."""
        return ("score", "segments")

    def segment_statistics(self, batch: Batch) -> NDArray[np.float64]:
        """(systems, segments, 2)."""
        rates = character_rates(batch.words(self.tok, self.case), batch.present, len(batch.systems))
        return np.stack([on_grid(rates), np.ones_like(rates)], axis=-1)

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of the segments' rates times 100: 0 for a perfect text. NaN without segments."""
        segments = sums[..., 1]
        return 100.0 * np.where(segments > 0, sums[..., 0] / np.maximum(segments, 1.0), np.nan)
