"""Gets the outputs of a nightly run: from a folder, or from a command that writes them. All of them, or a reason."""

from __future__ import annotations

import shlex
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

from scheduler.errors import BadSchedule, BadSource
from scheduler.nightly.commands import run_command
from scheduler.nightly.patterns import FoundOutput, Pattern
from steelyard.errors import BadText
from steelyard.formats.detection import read_text
from steelyard.formats.layers import describe_layers
from steelyard.formats.plain import Text
from steelyard.formats.registry import formats_with
from steelyard.metrics.registry import parse_metric
from steelyard.text.limits import STORING_LIMITS
from steelyard.text.names import fault_of_name, folded, printable
from steelyard.text.wording import listed, number_of

COMMAND_SECONDS = 3600.0
WRITTEN = "{output}/{test_set}/{system}.txt"
"""The default output path of a command."""
SHOWN = 50


@dataclass(frozen=True, slots=True)
class Source:
    """Where the outputs of a schedule come from."""

    kind: Literal["folder", "command"]
    pattern: Pattern
    command: tuple[str, ...] = ()
    seconds: float = COMMAND_SECONDS
    """The time limit of the command."""
    folder: str = ""
    """The working directory of the command."""

    def as_json(self) -> dict[str, Any]:
        """The stored form."""
        if self.kind == "folder":
            return {"kind": self.kind, "pattern": self.pattern.text}
        return {
            "kind": self.kind,
            "command": list(self.command),
            "pattern": self.pattern.text,
            "seconds": self.seconds,
            "folder": self.folder,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Source:
        """Read the stored form."""
        pattern = Pattern(stored["pattern"])
        if stored["kind"] == "folder":
            return cls("folder", pattern)
        command = tuple(stored["command"])
        return cls("command", pattern, command, float(stored["seconds"]), stored.get("folder") or "/")

    def __str__(self) -> str:
        """For users."""
        return shlex.join(self.command) if self.command else self.pattern.text


@dataclass(frozen=True, slots=True)
class WantedTestSet:
    """A test set that needs outputs."""

    title: str
    """Its name in patterns."""
    segments: int


def new_source(
    pattern: str | None, command: str | None, seconds: float, folder: Path, test_sets: Sequence[str]
) -> Source:
    """A source from the user's options.

    Raises
    ------
    BadSchedule
        If it is invalid.
    """
    if not command:
        if not pattern:
            raise BadSchedule("Say where outputs come from: a pattern of paths, or a command that writes them.")
        chosen = Pattern(pattern)
        chosen.check(test_sets, command=False)
        return Source("folder", chosen.absolute)
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise BadSchedule(f"The command {command!r} cannot be parsed: {error}.") from error
    if not words:
        raise BadSchedule("The command is empty.")
    if not seconds > 0:
        raise BadSchedule(f"A command cannot be given {seconds:g} seconds.")
    chosen = Pattern(pattern or WRITTEN)
    chosen.check(test_sets, command=True)
    return Source("command", chosen.absolute, words, seconds, str(folder.absolute()))


@contextmanager
def outputs(
    source: Source,
    wanted: Sequence[WantedTestSet],
    metrics: Sequence[str],
    *,
    schedule: str,
    day: date,
    stop: threading.Event,
    passed_on: Collection[str] = (),
) -> Iterator[dict[str, dict[str, Text]]]:
    """The outputs of a run: for each test set, by its title, the text of each system, by its name.

    Large texts stay in their files, so they are valid inside the context only. `passed_on` names the environment
    variables for a command.

    Raises
    ------
    BadSource
        With all problems of the outputs.
    CommandStopped
        If `stop` is set.
    """
    if source.kind == "folder":
        yield _read(source.pattern, wanted, metrics, day, None)
        return
    with tempfile.TemporaryDirectory(prefix="steelyard-night-", ignore_cleanup_errors=True) as folder:
        run_command(
            source.command,
            folder=source.folder,
            environment={
                "STEELYARD_DATE": day.isoformat(),
                "STEELYARD_SCHEDULE": schedule,
                "STEELYARD_TEST_SETS": "\n".join(each.title for each in wanted),
                "STEELYARD_OUTPUT": folder,
            },
            seconds=source.seconds,
            stop=stop,
            passed_on=passed_on,
        )
        yield _read(source.pattern, wanted, metrics, day, Path(folder))


def _read(
    pattern: Pattern, wanted: Sequence[WantedTestSet], metrics: Sequence[str], day: date, output: Path | None
) -> dict[str, dict[str, Text]]:
    problems: list[str] = []
    found: dict[str, list[FoundOutput]] = {}
    for test_set in wanted:
        try:
            found[test_set.title] = pattern.find(day, test_set.title, output)
        except BadSource as error:
            problems.append(str(error))
    problems += _faults_of_names(found)
    layers = {layer: each for each in metrics for layer in parse_metric(each).layers}
    texts: dict[str, dict[str, Text]] = {}
    for test_set in wanted:
        for each in found.get(test_set.title, ()):
            try:
                text = read_text(each.path, limits=STORING_LIMITS)
            except BadText as error:
                problems.append(str(error))
                continue
            problems += _faults_of_text(text, test_set, layers)
            texts.setdefault(test_set.title, {})[each.system] = text
    if problems:
        more = f"\nand {len(problems) - SHOWN:,} more problems." if len(problems) > SHOWN else ""
        raise BadSource("\n".join(problems[:SHOWN]) + more)
    return texts


def _faults_of_names(found: Mapping[str, Sequence[FoundOutput]]) -> list[str]:
    problems = []
    everywhere: dict[str, str] = {}
    for files in found.values():
        for each in files:
            if fault := fault_of_name(each.system):
                problems.append(f"{printable(str(each.path))}: not usable as the name of a system: {fault}. Rename it.")
            twin = everywhere.setdefault(folded(each.system), each.system)
            if twin != each.system:
                problems.append(
                    f"{printable(str(each.path))}: there is also a system {twin!r}, a name too similar. Rename one."
                )
    for test_set, files in found.items():
        missing = sorted(set(everywhere.values()) - {each.system for each in files})
        if missing:
            problems.append(f"No output for the test set {test_set} from {listed(missing)}, only for other test sets.")
    return problems


def _faults_of_text(text: Text, test_set: WantedTestSet, layers: Mapping[str, str]) -> list[str]:
    problems = []
    if text.segments != test_set.segments:
        problems.append(
            f"{text.name}: has {number_of(text.segments, text.unit)}, but the test set {test_set.title} has "
            f"{number_of(test_set.segments, 'segment')}."
        )
    for layer, metric in layers.items():
        if layer not in text.layers:
            problems.append(
                f"{text.name}: lacks the layer {describe_layers([layer])}, which {metric} needs. "
                f"Formats that have it: {formats_with(layer)}."
            )
    return problems
