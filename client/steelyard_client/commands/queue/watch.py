"""Repeated display of the status, until Ctrl-C or until everything is done."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Protocol

from steelyard_client.errors import ServerUnreachable, TooMany, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, RenderableType

WATCH_SECONDS = 1.0
"""Default interval between two reads of the queue."""


class Look(Protocol):
    """A snapshot of the status, of a database or a server."""

    @property
    def open(self) -> int:
        """The number of selected items that are open."""

    def text(self) -> str:
        """Plain text."""

    def sections(self) -> list[RenderableType]:
        """Parts of a live view."""

    def show(self) -> None:
        """Print it once, as wide as a terminal."""

    def json(self, *, indent: int | None = None) -> str:
        """One object, ended by a newline."""


def watch(look: Callable[[], Look], every: float, *, until_done: bool, as_lines: bool) -> int:
    """Show every snapshot: in place on a terminal, elsewhere as blocks of text, or `as_lines` of JSON.

    `every` is the interval in seconds. Ctrl-C ends it and is no error. An outage of the database or server is waited
    for, unless the first read fails, whose error is raised.
    """
    from rich.console import Console

    console = Console(highlight=False)
    try:
        if console.is_terminal and not console.is_dumb_terminal and not as_lines:
            _in_place(console, look, every, until_done)
        else:
            _block_by_block(look, every, until_done, as_lines)
    except KeyboardInterrupt:
        pass
    return 0


def _in_place(console: Console, look: Callable[[], Look], every: float, until_done: bool) -> None:
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    status = look()
    with Live(Group(*status.sections()), console=console, auto_refresh=False) as live:
        while not (until_done and not status.open):
            time.sleep(every)
            status, problem = _again(look, status)
            parts = status.sections()
            live.update(Group(*parts, *([Text(f"\n{problem}")] if problem else [])), refresh=True)


def _block_by_block(look: Callable[[], Look], every: float, until_done: bool, as_lines: bool) -> None:
    status = look()
    _write(status, as_lines)
    while not (until_done and not status.open):
        time.sleep(every)
        status, problem = _again(look, status)
        if problem:
            print(f"steelyard: {problem}", file=sys.stderr)
            continue
        if not as_lines:
            print()
        _write(status, as_lines)


def _write(status: Look, as_lines: bool) -> None:
    sys.stdout.write(status.json() if as_lines else status.text())
    sys.stdout.flush()


def _again(look: Callable[[], Look], before: Look) -> tuple[Look, str]:
    """The next snapshot and ""; during an outage the previous one and the error."""
    try:
        return look(), ""
    except (ServerUnreachable, TooMany, Unavailable) as error:
        return before, str(error)
