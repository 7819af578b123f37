"""What the registry says of each metric, for the page that says how numbers are made."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from metrics import METRICS
from metrics.base import Metric
from metrics.entry_points import offers, origin
from metrics.registry import ALIASES, metric_class


@dataclass(frozen=True, slots=True)
class DescribedParameter:
    """A parameter of a metric."""

    name: str
    default: str
    meaning: str
    choices: Sequence[str]


@dataclass(frozen=True, slots=True)
class DescribedMetric:
    """A metric in words."""

    name: str
    title: str
    summary: str
    more: str
    """What else its definition says."""
    source: str
    elsewhere: str
    """Which other distribution it is of; "" for ours."""
    higher_is_better: bool
    scale: str
    columns: Sequence[str]
    """What is counted for each segment, and added up."""
    parameters: Sequence[DescribedParameter]
    signature: str
    """With the defaults."""


@cache
def described_metrics() -> tuple[DescribedMetric, ...]:
    """All metrics that are installed here, ours first."""
    found = [_described(metric) for metric in METRICS]
    ours = {*ALIASES, *(metric.name for metric in METRICS)}
    for offer in offers():
        if offer.name not in ours:
            try:
                found.append(_described(metric_class(offer.name)))
            except Exception:  # noqa: S112 - somebody else's code: whatever is wrong with it, the page is there
                continue
    return tuple(found)


def _described(metric: type[Metric]) -> DescribedMetric:
    plain = metric()
    summary, _, more = inspect.cleandoc(metric.__doc__ or "").partition("\n\n")
    return DescribedMetric(
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
            DescribedParameter(
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
