"""Meteor's linking once more, straight from its definition by trying every set of links: for comparison."""

from itertools import combinations


def matchings(edges):
    """Every one-to-one set of links among these."""
    if not edges:
        yield []
        return
    (i, j), *others = edges
    yield from matchings(others)
    for rest in matchings([(k, m) for k, m in others if k != i and m != j]):
        yield [(i, j), *rest]


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
    rank = min((-len(more), crosses([*drawn, *more]), chunks({*drawn, *more})) for more in matchings(edges))
    return -rank[0], rank[1], rank[2]


def score(matches, hypothesis, reference, chunks, params):
    """Banerjee and Lavie's F-mean with its penalty for fragments, 0 to 1."""
    recall_weight, gamma, beta = {"orig": (9, 0.5, 3), "2007": (4, 0.28, 0.83)}[params]
    if not matches:
        return 0
    precision, recall = matches / hypothesis, matches / reference
    mean = (1 + recall_weight) * precision * recall / (recall_weight * precision + recall)
    return mean * (1 - gamma * (chunks / matches) ** beta)
