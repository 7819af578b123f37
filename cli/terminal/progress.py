"""The progress of long work in a database, on standard error."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard_client.commands.progress import shown_progress as shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from models.queue_status.progress import ColumnsProgress, ComparisonProgress, Progress


@contextmanager
def shown_progress() -> Iterator[Callable[[Progress], None]]:
    """A function that shows the progress of evaluations."""
    with shown("evaluations", "shards") as show:

        def show_progress(progress: Progress) -> None:
            total = progress.open + progress.done + progress.failed + progress.cancelled
            show((total - progress.open, total), (progress.shards_done, progress.shards))

        yield show_progress


@contextmanager
def shown_trials() -> Iterator[Callable[[ComparisonProgress], None]]:
    """A function that shows the progress of randomization tests."""
    with shown("trials") as show:
        yield lambda progress: show((progress.trials_done, progress.trials))


@contextmanager
def shown_columns() -> Iterator[Callable[[ColumnsProgress], None]]:
    """A function that shows the progress of a metrics task."""
    with shown("columns") as show:
        yield lambda progress: show((progress.total - progress.open, progress.total))
