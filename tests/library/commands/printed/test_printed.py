"""What the commands of the library print for a small world of files, to the letter.

A change of these files is a change that users see: look at the difference, and keep it with
`python -m tests.library.commands.printed.command_lines`.
"""

from __future__ import annotations

import pytest

from tests.kept_texts import assert_as_kept
from tests.library.commands.printed.command_lines import COMMAND_LINES, GOLDEN, file_of


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_commands_print_what_they_did(command: str) -> None:
    assert_as_kept(GOLDEN / f"{command}.txt", file_of(command))
