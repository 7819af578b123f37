"""Questions to whoever sits at the keyboard. A pipe answers them, too, where that is safe."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator


def ask(question: str) -> str:
    """The answer, without spaces around it. Raises CommandError where the input ends instead (Ctrl-D)."""
    with _answered():
        return input(question).strip()


def ask_secret(*questions: str) -> list[str]:
    """What is typed after each question, and not shown; from a pipe its first line for all of them.

    Never from the command line, which others see. Raises CommandError where the input ends instead (Ctrl-D).
    """
    if not sys.stdin.isatty():
        return [sys.stdin.readline().rstrip("\n")] * len(questions)
    from getpass import getpass

    with _answered():
        return [getpass(question) for question in questions]


@contextmanager
def _answered() -> Iterator[None]:
    try:
        yield
    except EOFError as error:
        # The cursor still stands behind the question.
        print(file=sys.stderr)
        raise CommandError("The input ended without an answer. Nothing was changed.") from error
