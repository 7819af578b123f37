"""LeBLEU: n-grams that match as far as their letters do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.kernels.edit.lebleu import LARGEST_ORDER, lebleu_statistics
from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import (
    alias,
    case_parameter,
    number_to,
    parameter,
    show_number,
    tokenizer_parameter,
    whole_number_to,
)
from steelyard.numerics.deterministic import exp, total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.keywords import LeBLEUKeywords
    from steelyard.metrics.segments import Segments


def largest_order(text: str) -> int:
    """The longest n-grams.

    Parameters
    ----------
    text : str
        A number from 1 to LARGEST_ORDER.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        For anything else.
    """
    order = whole_number_to(LARGEST_ORDER)(text)
    if not order:
        raise ValueError(f"is a whole number from 1 to {LARGEST_ORDER}")
    return order


@dataclass(frozen=True)
class LeBLEU(Metric):
    """Precision of n-grams that count their similarity, by edits of characters, to n-grams of the reference.

    Those of the reference may have up to twice as many words, so that compounds match words written apart. The mean
    of the orders' precisions is lowered for outputs shorter than the reference. Of several references each distinct
    n-gram takes the one that serves it best, and the length closest to the output's counts.
    """

    name: ClassVar[str] = "lebleu"
    source: ClassVar[str] = "Virpioja and Grönroos 2015"
    cost: ClassVar[float] = 17.5
    growth: ClassVar[float] = 2.0
    examples: ClassVar[tuple[str, ...]] = ("", "order=2:threshold=0.6:case=lc", "order=5:tok=13a")

    case: str = case_parameter()
    tok: str = tokenizer_parameter("none")
    order: int = parameter(
        4, f"longest n-grams of the output, in words, 1 to {LARGEST_ORDER}", parse=largest_order, ours=True,
        aliases=[alias("max_ngram_order")],
    )  # fmt: skip
    threshold: float = parameter(
        0.4, "least similarity that counts, 0 to 1", parse=number_to(1), show=show_number, ours=True
    )

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[LeBLEUKeywords]) -> None: ...

    @property
    def title(self) -> str:
        """LeBLEU, with the parameters that are not the usual ones."""
        order = "" if self.order == 4 else f"[order={self.order}]"
        return "LeBLEU" + order + ("" if self.threshold == 0.4 else f"[threshold={show_number(self.threshold)}]")

    @property
    def columns(self) -> tuple[str, ...]:
        """Similarities and n-grams of each order; characters of both sides."""
        orders = range(1, self.order + 1)
        return (*(f"hits_{n}" for n in orders), *(f"total_{n}" for n in orders), "hyp_chars", "ref_chars")

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 2 * order + 2)."""
        words = segments.words(self.tok, self.case)
        return lebleu_statistics(words, segments.reference_mask, len(segments.hypotheses), self.order, self.threshold)

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """100 for a perfect text, 0 for an empty output. NaN where output and reference are empty."""
        hits, totals = sums[..., : self.order], sums[..., self.order : 2 * self.order]
        own, theirs = sums[..., -2], sums[..., -1]
        precision, defined = total(hits / np.maximum(totals, 1.0)), (totals > 0).sum(axis=-1)
        # The penalty of an output without characters is the limit, 0.
        penalty = np.where(own > 0, exp(np.minimum(1.0 - theirs / np.maximum(own, 1.0), 0.0)), 0.0)
        score = 100.0 * precision / np.maximum(defined, 1) * penalty
        return np.where((own > 0) | (theirs > 0), score, np.nan)
