"""The progress of long work, on standard error: bars on a terminal, a line at each change elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Show = Callable[..., None]


@contextmanager
def shown_progress(*names: str) -> Iterator[Show]:
    """A function that shows how much of each is done: with two names, `show((3, 9), (10, 80))`.

    Elsewhere than on a terminal, a line is printed when there is more of the first.
    """
    if not sys.stderr.isatty():
        yield _line_by_line(names)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bars:
        tasks = [bars.add_task(name, total=None) for name in names]

        def show(*amounts: tuple[int, int]) -> None:
            for task, (done, total) in zip(tasks, amounts, strict=True):
                bars.update(task, total=total, completed=done)

        yield show


@contextmanager
def working(on: str) -> Iterator[None]:
    """Show a status line on a terminal while the block runs; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(on)):
        yield


def _line_by_line(names: tuple[str, ...]) -> Show:
    last = -1

    def show(*amounts: tuple[int, int]) -> None:
        nonlocal last
        if amounts[0][0] != last:
            last = amounts[0][0]
            said = (f"{name} {done} of {total}" for name, (done, total) in zip(names, amounts, strict=True))
            print(", ".join(said), file=sys.stderr)

    return show
