"""Texts that look enough like a test set, its source and an output for it."""

from __future__ import annotations

import random
from pathlib import Path

DEMO = Path(__file__).parents[3] / "demo" / "harbour"

SYLLABLES = ("ka", "lo", "mi", "ter", "van", "su", "del", "pri", "ho", "nat", "ges", "ru", "bel", "shi", "on", "dra")


def demo(name: str) -> list[str]:
    """The lines of a file of the demo campaign."""
    return (DEMO / f"{name}.txt").read_text(encoding="utf-8").split("\n")[:-1]


def joined(lines: list[str]) -> bytes:
    return "\n".join(lines).encode()


def some_language(segments: int, seed: int = 1) -> tuple[list[str], list[str]]:
    """Lines, and lines of another language that say the same: numbers and names are shared, lengths go together."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(3000)]
    frequent = words[:60]
    names = [word.capitalize() + "berg" for word in words[:800]]
    here, there = [], []
    for _ in range(segments):
        length = max(3, round(rng.lognormvariate(2.5, 0.6)))
        picked = [rng.choice(frequent) if rng.random() < 0.6 else rng.choice(words) for _ in range(length)]
        shared = [rng.choice(names) for _ in range(rng.randint(0, 2))] + [
            str(rng.randint(1, 3000)) for _ in range(rng.randint(0, 1))
        ]
        mine = [*picked, *shared]
        # Another alphabet, so that only names and numbers are alike.
        theirs = [word.translate(GREEK) for word in picked] + shared
        rng.shuffle(mine)
        here.append(" ".join(mine) + ".")
        there.append(" ".join(theirs) + ".")
    return here, there


GREEK = str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβξδεφγηιζκλμνοπψρστυωχθυζ")
