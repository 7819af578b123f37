"""chrF and chrF++: F-score of character n-grams, and of word n-grams on top."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

from steelyard.errors import BadParameter
from steelyard.kernels.chrf.chrf import chrf_statistics
from steelyard.kernels.chrf.shared_ngrams import LARGEST_ORDER, character_ngrams, word_ngrams
from steelyard.kernels.ngram.ngram_scores import chrf_scores
from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import (
    alias,
    case_parameter,
    number_to,
    one_of,
    parameter,
    show_number,
    whole_number_to,
)
from steelyard.metrics.score import ChrFScore, Score

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from steelyard.kernels.chrf.shared_ngrams import SharedNgrams
    from steelyard.metrics.keywords import ChrFKeywords
    from steelyard.metrics.segments import Segments

order = whole_number_to(LARGEST_ORDER)


def each_order(nc: int, nw: int) -> list[str]:
    """The names of all orders.

    Parameters
    ----------
    nc : int
        The largest order of character n-grams.
    nw : int
        Of word n-grams.

    Returns
    -------
    list of str
        char_1 to char_nc, then word_1 to word_nw.
    """
    return [f"char_{n}" for n in range(1, nc + 1)] + [f"word_{n}" for n in range(1, nw + 1)]


@dataclass(frozen=True)
class ChrF(Metric):
    """F-score over the average precision and recall of character n-grams; with word n-grams it is chrF++.

    The defaults are sacreBLEU's: white space does not count as a character, and orders that hypothesis or reference is
    too short for are left out of the averages.
    """

    score_type: ClassVar[type[Score]] = ChrFScore
    name: ClassVar[str] = "chrf"
    source: ClassVar[str] = "Popovic 2015, section 2; Popovic 2017, section 2"
    cost: ClassVar[float] = 0.6
    growth: ClassVar[float] = 1.0
    examples: ClassVar[tuple[str, ...]] = ("", "nw=2", "nc=3:nw=1:beta=1:case=lc", "nw=2:eff=no:space=yes")

    case: str = case_parameter()
    eff: bool = parameter(
        True, "leave out the orders for which a text is too short; no: epsilon smoothing, as in chrF++.py",
        aliases=[one_of("eps_smoothing", "no", "yes")],
    )  # fmt: skip
    nc: int = parameter(6, "largest order of character n-grams", parse=order, aliases=[alias("char_order")])
    nw: int = parameter(
        0, "largest order of word n-grams; 2 makes it chrF++", parse=order, aliases=[alias("word_order")]
    )
    space: bool = parameter(False, "count white space as characters", aliases=[alias("whitespace")])
    beta: float = parameter(
        2.0, "how many times more recall weighs than precision", parse=number_to(1000), show=show_number, ours=True
    )

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[ChrFKeywords]) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.nc + self.nw:
            raise BadParameter("chrf: nc and nw are both 0; one of them must be larger.")

    @classmethod
    def from_signature(cls, title: str, fields: Mapping[str, str]) -> Self:
        """SacreBLEU says beta in the name alone, and its first releases word orders, too."""
        said = re.fullmatch(r"chrf([\d.]+)(\+*)", title, re.IGNORECASE)
        by_name = {"beta": said[1], "nw": str(len(said[2]))} if said else {}
        return super().from_signature(title, {**by_name, **fields})

    @property
    def title(self) -> str:
        """ChrF2, chrF2++ and so on: the number is beta, each + a word order."""
        return f"chrF{show_number(self.beta)}{'+' * self.nw}"

    @property
    def columns(self) -> tuple[str, ...]:
        """N-grams of hypothesis and reference and common ones, order by order."""
        orders = each_order(self.nc, self.nw)
        return tuple(f"{side}_{order}" for order in orders for side in ("hyp", "ref", "match"))

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 3 * (nc + nw))."""
        present, systems = segments.reference_mask, len(segments.hypotheses)
        characters, words = self._characters(segments), self._words(segments)
        return chrf_statistics(characters, words, present, systems, self.beta, effective=self.eff)

    def _characters(self, segments: Segments) -> SharedNgrams | None:
        """They depend on neither words nor formula: chrF and chrF++ share them."""

        def count() -> SharedNgrams:
            text, systems = segments.cased(self.case), len(segments.hypotheses)
            return character_ngrams(text, segments.reference_mask, systems, self.nc, white_space=self.space)

        return segments.cached(("shared characters", self.case, self.nc, self.space), count) if self.nc else None

    def _words(self, segments: Segments) -> SharedNgrams | None:
        def count() -> SharedNgrams:
            return word_ngrams(
                segments.words("none", self.case), segments.reference_mask, len(segments.hypotheses), self.nw
            )

        return segments.cached(("shared words", self.case, self.nw), count) if self.nw else None

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """0 to 100; 0 without any match.

        Terms are added in the order of the columns: other orders give other last digits.
        """
        return chrf_scores(sums, self.beta * self.beta, effective=self.eff)


CHRF = ChrF
"""As sacreBLEU calls it."""
