"""What a run offers to its metrics beside the texts, and pinning what they take from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.errors import BadParameter, MissingLayer
from steelyard.formats.layers import describe_layers
from steelyard.formats.registry import formats_with
from steelyard.metrics.resources import Resources
from steelyard.metrics.segmentation import unsegmented, with_tokenizer
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from steelyard.metrics.metric import Metric


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


def resolve(metrics: Sequence[Metric], context: RunContext) -> tuple[list[Metric], list[str]]:
    """The metrics with everything pinned that their scores depend on, and notices for the user.

    The tokenizer of the target language (`tok=auto`) is among that. From then on a specification says it all: a worker
    elsewhere gets the same numbers from it or an error.
    Raises MissingLayer, MissingResource and BadParameter.
    """
    resolved: list[Metric] = []
    notices: list[str] = []
    for metric in metrics:
        pinned, remarks = with_tokenizer(metric, context.language, context.resources).resolve(context)
        for layer in pinned.layers:
            if layer not in context.layers:
                raise MissingLayer(_what_lacks(metric, layer, context))
        if pinned in resolved:
            raise BadParameter(f'The metric "{pinned.specification}" is named twice.')
        resolved.append(pinned)
        notices += remarks
    # In annotated texts blanks separate the words of every language.
    unannotated = [each for each in resolved if not (context.layers and getattr(each, "tok", None) == "none")]
    return resolved, [*notices, *unsegmented(unannotated, context.language)]


def _what_lacks(metric: Metric, layer: str, context: RunContext) -> str:
    lacking = [name for name, layers in context.texts.items() if layer not in layers]
    found = {each for layers in context.texts.values() for each in layers} | context.layers
    where = f" Texts without it: {listed(lacking)}." if lacking else ""
    return (
        f"{metric.name} needs the layer {describe_layers([layer])} in every text. Layers found: "
        f"{describe_layers(found)}.{where} Give all texts in a format that has it: "
        f"{formats_with(layer)}."
    )
