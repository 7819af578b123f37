"""The files that `score` is given: texts matched by position, or documents that name their texts and have ids."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.errors import UsageError
from metrics.errors import BadText
from metrics.text.contents import STDIN
from metrics.text.formats import read_file
from metrics.text.layers import common_layers
from metrics.text.names import printable, system_name
from metrics.text.pairing import check_pairing
from metrics.text.plain import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metrics.text.documents import MarkedFile
    from metrics.text.formats import Format


@dataclass(frozen=True)
class Inputs:
    """Texts of equally many segments, at least one."""

    references: list[Text]
    systems: list[Text]
    names: list[str]
    """Of the systems, in their order."""
    variable_references: bool
    notices: list[str]
    language: str = ""
    """Code of the target language, where the files name it."""

    @property
    def layers(self) -> dict[str, list[bytes]]:
        """The linguistic layers that all texts have: by name, references first."""
        return {layer: [text.layers[layer] for text in self.texts] for layer in sorted(common_layers(self.texts))}

    @property
    def texts(self) -> list[Text]:
        """References, then systems."""
        return [*self.references, *self.systems]


@dataclass(frozen=True)
class InputFile:
    """A file, and the part of it that is meant: a layer or a zone."""

    path: str
    part: str | None = None

    @property
    def system(self) -> str:
        """What a system that it holds is called."""
        return printable(system_name(self.path) + (f".{self.part}" if self.part else ""))


def input_file(argument: str) -> InputFile:
    """`FILE`, or `FILE:PART` where there is no file of that whole name."""
    path, colon, part = argument.rpartition(":")
    if colon and path and part and os.sep not in part and not os.path.lexists(argument):
        return InputFile(path, part)
    return InputFile(argument)


def read_inputs(
    references: Sequence[str],
    systems: Sequence[str],
    *,
    variable_references: bool,
    input_format: Format | None = None,
    part: str | None = None,
) -> Inputs:
    """Read reference and system files, in which segments are matched by position, or by id where they have ids.

    Their formats are found from the content unless `input_format` says it of all. `part` is the layer or zone to take
    where a file names none.
    Raises BadText, and UsageError where files with and without ids of documents are mixed.
    """
    if [*references, *systems].count(STDIN) > 1:
        raise UsageError("Standard input can be read only once.")
    files = [input_file(argument) for argument in (*references, *systems)]
    marked: list[MarkedFile] = []
    texts: dict[InputFile, Text] = {}
    for file in dict.fromkeys(files):
        read = read_file(file.path, format=input_format, part=file.part or part)
        if isinstance(read, Text):
            texts[file] = read
        else:
            marked.append(read)
    if not marked:
        return _by_position(
            [texts[file] for file in files], files[len(references) :], len(references), variable_references
        )
    if texts:
        raise UsageError(
            f"{marked[0].name} has ids for its segments, but {next(iter(texts.values())).name} is matched by position: "
            "give references and systems in formats that have ids of documents, or all in others."
        )
    return _by_ids(marked, variable_references)


def _by_position(texts: list[Text], systems: Sequence[InputFile], references: int, variable_references: bool) -> Inputs:
    check_pairing(texts)
    if not texts[0].segments:
        raise BadText(f"{texts[0].name}: is empty. A reference has one segment per line.")
    notices = list(dict.fromkeys(notice for text in texts for notice in text.notices))
    names = [file.system for file in systems]
    twice = [name for name, count in Counter(names).items() if count > 1]
    notices += [f'Several systems are called "{name}"; they stand in the order given.' for name in twice]
    language = next((text.language for text in texts if text.language), "")
    return Inputs(texts[:references], texts[references:], names, variable_references, notices, language)


def _by_ids(files: Sequence[MarkedFile], variable_references: bool) -> Inputs:
    from metrics.text.alignment import align

    campaign = align(files).campaign()
    return Inputs(
        list(campaign.references.values()),
        list(campaign.systems.values()),
        list(campaign.systems),
        campaign.variable_references or variable_references,
        list(campaign.notices),
        campaign.target_language or "",
    )
