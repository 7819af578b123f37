"""The files that `score` is given: plain texts, or documents in a markup that names references and systems."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.errors import UsageError
from metrics.errors import BadText
from metrics.text.names import printable, system_name
from metrics.text.plain import STDIN, check_same_length, read_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metrics.text.plain import Text

PEEK = 1 << 16
"""Bytes of a file by which its format is told."""


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
        texts = [*self.references, *self.systems]
        common = set.intersection(*(set(text.layers) for text in texts))
        return {layer: [text.layers[layer] for text in texts] for layer in sorted(common)}


def read_inputs(references: Sequence[str], systems: Sequence[str], *, variable_references: bool) -> Inputs:
    """Read reference and system files, in which segments are matched by line, or by id where they have ids.

    Raises BadText, and UsageError where plain and marked-up files are mixed.
    """
    if [*references, *systems].count(STDIN) > 1:
        raise UsageError("Standard input can be read only once.")
    marked = [path for path in (*references, *systems) if is_marked(path)]
    if not marked:
        return _plain(references, systems, variable_references)
    if len(marked) < len(references) + len(systems):
        raise UsageError(
            f"{marked[0]} has ids for its segments, but other files are plain text: "
            "give references and systems in formats that have ids, or all as plain text."
        )
    return _marked(references, systems, variable_references)


def is_marked(path: str) -> bool:
    """Whether a file is in mteval's format or WMT's XML; a missing one is left to its reader."""
    from metrics.text.formats import looks_like

    if path == STDIN:
        return False
    try:
        with open(path, "rb") as file:
            return looks_like(file.read(PEEK)) != "plain"
    except OSError:
        return False


def _plain(references: Sequence[str], systems: Sequence[str], variable_references: bool) -> Inputs:
    texts = [read_lines(path) for path in (*references, *systems)]
    check_same_length(texts[0], texts[1:])
    if not texts[0].segments:
        raise BadText(f"{texts[0].name}: is empty. A reference has one segment per line.")
    notices = [notice for text in texts for notice in text.notices]
    names = [printable(system_name(path)) for path in systems]
    twice = [name for name, count in Counter(names).items() if count > 1]
    notices += [f'Several systems are called "{name}"; they stand in the order given.' for name in twice]
    return Inputs(texts[: len(references)], texts[len(references) :], names, variable_references, notices)


def _marked(references: Sequence[str], systems: Sequence[str], variable_references: bool) -> Inputs:
    from metrics.text.alignment import align
    from metrics.text.formats import read_marked_file

    paths = dict.fromkeys((*references, *systems))
    campaign = align([read_marked_file(path) for path in paths]).campaign()
    return Inputs(
        list(campaign.references.values()),
        list(campaign.systems.values()),
        list(campaign.systems),
        campaign.variable_references or variable_references,
        list(campaign.notices),
        campaign.target_language or "",
    )
