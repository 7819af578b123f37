"""Descriptions of metrics from the registry, for the page about methods."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from steelyard.metrics.entry_points import offers, origin
from steelyard.metrics.metric import Metric
from steelyard.metrics.registry import ALIASES, all_metrics, metric_class


@dataclass(frozen=True, slots=True)
class ParameterDescription:
    """A parameter of a metric."""

    name: str
    default: str
    meaning: str
    choices: Sequence[str]


@dataclass(frozen=True, slots=True)
class MetricDescription:
    """A metric for display."""

    name: str
    title: str
    summary: str
    more: str
    """The rest of its docstring."""
    source: str
    elsewhere: str
    """The distribution that it comes from; "" for built-in ones."""
    higher_is_better: bool
    scale: str
    columns: Sequence[str]
    """What is counted for each segment and summed."""
    parameters: Sequence[ParameterDescription]
    signature: str
    """With the default parameters."""


@cache
def describe_metrics() -> tuple[MetricDescription, ...]:
    """Return all installed metrics, built-in ones first."""
    found = [_describe(metric) for metric in all_metrics()]
    ours = {*ALIASES, *(metric.name for metric in all_metrics())}
    for offer in offers():
        if offer.name not in ours:
            try:
                found.append(_describe(metric_class(offer.name)))
            except Exception:  # noqa: S112 - third-party code: the page works whatever is wrong with it
                continue
    return tuple(found)


def _describe(metric: type[Metric]) -> MetricDescription:
    plain = metric()
    summary, _, more = inspect.cleandoc(metric.__doc__ or "").partition("\n\n")
    return MetricDescription(
        name=metric.name,
        title=plain.title,
        summary=" ".join(summary.split()),
        more=" ".join(more.split()),
        source=metric.source,
        elsewhere=origin(metric) or "",
        higher_is_better=metric.higher_is_better,
        scale=f"0 to {metric.scale:g}" if math.isfinite(metric.scale) else "0 upwards, without an end",
        columns=_columns(plain),
        parameters=[
            ParameterDescription(
                field.name, plain.shown(field), field.metadata["describe"], tuple(map(str, field.metadata["choices"]))
            )
            for field in metric.parameters()
        ],
        signature=plain.signature("N", 1000, 12345),
    )


def _columns(metric: Metric) -> Sequence[str]:
    try:
        return metric.columns
    except Exception:  # a metric that needs a resource to know them
        return ()
