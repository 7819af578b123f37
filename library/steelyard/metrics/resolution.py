"""Pinning all that a metric's scores depend on beside its parameters and the texts: once, before anything is scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from steelyard.errors import BadParameter, MissingLayer
from steelyard.formats.layers import describe_layers
from steelyard.formats.registry import formats_with
from steelyard.metrics.contract import MetricContract
from steelyard.metrics.segmentation import unsegmented, with_tokenizer
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.metrics.run_context import RunContext

Some = TypeVar("Some", bound=MetricContract)


def resolve(metrics: Sequence[Some], context: RunContext) -> tuple[list[Some], list[str]]:
    """The metrics with everything pinned that their scores depend on.

    The tokenizer of the target language (`tok=auto`) is among that. From then on a specification says it all: a worker
    elsewhere gets the same numbers from it or an error.

    Parameters
    ----------
    metrics : list of Metric
    context : RunContext
        Language, layers and resources.

    Returns
    -------
    metrics : list of Metric
        In the same order.
    notices : list of str
        For the user, such as of a tokenizer that does not suit the language.

    Raises
    ------
    MissingLayer
        Where a metric needs a linguistic layer that a text lacks.
    MissingResource
        Where a file, a model or a package is not here.
    BadParameter
        Where two of the metrics are the same.
    """
    resolved: list[Some] = []
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


def _what_lacks(metric: MetricContract, layer: str, context: RunContext) -> str:
    missing = [name for name, layers in context.texts.items() if layer not in layers]
    found = {each for layers in context.texts.values() for each in layers} | context.layers
    where = f" Texts without it: {listed(missing)}." if missing else ""
    return (
        f"{metric.name} needs the layer {describe_layers([layer])} in every text. Layers found: "
        f"{describe_layers(found)}.{where} Give all texts in a format that has it: "
        f"{formats_with(layer)}."
    )
