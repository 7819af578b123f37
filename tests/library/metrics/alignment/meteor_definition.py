"""Meteor's linking once more, straight from its definition by trying every largest set of links: for comparison."""

from itertools import combinations


def largest(edges):
    """How many links a one-to-one set of these can have."""
    partner = {}

    def place(i, seen):
        for j in (j for k, j in edges if k == i and j not in seen):
            seen.add(j)
            if j not in partner or place(partner[j], seen):
                partner[j] = i
                return True
        return False

    return sum(place(i, set()) for i in {i for i, _ in edges})


def matchings(edges):
    """Every one-to-one set of links among these that is as large as can be."""
    words = sorted({i for i, _ in edges})

    def extended(at, links, spare):
        if at == len(words):
            yield links
            return
        if spare:
            yield from extended(at + 1, links, spare - 1)
        for i, j in edges:
            if i == words[at] and all(j != other for _, other in links):
                yield from extended(at + 1, [*links, (i, j)], spare)

    return extended(0, [], len(words) - largest(edges))


def crosses(links):
    return sum((i - k) * (j - m) < 0 for (i, j), (k, m) in combinations(links, 2))


def chunks(links):
    return sum((i - 1, j - 1) not in links for i, j in links)


def best_of_module(drawn, hypothesis, reference, may_link):
    """(links, crosses, chunks) of the best that a module can do on top of the links drawn so far."""
    edges = [
        (i, j)
        for i, a in enumerate(hypothesis)
        for j, b in enumerate(reference)
        if may_link(a, b) and all(i != k and j != m for k, m in drawn)
    ]
    crossed, runs = min((crosses([*drawn, *more]), chunks({*drawn, *more})) for more in matchings(edges))
    return largest(edges), crossed, runs


def score(matches, hypothesis, reference, chunks, params):
    """Banerjee and Lavie's F-mean with its penalty for fragments, 0 to 1."""
    recall_weight, gamma, beta = {"orig": (9, 0.5, 3), "2007": (4, 0.28, 0.83)}[params]
    if not matches:
        return 0
    precision, recall = matches / hypothesis, matches / reference
    mean = (1 + recall_weight) * precision * recall / (recall_weight * precision + recall)
    return mean * (1 - gamma * (chunks / matches) ** beta)
