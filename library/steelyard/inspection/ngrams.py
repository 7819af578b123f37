"""The n-grams that one output gets right and another misses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words
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
    """The n-grams of one order in some texts, one entry for each place that has one."""

    order: int
    segment: Integers
    text: Integers
    gram: Integers
    """Its number."""
    tokens: Integers
    """(numbers, order): the words of each number."""


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
    words = segments.words(tokenizer, case)
    names = words.lines.decode().split("\n")
    systems = sorted({system for pair in pairs for system in pair})
    found: list[Lists] = [{} for _ in pairs]
    for ngrams in _ngrams(words, len(segments), len(segments.references), systems):
        possible, matched = _matches(ngrams, len(segments.references), len(systems), segments.reference_mask)
        for (first, second), lists in zip(pairs, found, strict=True):
            one, other = matched[systems.index(first)], matched[systems.index(second)]
            lists[ngrams.order] = (
                _best(ngrams, names, (one, other, possible), one - other, most),
                _best(ngrams, names, (one, other, possible), other - one, most),
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
    references = len(segments.references)
    found = _ngrams(segments.words(tokenizer, case), len(segments), references, [system])
    return {each.order: int(_matches(each, references, 1, segments.reference_mask)[1][0].sum()) for each in found}


def _best(
    ngrams: _Ngrams, names: Sequence[str], amounts: tuple[Integers, Integers, Integers], gains: Integers, most: int
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
            [tuple(map(names.__getitem__, words)) for words in ngrams.tokens[better].tolist()],
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


def _ngrams(words: Words, segments: int, references: int, systems: Sequence[int]) -> Iterator[_Ngrams]:
    """For each order the n-grams of all references, then of these systems."""
    texts = [*range(references), *(references + system for system in systems)]
    rows = np.concatenate([np.arange(text * segments, (text + 1) * segments) for text in texts])
    lengths = words.lengths[rows]
    # The tokens of the chosen texts, one after the other, each with the row (of the chosen ones) that it is in.
    row_of = np.repeat(np.arange(len(rows)), lengths)
    begins = np.cumsum(lengths) - lengths
    within = np.arange(len(row_of)) - begins[row_of]
    tokens = words.ids[words.starts[rows][row_of] + within].astype(np.int64)
    left = lengths[row_of] - within
    text_of, segment_of = np.divmod(row_of, segments)
    content, grams = _numbered(tokens)
    content = content[:, None]
    for order in ORDERS:
        there = np.flatnonzero(left >= order)
        yield _Ngrams(order, segment_of[there], text_of[there], grams[there], content)
        if order == ORDERS[-1]:
            return
        # One word longer: known by the n-gram and the word behind it.
        longer = np.flatnonzero(left > order)
        distinct, numbers = _numbered(grams[longer] * words.types + tokens[longer + order])
        content = np.column_stack([content[distinct // max(words.types, 1)], distinct % max(words.types, 1)])
        grams[longer] = numbers


def _numbered(keys: Integers) -> tuple[Integers, Integers]:
    """The distinct keys, in their order, and for each key its position among them."""
    distinct, numbers = np.unique(keys, return_inverse=True)
    return distinct, numbers.astype(np.int64)


def _matches(
    ngrams: _Ngrams, references: int, systems: int, present: NDArray[np.uint8]
) -> tuple[Integers, list[Integers]]:
    """By number of the n-gram: the references' greatest counts, and the clipped matches of each system."""
    numbers, texts = len(ngrams.tokens), references + systems
    counts_here = np.ones((texts, present.shape[1]), np.bool_)
    counts_here[:references] = present > 0
    packed = (ngrams.segment * numbers + ngrams.gram) * texts + ngrams.text
    packed = packed[counts_here[ngrams.text, ngrams.segment]]
    # In order, the same n-gram of a segment stands together, and in that each text by itself.
    packed.sort()
    begins = np.flatnonzero(np.diff(packed, prepend=-1))
    counts = np.diff(begins, append=len(packed))
    keys, text = np.divmod(packed[begins], texts)
    place = np.cumsum(np.diff(keys, prepend=-1) > 0) - 1
    gram = keys % max(numbers, 1)
    greatest = np.zeros(len(keys), np.int64)
    for reference in range(references):
        of_it = np.flatnonzero(text == reference)
        greatest[place[of_it]] = np.maximum(greatest[place[of_it]], counts[of_it])
    firsts = np.flatnonzero(np.diff(place, prepend=-1))
    possible = np.bincount(gram[firsts], greatest[: len(firsts)], minlength=numbers).astype(np.int64)
    matched = []
    for system in range(references, texts):
        of_it = np.flatnonzero(text == system)
        clipped = np.minimum(greatest[place[of_it]], counts[of_it])
        matched.append(np.bincount(gram[of_it], clipped, minlength=numbers).astype(np.int64))
    return possible, matched
