"""BLEU: n-gram precision with a brevity penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.errors import BadParameter
from steelyard.kernels.ngram.ngram_scores import bleu_scores
from steelyard.kernels.ngram.ngrams import ngram_statistics
from steelyard.metrics.metric import Metric
from steelyard.metrics.ngram.word_orders import show_orders, word_orders_parameter
from steelyard.metrics.parameters import (
    alias,
    case_parameter,
    parameter,
    tokenizer_parameter,
)
from steelyard.metrics.score import BLEUScore, Score
from steelyard.metrics.smoothing import EXPONENTIAL, SMOOTHING_ALIAS, Smoothing, parse_smoothing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.kernels.ngram.ngram_scores import BleuScores
    from steelyard.metrics.keywords import BLEUKeywords
    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class BLEU(Metric):
    """Geometric mean of clipped n-gram precisions times a penalty for short output.

    The defaults are sacreBLEU's. The brevity penalty uses word counts, whatever the orders.
    """

    score_type: ClassVar[type[Score]] = BLEUScore
    name: ClassVar[str] = "bleu"
    source: ClassVar[str] = "Papineni et al. 2002, section 2; Kos 2008, section 2.1.1"
    cost: ClassVar[float] = 0.4
    growth: ClassVar[float] = 1.0
    examples: ClassVar[tuple[str, ...]] = (
        "",
        "order=1,2:smooth=none",
        "order=3,1,5:smooth=floor:eff=yes:case=lc:tok=intl",
        "smooth=add-k:tok=thesis",
    )

    case: str = case_parameter()
    eff: bool = parameter(
        False, "leave out the orders for which a text is too short, also on the corpus",
        aliases=[alias("effective_order")],
    )  # fmt: skip
    tok: str = tokenizer_parameter()
    smooth: Smoothing = parameter(
        EXPONENTIAL, "what replaces a precision of zero: none, exp, floor[0.1], add-k[1]",
        parse=parse_smoothing, show=str, aliases=[SMOOTHING_ALIAS], accepts="str | Smoothing",
    )  # fmt: skip
    order: tuple[int, ...] = word_orders_parameter((1, 2, 3, 4), "n-gram orders, such as 1-4 or 3,1,5")

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[BLEUKeywords]) -> None: ...

    @property
    def title(self) -> str:
        """BLEU, with its orders where they are not 1 to 4."""
        return "BLEU" if self.order == (1, 2, 3, 4) else f"BLEU[{show_orders(self.order)}]"

    @property
    def columns(self) -> tuple[str, ...]:
        """Lengths, then clipped matches and n-grams of each order."""
        matches = (f"match_{n}" for n in self.order)
        return ("hyp_len", "ref_len", *matches, *(f"total_{n}" for n in self.order))

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 2 + 2 * orders)."""
        return self._ngrams(segments)

    def _ngrams(self, segments: Segments) -> NDArray[np.float64]:
        """Read-only: it depends on neither smoothing nor eps, so that every BLEU and tBLEU of these words shares it."""

        def count() -> NDArray[np.float64]:
            words = segments.words(self.tok, self.case)
            found = ngram_statistics(words, segments.reference_mask, len(segments.hypotheses), self.order)
            found.flags.writeable = False
            return found

        return segments.cached(("n-grams", self.tok, self.case, self.order), count)

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """0 to 100; 0 without any match."""
        return self._scored(sums, effective=self.eff).scores

    def segment_score(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """As `score`, but over the orders that the segment is long enough for: four words are rare enough."""
        return self._scored(statistics, effective=True).scores

    def details(self, sums: NDArray[np.float64]) -> dict[str, float]:
        """What sacreBLEU shows, too: brevity penalty, words per word of the references, smoothed precisions."""
        _, penalty, precisions = self._scored(sums, effective=self.eff)
        any_match = (sums[2 : 2 + len(self.order)] > 0).any()
        ratio = sums[0] / sums[1] if sums[1] else 0.0
        of_orders = {f"p_{n}": float(p) if any_match else 0.0 for n, p in zip(self.order, precisions, strict=True)}
        return {"BP": float(penalty), "ratio": float(ratio), **of_orders}

    @staticmethod
    def compute_bleu(
        correct: Sequence[float],
        total: Sequence[float],
        sys_len: int,
        ref_len: int,
        smooth_method: str = "none",
        smooth_value: float | None = None,
        effective_order: bool = False,
        max_ngram_order: int = 4,
    ) -> BLEUScore:
        """The score for counts that are known, as sacreBLEU computes it.

        Parameters
        ----------
        correct, total : list of float
            Matched n-grams and all n-grams of the hypotheses, of the orders 1 to `max_ngram_order`.
        sys_len, ref_len : int
            Words of the hypotheses and of the references.
        smooth_method : str
            As of `BLEU`, and so are all that follow.
        smooth_value : float, optional
        effective_order : bool
        max_ngram_order : int

        Returns
        -------
        BLEUScore

        Raises
        ------
        BadParameter
            For another number of counts than orders, and for what `BLEU` does not take.
        """
        metric = BLEU(
            smooth_method=smooth_method,
            smooth_value=smooth_value,
            effective_order=effective_order,
            max_ngram_order=max_ngram_order,
        )
        if not len(correct) == len(total) == max_ngram_order:
            raise BadParameter(
                f"bleu: there are {len(correct)} counts of matches and {len(total)} of n-grams, "
                f"but must be {max_ngram_order} of each: one for each order."
            )
        return BLEUScore(metric, np.array([sys_len, ref_len, *correct, *total], dtype=np.float64), 1)

    def _scored(self, sums: NDArray[np.float64], *, effective: bool) -> BleuScores:
        return bleu_scores(sums, self.order, self.smooth.method, self.smooth.value, effective=effective)
