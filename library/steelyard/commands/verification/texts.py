"""Which of the files given hold the texts that were scored: by their content, as a result names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError
from steelyard.commands.scoring.inputs import input_file
from steelyard.commands.scoring.score_json import digest
from steelyard.formats.detection import read_file
from steelyard.formats.markup.documents import Role
from steelyard.formats.plain import Text

if TYPE_CHECKING:
    from collections.abc import Sequence


def files_by_content(files: Sequence[str]) -> dict[str, str]:
    """Each file by the hash of its text.

    Raises CommandError for files with ids, whose texts are known only once they are matched.

    Parameters
    ----------
    files : sequence of str

    Returns
    -------
    dict of str to str
    """
    found: dict[str, str] = {}
    for argument in files:
        file = input_file(argument)
        read = read_file(file.path, part=file.part, role=Role.SYSTEM, label=file.label)
        if not isinstance(read, Text):
            raise CommandError(f"{argument} has ids for its segments: give references first, and the systems after -i.")
        found.setdefault(digest(read), argument)
    return found
