"""Metrics of other distributions, found through the entry-point group `steelyard.metrics`.

Nothing is imported before somebody asks for that metric, so that a broken package breaks nothing else.
"""

from __future__ import annotations

import dataclasses
import inspect
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from metrics.base import Metric
from metrics.errors import BrokenMetric

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "steelyard.metrics"


@dataclasses.dataclass(frozen=True)
class Offer:
    """An entry point that says it leads to a metric."""

    name: str
    """In lower case: that is how metrics are asked for."""
    point: EntryPoint
    distribution: str
    """Its name and version, such as `example-metric-1.0`."""

    def metric(self) -> type[Metric]:
        """The metric class. Raises BrokenMetric with what is wrong."""
        try:
            found = self.point.load()
        # A module can do anything when it is imported, and none of it may be taken for an error of ours.
        except (Exception, SystemExit) as error:
            raise self._broken(f"{self.point.value} cannot be imported ({type(error).__name__}: {error})") from error
        if not (isinstance(found, type) and issubclass(found, Metric)):
            raise self._broken(f"{self.point.value} is not a subclass of metrics.Metric")
        if any(isinstance(value, dataclasses.Field) for value in vars(found).values()):
            raise self._broken(f"{self.point.value} has parameters but is not a frozen dataclass")
        if inspect.isabstract(found):
            raise self._broken(f"{self.point.value} lacks {', '.join(sorted(found.__abstractmethods__))}")
        named = getattr(found, "name", None)
        if not named == self.point.name == self.name:
            raise self._broken(
                f'its entry point is called "{self.point.name}" and its class "{named}"; both must be the same name in '
                "lower case"
            )
        return found

    def _broken(self, reason: str) -> BrokenMetric:
        return BrokenMetric(
            f'The metric "{self.name}" of {self.distribution} cannot be used: {reason}. '
            f"Update or remove {self.distribution}, or tell its authors."
        )


@cache
def offers() -> tuple[Offer, ...]:
    """All of them, by name. The same distribution counts once, as first found on the path."""
    # Only now: it brings half of the mail library along.
    from importlib.metadata import distributions

    found: dict[str, list[Offer]] = {}
    for distribution in distributions():
        try:
            name, version = distribution.name, distribution.version
            points = distribution.entry_points.select(group=GROUP) if name not in found else ()
        except Exception:  # noqa: S112 - whose metadata cannot be read offers nothing that we could name
            continue
        if points:
            found[name] = [Offer(point.name.lower(), point, f"{name}-{version}") for point in points]
    return tuple(sorted((each for points in found.values() for each in points), key=lambda o: (o.name, o.distribution)))


def other_metric(name: str) -> type[Metric] | None:
    """The metric of that name of another distribution; None where nobody offers one. Raises BrokenMetric."""
    named = [offer for offer in offers() if offer.name == name]
    if len(named) > 1:
        raise BrokenMetric(
            f'The metric "{name}" is offered by {" and by ".join(offer.distribution for offer in named)}. '
            "Remove all but one of them."
        )
    return named[0].metric() if named else None


def origin(metric: type[Metric]) -> str | None:
    """Name and version of the distribution that a metric comes from; None for the house's and for unpackaged ones."""
    if metric.__module__.startswith("metrics."):
        return None
    for offer in offers():
        if offer.name == metric.name:
            with suppress(BrokenMetric):
                if offer.metric() is metric:
                    return offer.distribution
    return None
