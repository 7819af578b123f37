"""Looking at the queue again and again, until the user has seen enough or everything is done."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from cli.errors import explained
from cli.status_output import as_json, as_text, sections

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from cli.status_output import Status


def watch(look: Callable[[], Status], every: float, *, until_done: bool, as_lines: bool) -> int:
    """Show every look: in place on a terminal, elsewhere as blocks of text, or `as_lines` of JSON.

    `every` is the time between two looks in seconds. Ctrl-C is the usual way to end it, and no error. A database that
    is away for a while is waited for; where not even the first look succeeds, its error is raised.
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


def _in_place(console: Console, look: Callable[[], Status], every: float, until_done: bool) -> None:
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    status = look()
    with Live(Group(*sections(status, live=True)), console=console, auto_refresh=False) as live:
        while not (until_done and not status.overview.open):
            time.sleep(every)
            status, trouble = _again(look, status)
            parts = sections(status, live=True)
            live.update(Group(*parts, *([Text(f"\n{trouble}")] if trouble else [])), refresh=True)


def _block_by_block(look: Callable[[], Status], every: float, until_done: bool, as_lines: bool) -> None:
    status = look()
    _write(status, as_lines)
    while not (until_done and not status.overview.open):
        time.sleep(every)
        status, trouble = _again(look, status)
        if trouble:
            print(f"steelyard: {trouble}", file=sys.stderr)
            continue
        if not as_lines:
            print()
        _write(status, as_lines)


def _write(status: Status, as_lines: bool) -> None:
    sys.stdout.write(as_json(status) if as_lines else as_text(status))
    sys.stdout.flush()


def _again(look: Callable[[], Status], before: Status) -> tuple[Status, str]:
    """Another look; where the database cannot be read, the one before and what is wrong."""
    from sqlalchemy.exc import DBAPIError

    try:
        return look(), ""
    except DBAPIError as error:
        explanation = explained(error)
        if explanation is None:
            raise
        return before, explanation[0]
