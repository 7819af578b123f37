"""RIBES: rank correlation of the order of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np

from steelyard.metrics.parameters import case_parameter, number_to, parameter, show_number, tokenizer_parameter
from steelyard.metrics.segment_metric import SegmentMetric
from steelyard.numerics.deterministic import exp, power

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words
    from steelyard.metrics.keywords import RIBESKeywords
    from steelyard.metrics.segments import Segments

    Indexes = NDArray[np.int64]
    Flags = NDArray[np.bool_]

NONE = np.iinfo(np.int64).max
"""The length of a context that is never unique."""


@dataclass(frozen=True)
class RIBES(SegmentMetric):
    """Kendall's tau of the words that both sides have, made a share, times powers of precision and brevity penalty.

    The corpus score is the mean of the segment scores. Of several references the one with the highest score counts.
    """

    name: ClassVar[str] = "ribes"
    source: ClassVar[str] = "Isozaki, Hirao, Duh, Sudoh and Tsukada 2010"
    factor: ClassVar[float] = 100.0
    cost: ClassVar[float] = 40.0
    growth: ClassVar[float] = 1.5
    examples: ClassVar[tuple[str, ...]] = ("", "alpha=0.5:beta=0:tok=none:case=lc")

    alpha: float = parameter(0.25, "exponent of the precision", parse=number_to(100), show=show_number, ours=True)
    beta: float = parameter(0.1, "exponent of the brevity penalty", parse=number_to(100), show=show_number, ours=True)
    case: str = case_parameter()
    tok: str = tokenizer_parameter()

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[RIBESKeywords]) -> None: ...

    @property
    def title(self) -> str:
        """RIBES."""
        return "RIBES"

    def score_segments(self, segments: Segments) -> NDArray[np.float64]:
        """Scores from 0 to 1: (systems, segments)."""
        words, mask, references = segments.words(self.tok, self.case), segments.reference_mask, len(segments.references)
        best = np.zeros((len(segments.hypotheses), len(segments)))
        for system, scores in enumerate(best):
            for reference in range(references):
                found = self._scores(words, references + system, reference, len(segments))
                np.maximum(scores, np.where(mask[reference], found, 0.0), out=scores)
        return best

    def _scores(self, words: Words, hypothesis: int, reference: int, segments: int) -> NDArray[np.float64]:
        """Of one text against another: (segments,)."""
        pairs = [_rows(words, text, segments) for text in (hypothesis, reference)]
        (_, ours), (_, theirs) = ((begins, ends - begins) for begins, ends in pairs)
        row, place = aligned_words(words.ids, *pairs)
        aligned = np.bincount(row, minlength=segments)
        ascending = _ascending_pairs(row, place, segments)
        every = np.maximum(aligned * (aligned - 1) // 2, 1)
        # A single word has no order; it is right where the reference is no more than that.
        order = np.where(aligned > 1, ascending / every, (aligned == 1) & (theirs == 1))
        there = np.maximum(ours, 1)
        brevity = exp(self.beta * np.minimum(0.0, 1.0 - theirs / there))
        return np.asarray(order * power(aligned / there, self.alpha) * brevity)


def _rows(words: Words, text: int, segments: int) -> tuple[Indexes, Indexes]:
    """Where the segments of a text begin and end among the words."""
    starts = words.starts[text * segments : (text + 1) * segments + 1]
    return starts[:-1], starts[1:]


def aligned_words(
    ids: NDArray[np.int32], hypotheses: tuple[Indexes, Indexes], references: tuple[Indexes, Indexes]
) -> tuple[Indexes, Indexes]:
    """The words of hypotheses that stand for one word of their references, in order (Isozaki et al. 2010).

    A word is aligned where it occurs once in both; else with the fewest words before it, or behind it, with which it
    does; what stands before comes first.

    Parameters
    ----------
    ids : (words,) int32
        All texts.
    hypotheses : (begins, ends)
        Rows in `ids`.
    references : (begins, ends)
        Of the same segments.

    Returns
    -------
    row, place : (aligned,) int64
        The segment of each, and its place in the reference.
    """
    length, place, row = _Contexts(ids, hypotheses, references, backwards=True).unique()
    length_behind, place_behind, _ = _Contexts(ids, hypotheses, references, backwards=False).unique()
    place = np.where(length <= length_behind, place, place_behind)
    found = np.minimum(length, length_behind) < NONE
    return row[found], place[found]


class _Contexts:
    """For each word how many words from it on, or backwards from it, occur once in hypothesis and reference.

    Equal runs of words are found as in a suffix array: ranks of all runs of 1, 2, 4 ... words tell how long two of them
    are alike, and of all runs the most alike stand beside each other when they are sorted. The time is that of sorting.
    """

    def __init__(
        self,
        ids: NDArray[np.int32],
        hypotheses: tuple[Indexes, Indexes],
        references: tuple[Indexes, Indexes],
        *,
        backwards: bool,
    ) -> None:
        # Hypothesis and reference of the first row, of the second, and so on.
        begins = np.stack([hypotheses[0], references[0]], axis=1).ravel()
        lengths = np.stack([hypotheses[1], references[1]], axis=1).ravel() - begins
        text = np.repeat(np.arange(len(lengths)), lengths)
        self.end = np.repeat(np.cumsum(lengths), lengths)
        offset = np.arange(len(text)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        self.place = np.repeat(lengths, lengths) - 1 - offset if backwards else offset
        self.word = ids[begins[text] + self.place].astype(np.int64)
        self.row, self.is_reference = text // 2, text % 2 == 1

    def unique(self) -> tuple[Indexes, Indexes, Indexes]:
        """For each word of the hypotheses, in order: how many words are needed, place in the reference, and row.

        NONE where no number of words will do.
        """
        order = np.lexsort((self.ranks[-1], self.row))
        reference_before = np.cumsum(self.is_reference[order])
        of_hypothesis = ~self.is_reference[order]
        here, before = order[of_hypothesis], reference_before[of_hypothesis]
        # A run occurs once here if it is longer than what it shares with its neighbours.
        beside = np.pad(self._alike(here[1:], here[:-1]), 1)
        own = np.maximum(beside[1:], beside[:-1])
        there = order[self.is_reference[order]]
        alike = np.zeros((4, len(here)), np.int64)
        candidates = np.zeros((4, len(here)), np.int64)
        for number, step in enumerate((-2, -1, 0, 1)):
            at = before + step
            inside = np.flatnonzero((at >= 0) & (at < len(there)))
            candidates[number, inside] = there[at[inside]]
            alike[number, inside] = self._alike(here[inside], there[at[inside]])
        most = np.argmax(alike, axis=0)
        columns = np.arange(len(here))
        longest, second = alike[most, columns], np.sort(alike, axis=0)[-2]
        needed = np.maximum(own, second) + 1
        length = np.where(needed <= longest, needed, NONE)
        place = self.place[candidates[most, columns]] if len(there) else np.zeros(len(here), np.int64)
        back = np.lexsort((self.place[here], self.row[here]))
        return length[back], place[back], self.row[here][back]

    @cached_property
    def ranks(self) -> list[Indexes]:
        """By power of two: equal numbers for equal runs of so many words, which the end of the text may cut off."""
        ranks = [self.word + 1]
        distinct, at = -1, np.arange(len(self.word))
        while len(self.word):
            behind = at + (1 << (len(ranks) - 1))
            follows = np.where(behind < self.end, ranks[-1][np.minimum(behind, len(at) - 1)], 0)
            numbers, rank = np.unique(ranks[-1] * (len(at) + self.word.max() + 2) + follows, return_inverse=True)
            if len(numbers) == distinct:
                break
            distinct = len(numbers)
            ranks.append(rank.astype(np.int64) + 1)
        return ranks

    def _alike(self, one: Indexes, other: Indexes) -> Indexes:
        """How many words two runs share from their first on; 0 for those of different rows."""
        left = np.minimum(self.end[one] - one, self.end[other] - other)
        equal = self.ranks[-1][one] == self.ranks[-1][other]
        shared = np.zeros(len(one), np.int64)
        for level in reversed(range(len(self.ranks))):
            more = shared < left
            at, beside = (np.minimum(each + shared, len(self.end) - 1) for each in (one, other))
            shared += (more & (self.ranks[level][at] == self.ranks[level][beside])).astype(np.int64) << level
        return np.where(self.row[one] == self.row[other], np.where(equal, left, np.minimum(shared, left)), 0)


def _ascending_pairs(row: Indexes, place: Indexes, rows: int) -> Indexes:
    """How many pairs of places of a row grow from the first to the second: (rows,).

    Two numbers differ first at some bit: bit by bit, from the top, zeros before ones are counted among those whose
    higher bits are the same.
    """
    found = np.zeros(rows, np.int64)
    for bit in range(int(place.max(initial=0)).bit_length()):
        order = np.lexsort((place >> (bit + 1), row))
        own, higher = row[order], place[order] >> (bit + 1)
        one = (place[order] >> bit) & 1
        zeros = np.cumsum(1 - one)
        first = np.flatnonzero(np.r_[True, (own[1:] != own[:-1]) | (higher[1:] != higher[:-1])])
        before = np.repeat(zeros[first] - (1 - one[first]), np.diff(np.r_[first, len(order)]))
        np.add.at(found, own, one * (zeros - before))
    return found
