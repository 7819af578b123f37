"""GTM's match once more, by listing every run and all parts of runs: for comparison."""

from fractions import Fraction
from math import ceil


def gtm_runs_of(hypothesis, references):
    """The runs taken, in order: size, place in the hypothesis, and in the joined references.

    The last size may be a fraction, of a run that is longer than the rest of the budget. Behind each reference and
    before the first stands a boundary.
    """
    boundary = object()
    joined = [boundary]
    for reference in references:
        joined += [*reference, boundary]
    runs = []
    for i in range(len(hypothesis)):
        for j in range(len(joined)):
            length = 0
            while i + length < len(hypothesis) and hypothesis[i + length] == joined[j + length]:
                length += 1
                runs.append((length, i, j))
    runs.sort(reverse=True)
    budget = min(Fraction(len(hypothesis)), Fraction(sum(map(len, references)), len(references)))
    used_here, used_there, taken = set(), set(), []
    for length, i, j in runs:
        if not budget:
            break
        size = min(Fraction(length), budget)
        here, there = range(i, i + ceil(size)), range(j, j + ceil(size))
        if used_here.isdisjoint(here) and used_there.isdisjoint(there):
            used_here.update(here)
            used_there.update(there)
            taken.append((size, i, j))
            budget -= size
    return taken
