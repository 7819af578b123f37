"""What a run offers to its metrics beside the texts, and pinning what they take from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from metrics.errors import MissingLayer
from metrics.resources import Resources
from metrics.text.layers import FORMATS_WITH, describe_layers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metrics.base import Metric


@dataclass(frozen=True)
class Surroundings:
    """Language, layers and resources of one run."""

    language: str = ""
    """Code of the target language, such as "cs"; empty where nobody said it."""
    layers: frozenset[str] = frozenset()
    """The linguistic layers that every text has (`metrics.text.layers`)."""
    resources: Resources = field(default_factory=Resources)


def settle(metrics: Sequence[Metric], surroundings: Surroundings) -> tuple[list[Metric], list[str]]:
    """The metrics with everything pinned that their scores depend on, and notices for the user.

    From then on a specification says it all: a worker elsewhere gets the same numbers from it or an error.
    Raises MissingLayer, MissingResource and BadParameter.
    """
    settled, notices = [], []
    for metric in metrics:
        pinned, remarks = metric.settled(surroundings)
        for layer in pinned.layers:
            if layer not in surroundings.layers:
                have = describe_layers(surroundings.layers)
                raise MissingLayer(
                    f"{metric.name} needs the layer {describe_layers([layer])} in every text. Layers found: {have}. "
                    f"Give all texts in a format that has it: {FORMATS_WITH[layer]}."
                )
        settled.append(pinned)
        notices += remarks
    return settled, notices
