"""The progress of long work, on standard error."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress as Bar

    from models.queue_status.progress import ComparisonProgress, Progress


@contextmanager
def shown_progress() -> Iterator[Callable[[Progress], None]]:
    """A function that shows progress: a bar on a terminal, a line at each change elsewhere."""
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
    """As `shown_progress`, for the progress that a server reports: scored segments and all segments."""
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
