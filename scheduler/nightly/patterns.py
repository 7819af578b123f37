"""Path patterns that locate outputs: out/{date}/{test_set}/{system}.txt."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from scheduler.errors import BadSchedule, BadSource
from steelyard.formats.input.given_files import TooManyFiles, list_given
from steelyard.text.names import printable

OUTPUT = "output"
LONGEST = 4096
"""Maximum length of a pattern: no path is longer."""
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_KNOWN = re.compile(r"date(?::(?P<format>.*))?|test_set|system|output")
_EXAMPLE = "out/{date}/{test_set}/{system}.txt"


@dataclass(frozen=True, slots=True)
class FoundOutput:
    """A system's output for a test set."""

    system: str
    path: Path


@dataclass(frozen=True, slots=True)
class Pattern:
    """A path with placeholders.

    `{date}` is the date of the run, YYYY-MM-DD, or formatted as in `{date:%Y%m%d}`; `{test_set}` the name of the test
    set; `{system}` matches any name, which becomes the system's; `{output}` is the folder given to a command.
    """

    text: str

    def check(self, test_sets: Sequence[str], *, command: bool) -> None:
        """Raise BadSchedule unless the pattern suits these test sets; `command` if a command writes the outputs."""
        if len(self.text) > LONGEST:
            raise BadSchedule(f"The pattern has {len(self.text):,} characters; a path has {LONGEST:,} at most.")
        names = [match[1] for match in _PLACEHOLDER.finditer(self.text)]
        for name in names:
            if not _KNOWN.fullmatch(name) or (name == OUTPUT and not command):
                known = ["{date}", "{date:%Y%m%d}", "{test_set}", "{system}", *(["{output}"] if command else [])]
                raise BadSchedule(
                    f'"{{{name}}}" in the pattern "{self.text}" is no placeholder. There are: {", ".join(known)}.'
                )
        if re.search(r"[{}]", _PLACEHOLDER.sub("", self.text)):
            raise BadSchedule(f'The pattern "{self.text}" has a brace without its partner.')
        if "system" not in names:
            raise BadSchedule(f'The pattern "{self.text}" does not say where a system\'s name is. Write {_EXAMPLE}.')
        if len(test_sets) > 1 and "test_set" not in names:
            raise BadSchedule(
                f'The pattern "{self.text}" finds the same files for all of {len(test_sets)} test sets. '
                f"Write {{test_set}} in it, as in {_EXAMPLE}."
            )
        for test_set in test_sets:
            if "test_set" in names and "/" in test_set:
                raise BadSchedule(f'The name of the test set "{test_set}" cannot be part of a path: it has a slash.')

    @property
    def absolute(self) -> Pattern:
        """The pattern as an absolute path, independent of the scheduler's working directory."""
        return self if self.text.startswith("{output}") else Pattern(os.path.abspath(self.text))

    def filled(self, day: date, test_set: str, output: Path | None = None) -> str:
        """The pattern with all placeholders but the system replaced."""

        def put_in(match: re.Match[str]) -> str:
            name, known = match[1], _KNOWN.fullmatch(match[1])
            if known and known["format"]:
                return day.strftime(known["format"])
            return {"date": day.isoformat(), "test_set": test_set, OUTPUT: str(output)}.get(name, match[0])

        return _PLACEHOLDER.sub(put_in, self.text)

    def find(self, day: date, test_set: str, output: Path | None = None) -> list[FoundOutput]:
        """The outputs for a test set, sorted by system name.

        Raises
        ------
        BadSource
            If there are none, or if a folder cannot be read.
        """
        filled = self.filled(day, test_set, output)
        try:
            found = sorted(_walk(Path("/"), filled.strip("/").split("/"), None), key=lambda each: each.system)
        except OSError as error:
            raise BadSource(f"{error.filename}: {error.strerror}.") from error
        except TooManyFiles as error:
            raise BadSource(str(error)) from error
        if found:
            return found
        folder = Path(os.path.dirname(filled.partition("{system}")[0]) or "/")
        missing = "" if folder.is_dir() else f" The folder {printable(str(folder))} does not exist."
        raise BadSource(f"No output for the test set {test_set}: no file matches {printable(filled)}.{missing}")


def _walk(folder: Path, parts: Sequence[str], system: str | None) -> Iterator[FoundOutput]:
    """All files below a folder whose path matches these parts, with one name for {system}."""
    part, rest = parts[0], parts[1:]
    if system is not None:
        part = part.replace("{system}", system)
    if "{system}" not in part:
        yield from _descend(folder / part, rest, system)
        return
    try:
        paths = list_given(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    for path in paths:
        found = system_in(path.name, part)
        # Hidden files are being written, or belong to an editor.
        if found and not path.name.startswith("."):
            yield from _descend(path, rest, found)


def system_in(name: str, part: str) -> str:
    """The name that {system} matches if this part of a pattern matches `name`; "" if it does not match.

    Every occurrence matches the same name, so the lengths determine it: no backtracking, whatever their number.
    """
    around = part.split("{system}")
    length, left = divmod(len(name) - sum(map(len, around)), len(around) - 1)
    if length < 1 or left:
        return ""
    begin = len(around[0])
    found = name[begin : begin + length]
    return found if found.join(around) == name else ""


def _descend(path: Path, rest: Sequence[str], system: str | None) -> Iterator[FoundOutput]:
    if rest:
        yield from _walk(path, rest, system)
    elif path.is_file():
        assert system is not None
        yield FoundOutput(system, path)
