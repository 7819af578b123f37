"""What the commands of the library print for a small world of files, to the letter.

A change of these files is a change that users see: look at the difference, and keep it with
`python -m tests.library.commands.printed.command_lines`.
"""

from __future__ import annotations

import pytest

from tests.library.commands.printed.command_lines import COMMAND_LINES, GOLDEN, file_of


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_commands_print_what_they_did(command: str) -> None:
    texts = (GOLDEN / f"{command}.txt").read_text(), file_of(command)
    # By command line, so that a failure names the one that differs.
    kept, found = ((text + "\n").split("$ steelyard ") for text in texts)
    for ours, theirs in zip(found, kept, strict=False):
        assert ours == theirs
    assert len(found) == len(kept)
