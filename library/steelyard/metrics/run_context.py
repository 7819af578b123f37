"""What a run offers to its metrics beside the texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.metrics.resources import Resources

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


@dataclass(frozen=True)
class RunContext:
    """Language, layers and resources of one run."""

    language: str = ""
    """Code of the target language, such as "cs"; empty where nobody said it."""
    layers: frozenset[str] = frozenset()
    """The linguistic layers that every text has (`steelyard.formats.layers`)."""
    resources: Resources = field(default_factory=Resources)
    texts: Mapping[str, Collection[str]] = field(default_factory=dict)
    """What messages call each text, and the layers it has, be they in the others or not."""
