"""Meteor's exact module against NLTK's `meteor_score`, warm: from lines to segment scores.

    python -m benchmarks.meteor [DIR ...] [--reference LABEL] [--rounds 5]

DIR is a campaign folder (source.txt, refs/, systems/); without one, the demo campaign of the project. Both cut at white
space and fold case; NLTK gets a stemmer and a WordNet that know nothing. A ratio only counts because all segments are
equal where no linked word is repeated; elsewhere NLTK links otherwise.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from nltk.translate.meteor_score import single_meteor_score

from benchmarks.timing import HEADER, in_turn
from benchmarks.warm import DEMO
from metrics.batch import Batch
from metrics.meteor import Meteor
from metrics.text.plain import read_lines


class NoStemmer:
    """Changes no word."""

    stem = str


class NoWordNet:
    """Knows no word."""

    synsets = staticmethod(lambda word: [])  # noqa: ARG005


def ours(reference: bytes, systems: list[bytes]) -> list[float]:
    """Score of each segment of each system, 0 to 1."""
    metric = Meteor(modules=("exact",), params="orig", tok="none")
    scores = metric.segment_score(metric.segment_statistics(Batch([reference], systems))) / 100
    return scores.ravel().tolist()


def nltk(reference: bytes, systems: list[bytes]) -> list[float]:
    """The same by NLTK."""
    return [
        single_meteor_score(one.split(), other.split(), stemmer=NoStemmer, wordnet=NoWordNet)
        for system in systems
        for one, other in zip(reference.decode().split("\n"), system.decode().split("\n"), strict=True)
    ]


def repeats(reference: str, hypothesis: str) -> bool:
    """Whether a word that both have is there twice on a side."""
    one, other = reference.lower().split(), hypothesis.lower().split()
    return any(one.count(word) + other.count(word) > 2 for word in {*one} & {*other})


def compared(reference: bytes, systems: list[bytes], mine: list[float], others: list[float]) -> int:
    """How many segments must be equal, and are."""
    lines = [pair for system in systems for pair in zip(reference.split(b"\n"), system.split(b"\n"), strict=True)]
    alike = 0
    for got, expected, (one, other) in zip(mine, others, lines, strict=True):
        if not repeats(one.decode(), other.decode()):
            alike += 1
            assert abs(got - expected) <= 1e-9, f"{got} is not NLTK's {expected}: {one!r}, {other!r}"
    return alike


def main() -> None:
    """Print a Markdown table for each campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--reference", help="label of the reference (default: the first)")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for folder in options.folders or [next(path for path in DEMO.iterdir() if path.is_dir())]:
        files = sorted((folder / "refs").iterdir())
        file = next((path for path in files if path.stem == options.reference), files[0])
        reference, *systems = (read_lines(path).bytes for path in [file, *sorted((folder / "systems").iterdir())])
        print(f"\n{folder.name}, reference {file.stem}\n")
        print(HEADER)
        for chosen in (systems[:1], systems):
            arguments = (reference, chosen)
            pair, mine, others = in_turn(lambda a=arguments: ours(*a), lambda a=arguments: nltk(*a), options.rounds)
            alike = compared(*arguments, mine, others)
            print(pair.row(f"Meteor, {len(chosen)} system(s), {alike} of {len(mine)} segments alike", "NLTK"))


if __name__ == "__main__":
    main()
