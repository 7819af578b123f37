"""Metrics of other distributions, found through the entry-point group `steelyard.metrics`."""

from __future__ import annotations

import dataclasses
import inspect
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from steelyard.errors import BrokenMetric
from steelyard.metrics.built_in import BUILT_IN, PLACES, built_in_class
from steelyard.metrics.contract import MetricContract
from steelyard.plugins.entry_points import PluginGroup
from steelyard.plugins.integrity import house

if TYPE_CHECKING:
    from steelyard.plugins.entry_points import Offer


def _fault(found: Any, called: str) -> str:
    if not (isinstance(found, type) and issubclass(found, MetricContract)):
        return f"{called} is not a subclass of steelyard.Metric"
    if any(isinstance(value, dataclasses.Field) for value in vars(found).values()):
        return f"{called} has parameters but is not a frozen dataclass"
    if inspect.isabstract(found):
        return f"{called} lacks {', '.join(sorted(found.__abstractmethods__))}"
    if overriding := _foreign(found, "signature"):
        return f"{overriding.__qualname__} has a signature() of its own; only its fields may differ"
    return ""


GROUP = PluginGroup("steelyard.metrics", "metric", BrokenMetric, _fault)


def offers() -> tuple[Offer, ...]:
    """What other distributions offer as metrics, by name.

    Returns
    -------
    tuple of Offer
    """
    return GROUP.offers()


def other_metric(name: str) -> type[MetricContract] | None:
    """The metric of a name of another distribution.

    Parameters
    ----------
    name : str

    Returns
    -------
    type of Metric, or None
        None where nobody offers one.

    Raises
    ------
    BrokenMetric
        Where it cannot be used.
    """
    return cast("type[MetricContract] | None", GROUP.find(name))


def origin(metric: type[MetricContract]) -> str | None:
    """Name and version of the distribution that a metric comes from.

    By the entry point that led to it: what it says of itself, such as `__module__`, may be anything.

    Parameters
    ----------
    metric : type of Metric

    Returns
    -------
    str or None
        None for the library's own and for unpackaged ones.
    """
    is_built_in = metric.name in BUILT_IN and built_in_class(metric.name) is metric
    if is_built_in or metric in _house_classes():
        return None
    if house.cache_info().currsize and (distribution := house().origin(metric)):
        return distribution
    for offer in offers():
        if offer.name == metric.name:
            with suppress(BrokenMetric):
                if offer.load() is metric:
                    return offer.distribution
    return None


@cache
def _house_classes() -> frozenset[type]:
    """The classes of the house's metrics, and those that they stand on."""
    return frozenset(each for name in PLACES for each in built_in_class(name).__mro__)


def _foreign(metric: type[MetricContract], name: str) -> type | None:
    """The class of somebody else that gives a metric this attribute; None where it is the house's own."""
    return next((each for each in metric.__mro__ if name in vars(each) and each not in _house_classes()), None)


def changed_since() -> list[str]:
    """What of the library was replaced after somebody else's plug-in was imported, while it worked for instance.

    Returns
    -------
    list of str
        Paths, such as `steelyard.metrics.ngram.bleu.BLEU.score`.
    """
    # Where nobody's was imported, nobody has asked how it was before.
    return house().changed() if house.cache_info().currsize else []
