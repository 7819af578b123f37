"""NIST: matched n-grams weighed by what they say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.fixed_point import on_grid
from steelyard.kernels.nist.ngram_information import ngram_information
from steelyard.metrics.metric import Metric
from steelyard.metrics.ngram.information_weights import NgramInformation
from steelyard.metrics.ngram.word_orders import show_orders, word_orders_parameter
from steelyard.metrics.parameters import case_parameter, tokenizer_parameter
from steelyard.metrics.references import average_length
from steelyard.metrics.references.average_length import average_lengths, summed_length
from steelyard.metrics.references.choice import lengths
from steelyard.numerics import deterministic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.keywords import NISTKeywords
    from steelyard.metrics.segments import Segments

USUAL = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class NIST(Metric):
    """Information of the matched n-grams per n-gram, added over the orders, times a penalty for short output.

    An n-gram that is rare after its context says more than a frequent one; how often each occurs is counted in all
    references of the test set, before any system is scored, and stays the same under resampling.
    """

    name: ClassVar[str] = "nist"
    source: ClassVar[str] = "Doddington 2002, section 4; Kos 2008, section 2.1.2"
    scale: ClassVar[float] = math.inf
    cost: ClassVar[float] = 0.5
    growth: ClassVar[float] = 1.0
    examples: ClassVar[tuple[str, ...]] = ("", "order=1,3:case=lc:tok=intl")

    case: str = case_parameter()
    tok: str = tokenizer_parameter()
    order: tuple[int, ...] = word_orders_parameter(USUAL, "n-gram orders, such as 1-5 or 2,4")

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[NISTKeywords]) -> None: ...

    @property
    def title(self) -> str:
        """NIST, with its orders where they are not 1 to 5."""
        return "NIST" if self.order == USUAL else f"NIST[{show_orders(self.order)}]"

    @property
    def corpus_statistics(self) -> NgramInformation:
        """The information of the references' n-grams; metrics with the same longest order share it."""
        return NgramInformation(self.order[-1], self.tok, self.case)

    @property
    def columns(self) -> tuple[str, ...]:
        """Words; the average reference length in whole words, and its rest in 720,720ths; then by order."""
        information = (f"info_{n}" for n in self.order)
        return ("hyp_len", *average_length.COLUMNS, *information, *(f"total_{n}" for n in self.order))

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 3 + 2 * orders). Raises MissingState without its corpus statistics."""
        state = segments.state(self.corpus_statistics.key)
        words, systems, orders = segments.words(self.tok, self.case), len(segments.hypotheses), len(self.order)
        references, hypotheses = lengths(words, segments.reference_mask, systems)
        known = state.known(words, references.size)
        information = ngram_information(words, segments.reference_mask, systems, known, state.trie, self.order)
        out = np.empty((*hypotheses.shape, 3 + 2 * orders))
        out[..., 0] = hypotheses
        out[..., 1:3] = average_lengths(references, segments.reference_mask)
        out[..., 3 : 3 + orders] = on_grid(information)
        out[..., 3 + orders :] = np.maximum(hypotheses[..., None] - np.array(self.order) + 1, 0)
        return out

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """From 0, without an upper bound; 0 without any match."""
        orders = len(self.order)
        hypothesis, reference = sums[..., 0], summed_length(sums[..., 1:3])
        information, total = sums[..., 3 : 3 + orders], sums[..., 3 + orders :]
        each = information / np.where(total > 0, total, 1.0)
        return _brevity_penalty(hypothesis, reference) * deterministic.total(each)


def _brevity_penalty(hypothesis: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 for texts that are long enough, 1/2 for those of two thirds of the length."""
    short = (hypothesis < reference) & (hypothesis > 0)
    logs = deterministic.log(np.where(short, hypothesis, 1.0) / np.where(short, reference, 1.0))
    half, of_two_thirds = deterministic.log(np.array([0.5, 1.5]))
    return deterministic.exp(half / (of_two_thirds * of_two_thirds) * (logs * logs))
