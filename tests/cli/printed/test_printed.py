"""Every command of the client, with answers that are made up: what it asks for and prints, to the letter.

A change of these files is a change that users see, or that servers of other releases may not understand: look at the
difference, and keep it with `python -m tests.cli.printed.asked_and_printed`.
"""

from __future__ import annotations

import pytest

from tests.cli.printed.asked_and_printed import GOLDEN, every_command, file_of
from tests.kept_texts import assert_as_kept

NOUNS = list(dict.fromkeys(name.split()[0] for name, _ in every_command()))


def test_every_noun_has_a_file() -> None:
    assert sorted(each.stem for each in GOLDEN.iterdir()) == sorted(NOUNS)


@pytest.mark.parametrize("noun", NOUNS)
def test_commands_ask_for_and_print_what_they_did(noun: str) -> None:
    assert_as_kept(GOLDEN / f"{noun}.txt", file_of(noun))
