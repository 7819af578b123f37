"""Which mutants are tried: drawn by a seed, each area and each kind of fault as often as another."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.mutants.areas import targets
from tests.mutants.c_operators import c_mutants
from tests.mutants.equivalents import key_of, read_equivalents
from tests.mutants.mutant import Mutant
from tests.mutants.python_operators import python_mutants
from tests.mutants.target import ROOT


@dataclass(frozen=True)
class Candidate:
    """A mutant, and the tests that must find it."""

    area: str
    mutant: Mutant
    tests: tuple[str, ...]


@cache
def source_of(path: str) -> bytes:
    """A file as it is."""
    return (ROOT / path).read_bytes()


def candidates(area: str = "", file: str = "") -> Iterator[Candidate]:
    """All mutants of an area, or of files whose path contains some text."""
    for name, path, tests in targets(area):
        if file in path:
            mutants = python_mutants if path.endswith(".py") else c_mutants
            yield from (Candidate(name, mutant, tests) for mutant in mutants(path, source_of(path)))


def unexplained(found: Iterator[Candidate]) -> list[Candidate]:
    """Those that nobody has explained."""
    known = read_equivalents()
    return [each for each in found if key_of(each.mutant, source_of(each.mutant.path)) not in known]


def drawn(found: list[Candidate], seed: int, count: int) -> list[Candidate]:
    """So many of them, or all: the first ones stay the same when more are wanted."""
    draw = random.Random(seed)
    left: dict[str, dict[str, list[Candidate]]] = defaultdict(lambda: defaultdict(list))
    for each in found:
        left[each.area][each.mutant.operator].append(each)
    chosen: list[Candidate] = []
    while left and (not count or len(chosen) < count):
        for area in draw.sample(sorted(left), len(left)):
            operator = draw.choice(sorted(left[area]))
            those = left[area][operator]
            chosen.append(those.pop(draw.randrange(len(those))))
            if not those:
                del left[area][operator]
            if not left[area]:
                del left[area]
    return chosen[:count] if count else chosen
