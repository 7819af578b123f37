"""BLEU_modif and WER_modif said slowly: one n-gram and one cell after the other, in floating point as it comes."""

from __future__ import annotations

from math import fsum, sqrt


def cosine(one, other, vectors):
    """Of the mean vectors of two lists of words; None where a side has no known word or no direction."""
    means = []
    for words in (one, other):
        known = [vectors[word] for word in words if word in vectors]
        means.append([fsum(column) / len(words) for column in zip(*known, strict=True)] or [0.0])
        # Less than 2^-15 of the root of the mean square: the vectors cancel.
        if length(means[-1]) <= 2**-15 * sqrt(fsum(length(vector) ** 2 for vector in known) / len(words)):
            return None
    return fsum(a * b for a, b in zip(*means, strict=True)) / (length(means[0]) * length(means[1]))


def length(vector):
    return sqrt(fsum(x * x for x in vector))


def ngrams(words, order):
    return [tuple(words[i : i + order]) for i in range(len(words) - order + 1)]


def best_similarity(ngram, references, vectors):
    """To any n-gram of the references; at least 0."""
    theirs = {other for reference in references for other in ngrams(reference, len(ngram))}
    if ngram in theirs:
        return 1.0
    return max([0.0, *(cosine(ngram, other, vectors) or 0.0 for other in theirs)])


def match(hypothesis, references, vectors, order, gamma):
    found = [best_similarity(ngram, references, vectors) for ngram in ngrams(hypothesis, order)]
    # Computed in floating point, a cosine of 1 may lack the last bit.
    return fsum(similarity for similarity in found if similarity >= gamma - 2**-41)


def cost(one, other, vectors, clamp):
    if one == other:
        return 0.0
    similarity = cosine([one], [other], vectors) or 0.0
    return min(max(1 - similarity, 0.0), 1.0 if clamp else 2.0)


def distance(hypothesis, reference, vectors, clamp=True):
    """Levenshtein (1966) by the full table."""
    table = [[float(j) for j in range(len(reference) + 1)]]
    for i, word in enumerate(hypothesis, 1):
        row = [float(i)]
        for j, other in enumerate(reference, 1):
            substituted = table[i - 1][j - 1] + cost(word, other, vectors, clamp)
            row.append(min(substituted, table[i - 1][j] + 1, row[j - 1] + 1))
        table.append(row)
    return table[-1][-1]
