"""GTM: general text matcher, which rewards long runs of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.fixed_point import on_grid
from steelyard.kernels.alignment.gtm import gtm_runs, taken_runs
from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import case_parameter, number_to, parameter, show_number, tokenizer_parameter
from steelyard.metrics.references import average_length
from steelyard.metrics.references.average_length import average_lengths, summed_length
from steelyard.metrics.references.choice import lengths
from steelyard.numerics.deterministic import power

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.keywords import GTMKeywords
    from steelyard.metrics.segments import Segments

LARGEST_EXPONENT = 32
"""Beyond it the sum of the powers of the longest runs could overflow."""


def exponent(text: str) -> float:
    """A number from 1 to LARGEST_EXPONENT.

    Parameters
    ----------
    text : str

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For anything else.
    """
    value = number_to(LARGEST_EXPONENT)(text)
    if value < 1:
        raise ValueError(f"is a number from 1 to {LARGEST_EXPONENT}")
    return value


@dataclass(frozen=True, slots=True)
class Run:
    """Words that a hypothesis and a reference have one after the other; places count from 0."""

    size: float
    """How many words count: all of them, but for a last run that is cut to what is left, perhaps within a word."""
    place: int
    """Of the first word in the hypothesis."""
    reference: int
    """Position of the reference."""
    reference_place: int
    """Of the first word in that reference."""
    words: tuple[str, ...]
    """As they were compared: tokens, lowercased where the metric does that."""


@dataclass(frozen=True)
class GTM(Metric):
    """Words in common, counted in runs: with an exponent above 1 a long run is worth more than its words apart.

    Runs are taken greedily, the longest first, from all references at once, until as many words are matched as
    the hypothesis has or the average reference.
    """

    name: ClassVar[str] = "gtm"
    source: ClassVar[str] = "Turian, Shen and Melamed 2003; Kos 2008, section 2.2.3"
    cost: ClassVar[float] = 0.6
    examples: ClassVar[tuple[str, ...]] = ("", "e=2", "e=1.5:case=lc:tok=char")

    case: str = case_parameter()
    tok: str = tokenizer_parameter()
    e: float = parameter(1.0, "exponent of the lengths of runs, 1 to 32", parse=exponent, show=show_number, ours=True)

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[GTMKeywords]) -> None: ...

    @property
    def title(self) -> str:
        """GTM, with its exponent where that is not 1."""
        return "GTM" if self.e == 1 else f"GTM[e={show_number(self.e)}]"

    @property
    def columns(self) -> tuple[str, ...]:
        """Size of the match; words; the average reference length in whole words, and its rest in 720,720ths."""
        return ("size", "hyp_len", *average_length.COLUMNS)

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 4)."""
        words, systems = segments.words(self.tok, self.case), len(segments.hypotheses)
        references, hypotheses = lengths(words, segments.reference_mask, systems)
        totals, rests = gtm_runs(words, segments.reference_mask, systems, self.e)
        out = np.empty((*hypotheses.shape, 4))
        out[..., 0] = on_grid(self._sizes(totals, rests / segments.reference_mask.sum(axis=0)))
        out[..., 1] = hypotheses
        out[..., 2:] = average_lengths(references, segments.reference_mask)
        return out

    def runs(self, segments: Segments) -> list[list[list[Run]]]:
        """The runs of common words that `segment_statistics` counts (Turian et al. 2003).

        The sum of size ** e in this order, to the power of 1 / e, is the statistic `size` before it is rounded.

        Parameters
        ----------
        segments : Segments

        Returns
        -------
        list of list of list of Run
            By system and segment, in the order in which they are taken.
        """
        words, present, systems = segments.words(self.tok, self.case), segments.reference_mask, len(segments.hypotheses)
        taken, counts, rests = taken_runs(words, present, systems)
        system, segment = (np.repeat(axis.ravel(), counts.ravel()) for axis in np.indices(counts.shape))
        sizes = taken[:, 0].astype(np.float64)
        cut = (counts > 0) & (rests > 0)
        sizes[(np.cumsum(counts.ravel()) - 1)[cut.ravel()]] = (rests / present.sum(axis=0))[cut]
        # Where the references that a segment has begin, as `taken_runs` puts one after the other.
        room = (words.lengths[: present.size].reshape(present.shape) + 1) * present
        begins = np.where(present, np.cumsum(room, axis=0) - room + 1, np.iinfo(np.int64).max)[:, segment]
        reference = np.where(begins <= taken[:, 2], begins, -1).argmax(axis=0)
        place_there = taken[:, 2] - begins[reference, np.arange(len(taken))]
        first = words.starts[present.size + system * len(segments) + segment] + taken[:, 1]

        tokens = words.lines.decode().split("\n")
        runs: list[list[list[Run]]] = [[[] for _ in range(len(segments))] for _ in range(systems)]
        columns = (system, segment, first, taken[:, 0], sizes, taken[:, 1], reference, place_there)
        for s, i, begin, length, size, here, text, there in zip(*(each.tolist() for each in columns), strict=True):
            found = tuple(tokens[token] for token in words.ids[begin : begin + length])
            runs[s][i].append(Run(size, here, text, there, found))
        return runs

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """0 to 100; 0 without a common word."""
        size, hypothesis, reference = sums[..., 0], sums[..., 1], summed_length(sums[..., 2:])
        # The harmonic mean of size / hypothesis and size / reference, multiplied out.
        below = np.where(size > 0, hypothesis + reference, 1.0)
        return np.where(size > 0, 100.0 * (2.0 * size / below), 0.0)

    def _sizes(self, totals: NDArray[np.float64], rests: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.e == 1:
            return totals + rests
        return power(totals + power(rests, self.e), 1.0 / self.e)
