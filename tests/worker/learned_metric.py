"""A learned metric without a model, which counts what it is asked, and fails on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from steelyard.errors import MissingResource, ProgramFailed
from steelyard.metrics.content_scores import Content, ContentMetric
from steelyard.metrics.parameters import parameter
from steelyard.metrics.preparation.score_store import Scored
from steelyard.metrics.resources import Resources


@dataclass(frozen=True)
class Vowels(ContentMetric):
    """Vowels of the hypothesis, and a hundredth of those of the reference."""

    name: ClassVar[str] = "vowels"
    source: ClassVar[str] = "made up"
    cost: ClassVar[float] = 1e5
    growth: ClassVar[float] = 1.0
    asked: ClassVar[list[Content]] = []
    fails: ClassVar[list[str]] = []
    missing: ClassVar[list[str]] = []

    device: str = parameter("cpu", "what it pretends to run on", ours=True)

    def scorer(self, resources: Resources) -> str:
        if self.missing:
            raise MissingResource("There is no model here.")
        return f"vowels 1 {self.device}"

    def score_contents(
        self, contents: Sequence[Content], resources: Resources, keep: Callable[[Mapping[int, Scored]], None]
    ) -> None:
        for position, content in enumerate(contents):
            if self.fails and self.fails[0] in content.hypothesis:
                raise ProgramFailed("The model has no words for this.")
            self.asked.append(content)
            keep({position: Scored((vowels(content),), '{"by": "ear"}')})


def vowels(content: Content) -> float:
    own, of_reference = (
        sum(text.count(letter) for letter in "aeiou") for text in (content.hypothesis, *(content.references or ()))
    )
    return own + of_reference / 100
