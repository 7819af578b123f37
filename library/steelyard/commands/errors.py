"""Errors of commands, and how all errors are reported to the user."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Explain = Callable[[Exception], tuple[str, int] | None]
    """From an error to its message and the exit status; to None where it is unexpected."""


class CommandError(Exception):
    """The command fails because of its data or the current state: exit status 1."""


class UsageError(CommandError):
    """The command line is invalid, whatever the data and the state: exit status 2."""


def explained(error: Exception) -> tuple[str, int] | None:
    """The message and the exit status for an error; None for an unexpected one, which keeps its traceback.

    Parameters
    ----------
    error : Exception

    Returns
    -------
    (str, int) or None
    """
    from steelyard.errors import BadParameter, MetricsError, UnknownMetric

    if isinstance(error, (UsageError, UnknownMetric, BadParameter)):
        return str(error), 2
    if isinstance(error, (CommandError, MetricsError)):
        return str(error), 1
    if isinstance(error, OSError) and error.strerror:
        # Errors of read and write carry no file name.
        return f"{error.filename or 'A file'}: {error.strerror}.", 1
    return None


def exit_status(program: str, command: Callable[[], int], explain: Explain = explained) -> int:
    """Run a command; its exit status, and one line on standard error for every error that can be explained.

    Parameters
    ----------
    program : str
    command : callable
    explain : Explain, optional

    Returns
    -------
    int
    """
    # Whatever the locale: tables have arrows, JSON is UTF-8, pages and LaTeX say or take for granted that they are.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = command()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe; without this Python would report it again when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print(f"{program}: interrupted.", file=sys.stderr)
        return 130
    except Exception as error:
        explanation = explain(error)
        if explanation is None:
            raise
        message, status = explanation
        from steelyard.text.names import visible

        print(f"{program}: {visible(message)}", file=sys.stderr)
    return status
