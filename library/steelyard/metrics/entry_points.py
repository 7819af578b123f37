"""Metrics of other distributions, found through the entry-point group `steelyard.metrics`.

Nothing is imported before somebody asks for that metric, so that a broken package breaks nothing else.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import sys
from contextlib import suppress
from functools import cache, cached_property
from typing import TYPE_CHECKING, cast

from steelyard.errors import BadParameter, BrokenMetric
from steelyard.metrics.integrity import house
from steelyard.metrics.metric import Metric

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "steelyard.metrics"

IMPORT_SECONDS = "STEELYARD_IMPORT_SECONDS"
TRIAL_SECONDS = 10.0
"""How long a metric of somebody else may take to be imported, where IMPORT_SECONDS does not say otherwise."""

SHOWN = 3
"""Of what a metric replaces, so much is named."""

_IMPORTED = 77
_TRIAL = f"""
import json, os, signal, sys
name, value, seconds, sys.path[:] = json.loads(sys.argv[1])
signal.alarm(seconds)
from importlib.metadata import EntryPoint
try:
    EntryPoint(name, value, {GROUP!r}).load()
except Exception:
    pass
except SystemExit:
    pass
os._exit({_IMPORTED})
"""
"""What the process does: an exception, or what asks for an end, is an error where the metric is asked for.

It ends by itself, too, should whoever waits for it be killed.
"""


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
        # Nothing in this process could cut off an import that hangs, or goes on where the process has ended.
        if self.point.module not in sys.modules and self._lost_process:
            raise self._broken(self._lost_process)
        before = house()
        try:
            found = self.point.load()
        # A module can do anything when it is imported, and none of it may be taken for an error of ours.
        except (Exception, SystemExit) as error:
            before.restore()
            raise self._broken(f"{self.point.value} cannot be imported ({type(error).__name__}: {error})") from error
        if isinstance(found, type) and found in before.guests:
            # What it has replaced since then stands in every signature.
            return cast("type[Metric]", found)
        if changed := before.changed():
            before.restore()
            raise self._broken(f"{self.point.value} replaces what is built in ({', '.join(changed[:SHOWN])})")
        if not (isinstance(found, type) and issubclass(found, Metric)):
            raise self._broken(f"{self.point.value} is not a subclass of steelyard.Metric")
        if any(isinstance(value, dataclasses.Field) for value in vars(found).values()):
            raise self._broken(f"{self.point.value} has parameters but is not a frozen dataclass")
        if inspect.isabstract(found):
            raise self._broken(f"{self.point.value} lacks {', '.join(sorted(found.__abstractmethods__))}")
        if overriding := _foreign(found, "signature"):
            raise self._broken(f"{overriding.__qualname__} has a signature() of its own; only its fields may differ")
        named = getattr(found, "name", None)
        if not named == self.point.name == self.name:
            raise self._broken(
                f'its entry point is called "{self.point.name}" and its class "{named}"; both must be the same name in '
                "lower case"
            )
        before.guests[found] = self.distribution
        return found

    @cached_property
    def _lost_process(self) -> str:
        """How it ends a process of its own that imports it, or keeps it too long; "" where it does neither.

        Tried once. What else is wrong with it, `metric` finds.
        """
        import signal
        import subprocess

        seconds = _import_seconds()
        point = json.dumps([self.point.name, self.point.value, int(seconds) + 2, sys.path])
        trial = subprocess.Popen(  # noqa: S603 - what is installed here anyway
            [sys.executable, "-P", "-c", _TRIAL, point],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            status = trial.wait(seconds)
        except subprocess.TimeoutExpired:
            return (
                f"{self.point.value} takes longer than {seconds:g} seconds to be imported, as many as "
                f"{IMPORT_SECONDS} allows"
            )
        finally:
            # It may have started others, and may not be done itself.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(trial.pid, signal.SIGKILL)
            trial.wait()
        return (
            "" if status == _IMPORTED else f"{self.point.value} ends the process that imports it (exit status {status})"
        )

    def _broken(self, reason: str) -> BrokenMetric:
        return BrokenMetric(
            f'The metric "{self.name}" of {self.distribution} cannot be used: {reason}. '
            f"Update or remove {self.distribution}, or tell its authors."
        )


def _import_seconds() -> float:
    """Raises BadParameter."""
    given = os.environ.get(IMPORT_SECONDS) or str(TRIAL_SECONDS)
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise BadParameter(f"{IMPORT_SECONDS}={given!r}: must be a number of seconds.")
    return seconds


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
    """Name and version of the distribution that a metric comes from; None for the house's and for unpackaged ones.

    By the entry point that led to it: what it says of itself, such as `__module__`, may be anything.
    """
    if metric in _house_classes():
        return None
    if house.cache_info().currsize and metric in house().guests:
        return house().guests[metric]
    for offer in offers():
        if offer.name == metric.name:
            with suppress(BrokenMetric):
                if offer.metric() is metric:
                    return offer.distribution
    return None


@cache
def _house_classes() -> frozenset[type]:
    """The classes of the house's metrics, and those that they stand on."""
    from steelyard.metrics.registry import METRICS

    return frozenset(each for metric in METRICS for each in metric.__mro__)


def _foreign(metric: type[Metric], name: str) -> type | None:
    """The class of somebody else that gives a metric this attribute; None where it is the house's own."""
    return next((each for each in metric.__mro__ if name in vars(each) and each not in _house_classes()), None)


def changed_since() -> list[str]:
    """What of the house was replaced after somebody else's metric was imported, while it worked for instance."""
    # Where nobody's was imported, nobody has asked how it was before.
    return house().changed() if house.cache_info().currsize else []
