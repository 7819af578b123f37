"""Entry points of other distributions: found without an import, loaded only when somebody asks for one.

A package that cannot be imported, hangs, ends the process or replaces what is built in breaks nothing but itself.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.errors import BadParameter, MetricsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import EntryPoint

IMPORT_SECONDS = "STEELYARD_IMPORT_SECONDS"
TRIAL_SECONDS = 10.0
"""How long a plug-in may take to be imported, where IMPORT_SECONDS does not say otherwise."""

SHOWN = 3
"""Of what a plug-in replaces, so much is named."""

_IMPORTED = 77
_TRIAL = f"""
import json, os, signal, sys
group, name, value, seconds, sys.path[:] = json.loads(sys.argv[1])
signal.alarm(seconds)
from importlib.metadata import EntryPoint
try:
    EntryPoint(name, value, group).load()
except Exception:
    pass
except SystemExit:
    pass
os._exit({_IMPORTED})
"""
"""What the process does: an exception, or what asks for an end, is an error where the plug-in is asked for.

It ends by itself, too, should whoever waits for it be killed.
"""


@dataclass(frozen=True)
class PluginGroup:
    """What plug-ins of one kind have in common."""

    name: str
    """Of the entry-point group, such as "steelyard.metrics"."""
    noun: str
    """What messages call a plug-in: "metric"."""
    error: type[MetricsError]
    """What is raised for one that cannot be used."""
    fault: Callable[[Any, str], str]
    """What is wrong with an object that an entry point leads to, which is called so; "" where nothing is."""

    def offers(self) -> tuple[Offer, ...]:
        """All plug-ins of this group, by name.

        Returns
        -------
        tuple of Offer
        """
        return tuple(Offer(self, each.name.lower(), each, distribution) for each, distribution in found(self.name))

    def find(self, name: str) -> Any:
        """The plug-in of a name.

        Parameters
        ----------
        name : str

        Returns
        -------
        object or None
            None where nobody offers one.

        Raises
        ------
        MetricsError
            The group's `error`, where it is broken, and where two distributions offer it.
        """
        named = [offer for offer in self.offers() if offer.name == name]
        if len(named) > 1:
            raise self.error(
                f'The {self.noun} "{name}" is offered by {" and by ".join(offer.distribution for offer in named)}. '
                "Remove all but one of them."
            )
        return named[0].load() if named else None


@dataclass(frozen=True)
class Offer:
    """An entry point that says it leads to a metric, a tokenizer or a format."""

    group: PluginGroup
    name: str
    """In lower case: that is how plug-ins are asked for."""
    point: EntryPoint
    distribution: str
    """Its name and version, such as `example-metric-1.0`."""

    def load(self) -> Any:
        """What the entry point leads to.

        Returns
        -------
        object

        Raises
        ------
        MetricsError
            The group's `error`, with what is wrong.
        """
        # Nothing in this process could cut off an import that hangs, or goes on where the process has ended.
        if self.point.module not in sys.modules and self._lost_process:
            raise self._broken(self._lost_process)
        # Only now: it imports everything.
        from steelyard.plugins.integrity import house

        before = house()
        try:
            found = self.point.load()
        # A module can do anything when it is imported, and none of it may be taken for an error of ours.
        except (Exception, SystemExit) as error:
            before.restore()
            raise self._broken(f"{self.point.value} cannot be imported ({type(error).__name__}: {error})") from error
        if before.is_guest(found):
            # What it has replaced since then stands in every signature.
            return found
        if changed := before.changed():
            before.restore()
            # Python imports it once: whoever asks again would find nothing replaced.
            _replaced()[self.point.value] = ", ".join(changed[:SHOWN])
        if self.point.value in _replaced():
            raise self._broken(f"{self.point.value} replaces what is built in ({_replaced()[self.point.value]})")
        if fault := self.group.fault(found, self.point.value):
            raise self._broken(fault)
        named = getattr(found, "name", None)
        if not named == self.point.name == self.name:
            raise self._broken(
                f'its entry point is called "{self.point.name}" and its {self.group.noun} "{named}"; both must be the '
                "same name in lower case"
            )
        before.welcome(found, self.distribution)
        return found

    @cached_property
    def _lost_process(self) -> str:
        """How it ends a process of its own that imports it, or keeps it too long; "" where it does neither.

        Tried once for each import. What else is wrong with it, `load` finds.
        """
        return _lost_process(self.group.name, self.point.name, self.point.value)

    def _broken(self, reason: str) -> MetricsError:
        return self.group.error(
            f'The {self.group.noun} "{self.name}" of {self.distribution} cannot be used: {reason}. '
            f"Update or remove {self.distribution}, or tell its authors."
        )


@cache
def _lost_process(group: str, name: str, value: str) -> str:
    import signal
    import subprocess

    seconds = _import_seconds()
    point = json.dumps([group, name, value, int(seconds) + 2, sys.path])
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
        return f"{value} takes longer than {seconds:g} seconds to be imported, as many as {IMPORT_SECONDS} allows"
    finally:
        # It may have started others, and may not be done itself.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(trial.pid, signal.SIGKILL)
        trial.wait()
    return "" if status == _IMPORTED else f"{value} ends the process that imports it (exit status {status})"


@cache
def _replaced() -> dict[str, str]:
    """What of ours plug-ins have replaced when they were imported."""
    return {}


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
def found(group: str) -> tuple[tuple[EntryPoint, str], ...]:
    """The entry points of a group with name and version of their distributions, by name.

    The same distribution counts once, as first found on the path.

    Parameters
    ----------
    group : str

    Returns
    -------
    tuple of (EntryPoint, str)
    """
    if not is_offered(group):
        return ()
    # Only now: it brings half of the mail library along.
    from importlib.metadata import distributions

    points: dict[str, list[tuple[EntryPoint, str]]] = {}
    for distribution in distributions():
        try:
            # Most name no such group, and the metadata of a hundred distributions take a tenth of a second.
            if f"[{group}]" not in (distribution.read_text("entry_points.txt") or ""):
                continue
            name, version = distribution.name, distribution.version
            own = distribution.entry_points.select(group=group) if name not in points else ()
        except Exception:  # noqa: S112 - whose metadata cannot be read offers nothing that we could name
            continue
        if own:
            points[name] = [(point, f"{name}-{version}") for point in own]
    return tuple(sorted((each for own in points.values() for each in own), key=lambda e: (e[0].name.lower(), e[1])))


@cache
def is_offered(group: str) -> bool:
    """Whether a distribution on the path names a group, or may do so because it is packed.

    Takes a tenth of the time that reading entry points takes.

    Parameters
    ----------
    group : str

    Returns
    -------
    bool
    """
    named = f"[{group}]".encode()
    return any(text is None or named in text for text in _installed())


@cache
def _installed() -> tuple[bytes | None, ...]:
    """What each distribution in a folder of the path says of its entry points; None for a packed place of the path."""
    texts: list[bytes | None] = []
    for place in map(Path, sys.path):
        if place.is_file():
            texts.append(None)
        for file in place.glob("*-[iI][nN][fF][oO]/entry_points.txt"):
            with suppress(OSError):
                texts.append(file.read_bytes())
    return tuple(texts)


def forget() -> None:
    """Discover again what is installed, for tests."""
    for each in (found, is_offered, _installed, _lost_process, _replaced):
        each.cache_clear()
