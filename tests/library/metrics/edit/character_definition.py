"""CharacTER once more, straight from its definition: for comparison."""

from fractions import Fraction

from rapidfuzz.distance import Levenshtein


def orders(words, reference):
    """Every order that one round tries."""
    for i, word in enumerate(words):
        for j, other in enumerate(reference):
            if i == j or word != other:
                continue
            length = 1
            while words[i + length : i + length + 1] == reference[j + length : j + length + 1] != []:
                length += 1
            rest = words[:i] + words[i + length :]
            yield rest[:j] + words[i : i + length] + rest[j:]


def best_order(words, reference):
    while True:
        now = Levenshtein.distance(words, reference)
        tried = [(-Levenshtein.distance(order, reference), order) for order in orders(words, reference)]
        distance, order = max(tried, default=(-now, words))
        if -distance >= now:
            return words
        words = order


def shift_cost(old, new):
    cost, at = Fraction(0), 0
    while at < len(old):
        behind = [to for to in range(at + 1, len(new)) if new[to] == old[at]]
        if old[at] == new[at] or not behind:
            at += 1
            continue
        length = 0
        while behind[0] + length < len(new) and old[at + length] == new[behind[0] + length]:
            length += 1
        cost += Fraction(sum(map(len, old[at : at + length])), length)
        at += length
    return cost


def rate(hypothesis, reference):
    if not hypothesis:
        return Fraction(1)
    order = best_order(hypothesis, reference)
    edits = Levenshtein.distance(" ".join(order), " ".join(reference))
    return min(Fraction(1), (edits + shift_cost(hypothesis, order)) / len(" ".join(hypothesis)))


def row(hypothesis, references):
    least = min(rate(hypothesis, reference) for reference in references)
    return [float(Fraction((2 * least * 2**24 + 1) // 2, 2**24)), 1.0]
