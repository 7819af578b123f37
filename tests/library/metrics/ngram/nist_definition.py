"""NIST once more, straight from its definition, on token lists: for comparison."""

import math
from collections import Counter


def ngrams(words, n):
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def information(references, deepest):
    """n-gram -> bits; `references` are token lists, all of the whole test set."""
    counts = Counter(gram for words in references for n in range(1, deepest + 1) for gram in ngrams(words, n))
    total = sum(len(words) for words in references)
    return {gram: math.log2((counts[gram[:-1]] if len(gram) > 1 else total) / counts[gram]) for gram in counts}


def row(hypothesis, references, weights, order):
    """Hypothesis length, the sum over the references of theirs, information and number of n-grams of each order."""
    informations, totals = [], []
    for n in order:
        mine = Counter(ngrams(hypothesis, n))
        theirs = [Counter(ngrams(reference, n)) for reference in references]
        clipped = {gram: min(count, max(each[gram] for each in theirs)) for gram, count in mine.items()}
        informations.append(math.fsum(count * weights[gram] for gram, count in clipped.items() if count))
        totals.append(mine.total())
    return [len(hypothesis), sum(map(len, references)), *informations, *totals]


def score(rows, references, order):
    """Of rows as above with so many references each."""
    sums = [math.fsum(column) for column in zip(*rows, strict=True)]
    hypothesis, reference = sums[0], sums[1] / references
    gains = sum(
        gain / total for gain, total in zip(sums[2 : 2 + len(order)], sums[2 + len(order) :], strict=True) if total
    )
    if hypothesis >= reference:
        return gains
    if not hypothesis:
        return 0.0
    return gains * math.exp(math.log(0.5) / math.log(2 / 3) ** 2 * math.log(hypothesis / reference) ** 2)
