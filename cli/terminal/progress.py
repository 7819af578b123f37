"""The progress of long work, on standard error."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress as Bar

    from models.queue_status.progress import ComparisonProgress, Progress

MOMENT = 0.5
"""Seconds that work takes before its progress is worth a line."""


@contextmanager
def shown_progress() -> Iterator[Callable[[Progress], None]]:
    """A function that shows how far things are: a bar on a terminal, now and then a line elsewhere."""
    if not sys.stderr.isatty():
        yield _line_by_line()
        return
    with _bar() as bar:
        shards = bar.add_task("shards", total=None)
        evaluations = bar.add_task("evaluations", total=None)

        def show(progress: Progress) -> None:
            bar.update(shards, total=progress.shards, completed=progress.shards_done)
            bar.update(evaluations, total=_evaluations(progress), completed=_evaluations(progress) - progress.open)

        yield show


@contextmanager
def shown_segments() -> Iterator[Callable[[int, int], None]]:
    """As `shown_progress`, for what a server tells: segments measured and segments in all."""
    if not sys.stderr.isatty():
        yield lambda done, every: print(f"segments {done} of {every}", file=sys.stderr)
        return
    with _bar() as bar:
        segments = bar.add_task("segments", total=None)
        yield lambda done, every: bar.update(segments, total=every, completed=done)


@contextmanager
def shown_trials() -> Iterator[Callable[[ComparisonProgress], None]]:
    """As `shown_progress`, for the trials of randomization tests."""
    if not sys.stderr.isatty():
        yield lambda progress: print(f"trials {progress.trials_done} of {progress.trials}", file=sys.stderr)
        return
    with _bar() as bar:
        trials = bar.add_task("trials", total=None)
        yield lambda progress: bar.update(trials, total=progress.trials, completed=progress.trials_done)


def counted(what: str) -> Callable[[int, int], None] | None:
    """A function that shows how many of how many are done, in one line, where the work takes longer than a moment.

    None where there is no terminal. The line needs no `rich`, whose import would take longer than most such work.
    """
    if not sys.stderr.isatty():
        return None
    begun, shown = time.monotonic(), False

    def show(done: int, every: int) -> None:
        nonlocal shown
        if shown or (done < every and time.monotonic() - begun >= MOMENT):
            shown = True
            end = "\n" if done == every else ""
            print(f"\r{done} of {every} {what}", end=end, file=sys.stderr, flush=True)

    return show


@contextmanager
def working(on: str) -> Iterator[None]:
    """What is worked on, on a terminal, until it is done; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(on)):
        yield


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Bar(*columns, console=Console(stderr=True))


def _line_by_line() -> Callable[[Progress], None]:
    last = -1

    def show(progress: Progress) -> None:
        nonlocal last
        done = _evaluations(progress) - progress.open
        if done != last:
            last = done
            print(
                f"evaluations {done} of {_evaluations(progress)}, shards {progress.shards_done} of {progress.shards}",
                file=sys.stderr,
            )

    return show


def _evaluations(progress: Progress) -> int:
    return progress.open + progress.done + progress.failed + progress.cancelled
