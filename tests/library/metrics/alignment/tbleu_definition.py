"""tBLEU once more, straight from its definition and with exact fractions: for comparison."""

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import permutations

from rapidfuzz.distance import Levenshtein


@cache
def affix_distance(a, b):
    """Edits before and behind the longest common substring per letter of it, at most 1."""
    if a == b:
        return Fraction(0)
    shared = [
        (length, i, j)
        for i in range(len(a))
        for j in range(len(b))
        for length in range(1, min(len(a) - i, len(b) - j) + 1)
        if a[i : i + length] == b[j : j + length]
    ]
    longest = max((length for length, _, _ in shared), default=1)
    edits = [
        Levenshtein.distance(a[:i], b[:j]) + Levenshtein.distance(a[i + length :], b[j + length :])
        for length, i, j in shared
        if length == longest
    ]
    return min(Fraction(1), Fraction(min(edits, default=longest), longest))


@cache
def alignment(hypothesis, reference):
    """For each hypothesis word the place of its reference word, or None: every pairing is tried."""
    m, n = len(hypothesis), len(reference)
    best = None
    for places in permutations(range(max(m, n)), m):
        paired = [(i, j) for i, j in enumerate(places) if j < n]
        rank = (
            sum(affix_distance(hypothesis[i], reference[j]) for i, j in paired),
            sum(abs(i - j) for i, j in paired),
            [min(j, n) for j in places],
        )
        if best is None or rank < best:
            best = rank
    return [j if j < n else None for j in best[2]]


def corrected(hypothesis, reference, eps):
    """(word, weight) for each hypothesis word; weights are rounded to multiples of 2^-24."""
    result = []
    for word, j in zip(hypothesis, alignment(tuple(hypothesis), tuple(reference)), strict=True):
        distance = Fraction(2) if j is None else affix_distance(word, reference[j])
        if float(distance) <= eps:
            result.append((reference[j], Fraction(round((1 - distance) * 2**24), 2**24)))
        else:
            result.append((word, Fraction(1)))
    return result


def grams(words, n):
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def match(hypothesis, references, n, eps):
    """The credit of all n-grams of one order."""
    most = defaultdict(Fraction)
    for reference in references:
        allowed = Counter(grams(reference, n))
        pairs = grams(corrected(hypothesis, reference, eps), n)
        occurrences = [
            (-sum(weight for _, weight in pair), place, tuple(word for word, _ in pair))
            for place, pair in enumerate(pairs)
        ]
        credit = defaultdict(Fraction)
        for negative, place, gram in sorted(occurrences):
            if allowed[gram]:
                allowed[gram] -= 1
                credit[tuple(hypothesis[place : place + n])] -= negative / n
        for original, amount in credit.items():
            most[original] = max(most[original], amount)
    return sum(most.values(), Fraction(0))


def row(hypothesis, references, eps, orders=(1, 2, 3, 4)):
    closest = min((abs(len(reference) - len(hypothesis)), len(reference)) for reference in references)[1]
    matches = [match(hypothesis, references, n, eps) for n in orders]
    # To the nearest multiple of 2^-24, halves upwards.
    rounded = [float(Fraction((2 * m * 2**24 + 1) // 2, 2**24)) for m in matches]
    return [len(hypothesis), closest, *rounded, *(max(len(hypothesis) - n + 1, 0) for n in orders)]
