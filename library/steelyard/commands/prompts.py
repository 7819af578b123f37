"""Interactive questions; a pipe can answer them where that is safe."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator


def ask(question: str) -> str:
    """The answer, without spaces around it. Raises CommandError where the input ends instead (Ctrl-D).

    Parameters
    ----------
    question : str

    Returns
    -------
    str
    """
    with _answered():
        return input(question).strip()


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation, unless `yes`. Raises CommandError without a terminal or where the answer is no.

    Parameters
    ----------
    question : str
    yes : bool
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError("There is no terminal to ask at, so nothing was done. Add --yes to do it.")
    if ask(f"{question} [y/N] ").lower() not in {"y", "yes"}:
        raise CommandError("Nothing was done.")


def ask_secret(*questions: str) -> list[str]:
    """The answers to the questions, typed without echo; in a pipe its first line answers all of them.

    Secrets are never read from the command line, which others can see. Raises CommandError where the input ends
    instead (Ctrl-D).

    Parameters
    ----------
    *questions : str

    Returns
    -------
    list of str
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
        # End the line of the question.
        print(file=sys.stderr)
        raise CommandError("The input ended without an answer. Nothing was changed.") from error
