"""The n-grams that one output gets right and another misses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from steelyard.metrics.segments import Segments

    Integers = NDArray[np.int64]

ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class NgramDifference:
    """How often two outputs have an n-gram that a reference has, clipped segment by segment as BLEU clips."""

    ngram: tuple[str, ...]
    first: int
    second: int
    references: int
    """How often they could: the greatest count in one reference of each segment, added up."""


Lists = dict[int, tuple[list[NgramDifference], list[NgramDifference]]]
"""By order: what the first of two systems gets right more often than the second, and the reverse."""


@dataclass(frozen=True)
class _Ngrams:
    """The n-grams of one order that are in references."""

    order: int
    tokens: Integers
    """(n-grams, order): their words."""
    possible: Integers
    """(n-grams,): the greatest count in one reference of each segment, added up."""
    matched: Integers
    """(systems, n-grams): clipped matches."""


def ngram_differences(
    segments: Segments, pairs: Sequence[tuple[int, int]], *, tokenizer: str = "13a", case: str = "mixed", most: int = 10
) -> list[Lists]:
    """The n-grams that one system gets right more often than another.

    Parameters
    ----------
    segments : Segments
        The outputs of the systems, beside their references.
    pairs : sequence of (int, int)
        Positions of the systems to compare.
    tokenizer, case : str
        As BLEU's parameters `tok` and `case`.
    most : int
        How many n-grams of each order to give for each system.

    Returns
    -------
    list of Lists
        For each pair, by order, what the first gets right more often, and the reverse: the largest differences first,
        equal ones with the rarer n-gram in the references first, then in the order of their words.
    """
    names = segments.words(tokenizer, case).lines.decode().split("\n")
    systems = sorted({system for pair in pairs for system in pair})
    found: list[Lists] = [{} for _ in pairs]
    for ngrams in _matches(segments, systems, tokenizer, case):
        for (first, second), lists in zip(pairs, found, strict=True):
            one, other = (ngrams.matched[systems.index(system)] for system in (first, second))
            amounts = one, other, ngrams.possible
            lists[ngrams.order] = (
                _best(ngrams.tokens, names, amounts, one - other, most),
                _best(ngrams.tokens, names, amounts, other - one, most),
            )
    return found


def matched_ngrams(segments: Segments, system: int, *, tokenizer: str = "13a", case: str = "mixed") -> dict[int, int]:
    """How many n-grams of each order a system gets right: the sums of BLEU's matches.

    Parameters
    ----------
    segments : Segments
    system : int
        A position.
    tokenizer, case : str
        As BLEU's parameters `tok` and `case`.

    Returns
    -------
    dict of int to int
    """
    return {each.order: int(each.matched.sum()) for each in _matches(segments, [system], tokenizer, case)}


def _best(
    tokens: Integers, names: Sequence[str], amounts: tuple[Integers, Integers, Integers], gains: Integers, most: int
) -> list[NgramDifference]:
    """Those with the largest gains."""
    one, other, possible = amounts
    # Of equal gains the rarer one: in one number, since there are thousands of those that one system has once more.
    worth = gains * (int(possible.max(initial=0)) + 1) - possible
    better = _largest(worth, np.flatnonzero(gains > 0), most)
    ranked = sorted(
        zip(
            (-gains[better]).tolist(),
            possible[better].tolist(),
            [tuple(map(names.__getitem__, words)) for words in tokens[better].tolist()],
            better.tolist(),
            strict=True,
        )
    )
    return [NgramDifference(ngram, int(one[at]), int(other[at]), rarity) for _, rarity, ngram, at in ranked[:most]]


def _largest(worth: Integers, better: Integers, most: int) -> Integers:
    """Those among `better` that can be among the first `most`, with all that equal the last."""
    if len(better) <= most:
        return better
    least = np.partition(worth[better], -most)[-most]
    kept: Integers = better[worth[better] >= least]
    return kept


def _matches(segments: Segments, systems: Sequence[int], tokenizer: str, case: str) -> Iterator[_Ngrams]:
    """For each order the n-grams of the references, and how often these systems match them.

    An n-gram can only match where the shorter ones at its place do: the others are dropped from order to order.
    """
    words, references = segments.words(tokenizer, case), len(segments.references)
    texts, types = references + len(systems), max(words.types, 1)
    present = np.ones((texts, len(segments)), np.bool_)
    present[:references] = segments.reference_mask > 0
    chosen = [*range(references), *(references + system for system in systems)]
    rows = (np.array(chosen)[:, None] * len(segments) + np.arange(len(segments))).ravel()
    lengths = words.lengths[rows] * present.ravel()
    # The tokens of the chosen texts, one after the other, each with its text and segment.
    row_of = np.repeat(np.arange(len(rows)), lengths)
    within = np.arange(len(row_of)) - (np.cumsum(lengths) - lengths)[row_of]
    tokens = words.ids[words.starts[rows][row_of] + within].astype(np.int64)
    left = lengths[row_of] - within
    text_of, segment_of = np.divmod(row_of, len(segments))
    # Where n-grams that are in references begin; a cell is an n-gram in a segment.
    begins, of_cell, content = np.arange(len(tokens)), segment_of, np.empty((1, 0), np.int64)
    gram_of_cell = np.zeros(len(segments), np.int64)
    for order in ORDERS:
        distinct, cell = np.unique(of_cell * types + tokens[begins + order - 1], return_inverse=True)
        counts = np.bincount(cell * texts + text_of[begins], minlength=len(distinct) * texts).reshape(-1, texts)
        greatest = counts[:, :references].max(axis=1, initial=0)
        there = np.flatnonzero(greatest)
        grams, gram_of = np.unique(
            gram_of_cell[distinct[there] // types] * types + distinct[there] % types, return_inverse=True
        )
        content = np.column_stack([content[grams // types], grams % types])
        clipped = np.minimum(counts[there, references:], greatest[there, None])
        weighed = [np.bincount(gram_of, each, minlength=len(grams)) for each in (greatest[there], *clipped.T)]
        possible, *matched = (each.astype(np.int64) for each in weighed)
        yield _Ngrams(order, content, possible, np.array(matched))
        # One word longer, where both of its parts are in a reference of the segment.
        alive = np.zeros(len(tokens) + 1, np.bool_)
        alive[begins] = greatest[cell] > 0
        kept = np.flatnonzero(alive[begins] & alive[begins + 1] & (left[begins] > order))
        number = np.cumsum(greatest > 0) - 1
        begins, of_cell, gram_of_cell = begins[kept], number[cell[kept]], gram_of
