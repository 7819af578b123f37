"""The input files of `score`: texts matched by position, or documents with ids."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from steelyard.commands.errors import CommandError, UsageError
from steelyard.errors import BadText
from steelyard.formats.campaign.pairing import check_pairing
from steelyard.formats.detection import read_file
from steelyard.formats.file_names import system_name
from steelyard.formats.input.contents import STDIN
from steelyard.formats.layers import common_layers
from steelyard.formats.markup.documents import Role
from steelyard.formats.plain import Text
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits, check_systems
from steelyard.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.formats.markup.documents import MarkedFile


class GivenSystem(NamedTuple):
    """A system as the command line names it."""

    files: Sequence[str]
    """One for each run."""
    name: str | None = None
    """None where the file names the system."""


@dataclass(frozen=True)
class InputSystem:
    """A system, and where its outputs are."""

    name: str
    outputs: range
    """Positions in `Inputs.outputs`, one for each run."""
    runs: tuple[str, ...] | None = None
    """Names of its runs; None where it was not given as runs and has one output."""

    def label(self, output: int) -> str:
        """The display name of one of its outputs.

        Parameters
        ----------
        output : int

        Returns
        -------
        str
        """
        return self.name if self.runs is None else f"{self.name}/{self.runs[output - self.outputs.start]}"


@dataclass(frozen=True)
class Inputs:
    """Texts of equally many segments, at least one."""

    references: list[Text]
    outputs: list[Text]
    systems: list[InputSystem]
    variable_references: bool
    notices: list[str]
    source: Text | None = None
    """What was translated, where it was given or the files have it."""
    language: str = ""
    """Code of the target language, where the files name it."""
    test_set: str = ""
    """The name of the test set, where the files have one."""
    segment_ids: Sequence[tuple[str, str]] | None = None
    """Document and segment, where the files name them."""

    @property
    def names(self) -> list[str]:
        """The names of the systems, in their order."""
        return [system.name for system in self.systems]

    @property
    def labels(self) -> list[str]:
        """The names of the outputs, in their order: the system, and the run where it has several."""
        return [system.label(output) for system in self.systems for output in system.outputs]

    @property
    def layers(self) -> dict[str, list[bytes]]:
        """The linguistic layers that all texts have: by name, references first."""
        return {layer: [text.layers[layer] for text in self.texts] for layer in sorted(common_layers(self.texts))}

    @property
    def texts(self) -> list[Text]:
        """References, then outputs."""
        return [*self.references, *self.outputs]


@dataclass(frozen=True)
class InputFile:
    """A file and the part to read from it: a layer or a zone."""

    path: str
    part: str | None = None

    @property
    def label(self) -> str:
        """The name of the reference or system in it, where the file does not say it."""
        return "stdin" if self.path == STDIN else system_name(self.path)

    @property
    def system(self) -> str:
        """The name of the system in it."""
        return printable(system_name(self.path) + (f".{self.part}" if self.part else ""))


def input_file(argument: str) -> InputFile:
    """`FILE`, or `FILE:PART` where there is no file of that whole name.

    Parameters
    ----------
    argument : str

    Returns
    -------
    InputFile
    """
    path, colon, part = argument.rpartition(":")
    if colon and path and part and os.sep not in part and not os.path.lexists(argument):
        return InputFile(path, part)
    return InputFile(argument)


def allowed_systems() -> TextLimits:
    """The limits on the input, with STEELYARD_MOST_SYSTEMS. Raises UsageError.

    `runtime.settings` reads the variable too, but loading it takes longer than scoring a system.

    Returns
    -------
    TextLimits
    """
    given = os.environ.get("STEELYARD_MOST_SYSTEMS") or str(DEFAULT_LIMITS.systems)
    if not given.isdecimal() or not int(given):
        raise UsageError(f"STEELYARD_MOST_SYSTEMS={given!r}: must be a whole number from 1 on.")
    return replace(DEFAULT_LIMITS, systems=int(given))


def read_inputs(
    references: Sequence[str],
    systems: Sequence[GivenSystem],
    *,
    variable_references: bool,
    input_format: str | None = None,
    part: str | None = None,
    source: str | None = None,
) -> Inputs:
    """Read reference and system files, in which segments are matched by position, or by id where they have ids.

    `source` is the file of what was translated; files with ids may have it themselves.

    `input_format` is the format of all files; None detects each from its content. `part` is the layer or zone to read
    where a file argument names none. Raises BadText, and CommandError where files with and without ids of documents are
    mixed, or where runs have ids.

    Parameters
    ----------
    references : sequence of str
    systems : sequence of GivenSystem
    variable_references : bool
    input_format : str or None, optional
    part : str or None, optional
    source : str or None, optional

    Returns
    -------
    Inputs
    """
    outputs = [file for system in systems for file in system.files]
    arguments = [*references, *outputs, *([] if source is None else [source])]
    if arguments.count(STDIN) > 1:
        raise UsageError("Standard input can be read only once.")
    check_systems(len(arguments), "The files given", allowed_systems())
    files = [input_file(argument) for argument in arguments]
    marked: dict[tuple[InputFile, Role], MarkedFile] = {}
    texts: dict[InputFile, Text] = {}
    for position, file in enumerate(files):
        role = Role.REFERENCE if position < len(references) else Role.SYSTEM
        if position == len(references) + len(outputs):
            role = Role.SOURCE
        # A file that names its texts is read once; of others the reference may be one field, the output another.
        seen = [each for each, read in marked.items() if each[0] == file and (each[1] is role or not read.as_given)]
        if file in texts or seen:
            continue
        read = read_file(file.path, format=input_format, part=file.part or part, role=role, label=file.label)
        if isinstance(read, Text):
            texts[file] = read
        else:
            marked[file, role] = read
    if not marked:
        named = _named(systems, files[len(references) :])
        given = [texts[file] for file in files]
        translated = None if source is None else given.pop()
        return _by_position(given, translated, named, len(references), variable_references)
    if texts:
        raise CommandError(
            f"{next(iter(marked.values())).name} has ids for its segments, but {next(iter(texts.values())).name} is "
            "matched by position: give references and systems in formats with ids, or all in others."
        )
    for system in systems:
        if system.name is not None:
            raise CommandError(
                f"--system {system.name}: its files have ids, and runs are matched by position. Give them after -i."
            )
    _check_labels(marked)
    return _by_ids(list(marked.values()), variable_references)


def _check_labels(marked: Mapping[tuple[InputFile, Role], MarkedFile]) -> None:
    """Raise CommandError where two files that do not name their texts would get the same name."""
    known: dict[tuple[str, Role], str] = {}
    for (file, role), read in marked.items():
        before = known.setdefault((file.label, role), file.path)
        if read.as_given and before != file.path:
            raise CommandError(f"{before} and {file.path} are both called {file.label!r}. Rename one of the files.")


def _named(systems: Sequence[GivenSystem], files: Sequence[InputFile]) -> list[InputSystem]:
    """The systems with names for themselves and their runs; `files` are those of all systems in their order."""
    begins = accumulate((len(system.files) for system in systems), initial=0)
    found = []
    for system, begin in zip(systems, begins, strict=False):
        outputs = range(begin, begin + len(system.files))
        names = tuple(file.system for file in files[begin : outputs.stop])
        if system.name is None:
            found.append(InputSystem(names[0], outputs))
        else:
            # Files such as seed1/out.txt and seed2/out.txt do not say which run they are.
            runs = names if len(set(names)) == len(names) else tuple(str(number + 1) for number in range(len(names)))
            found.append(InputSystem(printable(system.name), outputs, runs))
    return found


def _by_position(
    texts: list[Text], source: Text | None, systems: list[InputSystem], references: int, variable_references: bool
) -> Inputs:
    every = texts if source is None else [*texts, source]
    check_pairing(every)
    if not texts[0].segments:
        raise BadText(f"{texts[0].name}: is empty. A reference has one segment per line.")
    notices = list(dict.fromkeys(notice for text in every for notice in text.notices))
    twice = [name for name, count in Counter(system.name for system in systems).items() if count > 1]
    notices += [f'Several systems are called "{name}"; they are shown in the order given.' for name in twice]
    outputs = texts[references:]
    for system in systems:
        if len({outputs[output].bytes for output in system.outputs}) < len(system.outputs):
            notices.append(
                f'Runs of "{system.name}" have identical output: is a file given twice? '
                "That would understate the variation between runs."
            )
    language = next((text.language for text in texts if text.language), "")
    return Inputs(texts[:references], outputs, systems, variable_references, notices, source, language)


def _by_ids(files: Sequence[MarkedFile], variable_references: bool) -> Inputs:
    from steelyard.formats.campaign.alignment import align

    aligned = align(files)
    campaign = aligned.campaign()
    given = [text.name for file in files if file.as_given for text in file.of(Role.SYSTEM)]
    order = list(dict.fromkeys([*given, *campaign.systems]))
    return Inputs(
        list(campaign.references.values()),
        [campaign.systems[name] for name in order],
        [InputSystem(name, range(place, place + 1)) for place, name in enumerate(order)],
        campaign.variable_references or variable_references,
        list(campaign.notices),
        campaign.source,
        campaign.target_language or "",
        campaign.name,
        [(document.doc_id, segment) for document, segment in zip(aligned.documents, aligned.segment_ids, strict=True)],
    )
