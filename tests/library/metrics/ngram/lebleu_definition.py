"""LeBLEU once more, straight from its definition, with exact fractions: for comparison."""

from collections import Counter
from fractions import Fraction
from itertools import repeat

from rapidfuzz.distance import Levenshtein

LONGEST = 512


def sampled_starts(words, limit):
    if words <= limit:
        return range(words)
    if words > 2 * limit:
        return range(0, words, words // limit)
    stride = words // (words - limit)
    return [start for start in range(words) if (start + 1) % stride]


def ngrams(words, order, deepest):
    """How often the sample has each n-gram; `deepest` is the longest order of its side."""
    starts = sampled_starts(len(words), 2000 // deepest)
    return Counter(" ".join(words[start : start + order]) for start in starts if start + order <= len(words))


def similarity(one, other, threshold):
    if one == other:
        return Fraction(1)
    longer = max(len(one), len(other))
    if longer > LONGEST:
        return Fraction(0)
    similar = longer - Levenshtein.distance(one, other)
    return Fraction(similar, longer) if similar / longer >= threshold else Fraction(0)


def credit(ngram, count, reference, threshold):
    """The best similarities, one for each occurrence in the reference, as many as the n-gram has itself."""
    similarities = []
    for other, times in reference.items():
        similarities += repeat(similarity(ngram, other, threshold), times)
    return sum(sorted(similarities, reverse=True)[:count], Fraction(0))


def row(hypothesis, references, order=4, threshold=0.4):
    """`hypothesis` and each reference are lists of words."""
    theirs = [
        sum((ngrams(reference, n, 2 * order) for n in range(1, 2 * order + 1)), Counter()) for reference in references
    ]
    hits, totals = [], []
    for n in range(1, order + 1):
        own = ngrams(hypothesis, n, order)
        exact = sum(
            max(credit(ngram, count, reference, threshold) for reference in theirs) for ngram, count in own.items()
        )
        hits.append(float(Fraction((2 * exact * 2**24 + 1) // 2, 2**24)))
        totals.append(own.total())
    characters = len(" ".join(hypothesis))
    lengths = [len(" ".join(reference)) for reference in references]
    closest = min((abs(length - characters), length) for length in lengths)[1]
    return [*hits, *totals, characters, closest]
