"""What scores one long segment: every metric of the registry."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from steelyard.conformance import subjects as subjects_of_metric
from steelyard.conformance.campaign import Campaign
from steelyard.conformance.subject import Subject as Scored
from steelyard.metrics.registry import all_metrics
from tests.growth.families import MARKS, runs_of
from tests.growth.measuring import ALWAYS, LARGEST, Subject

WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "dog", "ran", "far")
KNOWN = [*WORDS, *(f"w{number}" for number in range(LARGEST // 5))]
"""All words of the texts: vectors know them, so that each is compared with each."""
SCRATCH = tempfile.TemporaryDirectory()


def _words(size: int, vocabulary: int, seed: int) -> str:
    """Words of a vocabulary in disorder."""
    random = Random(seed)
    known = [*WORDS, *(f"w{number}" for number in range(len(WORDS), vocabulary))][:vocabulary]
    return " ".join(random.choice(known) for _ in range(size // 4))[:size]


def _all_different(size: int, seed: int) -> str:
    numbers = list(range(size // 5))
    Random(seed).shuffle(numbers)
    return " ".join(f"w{number}" for number in numbers)[:size]


def _rotated(text: str) -> str:
    words = text.split(" ")
    return " ".join([*words[len(words) // 2 :], *words[: len(words) // 2]])


def _swapped(text: str) -> str:
    words = text.split(" ")
    return " ".join(words[place ^ 1] if place ^ 1 < len(words) else words[place] for place in range(len(words)))


PAIRS: dict[str, Callable[[int], tuple[str, str]]] = {
    "one word": lambda size: (runs_of("the ")(size), runs_of("the ")(size)),
    "one word, another one": lambda size: (runs_of("the ")(size), runs_of("cat ")(size)),
    "two words in turn": lambda size: (runs_of("a b ")(size), runs_of("b a ")(size)),
    "ten words in disorder": lambda size: (_words(size, 10, 1), _words(size, 10, 2)),
    "a hundred words in disorder": lambda size: (_words(size, 100, 1), _words(size, 100, 2)),
    "all different, in another order": lambda size: (_all_different(size, 1), _all_different(size, 2)),
    "all different, halves exchanged": lambda size: (_all_different(size, 1), _rotated(_all_different(size, 1))),
    "all different, neighbours exchanged": lambda size: (_all_different(size, 1), _swapped(_all_different(size, 1))),
    "one long word": lambda size: ("a" * size, "a" * (size - 1) + "b"),
    "two long words": lambda size: ("ab" * (size // 2), "ba" * (size // 2)),
    "long words": lambda size: (runs_of("a" * 60 + " ")(size), runs_of("ab" * 30 + " ")(size)),
    "nothing and much": lambda size: ("a", _words(size, 100, 1)),
    "much and nothing": lambda size: (_words(size, 100, 1), "a"),
    "marks": lambda size: (runs_of("a" + MARKS)(size), runs_of(MARKS)(size)),
    "Chinese": lambda size: (runs_of("中文字")(size), runs_of("文中字")(size)),
}
"""By name, of so many characters: the reference and the hypothesis."""


def _scoring(scored: Scored, pair: str, size: int) -> Callable[[], object]:
    reference, hypothesis = PAIRS[pair](size)
    campaign = Campaign({"A": [reference]}, {"x": [hypothesis]})
    segments = scored.segments(campaign)
    return lambda: scored.metric.segment_statistics(segments)


def subjects() -> Iterator[Subject]:
    """All metrics with their defaults."""
    for metric in all_metrics():
        folder = Path(SCRATCH.name, metric.name)
        folder.mkdir()
        known = metric.example_resources(folder, KNOWN)
        scored, *_ = subjects_of_metric(metric, folder, known, examples=metric.examples[:1])
        for pair in PAIRS:
            yield Subject(
                f"{scored.metric.specification}: {pair}",
                lambda size, scored=scored, pair=pair: _scoring(scored, pair, size),
                scored.metric.growth,
                # chrF goes another way from some thousand characters on, and grows as the text does behind that.
                largest=LARGEST,
                # What a metric does first would hide how it goes on.
                dear=3_000_000,
                # `Metric.longest` goes from typical segments to long ones by the exponent alone.
                since=ALWAYS,
            )
