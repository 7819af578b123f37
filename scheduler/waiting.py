"""Waiting for evaluations to end, while others do the work."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from sqlalchemy import Engine

from models.progress import Progress, read_progress
from models.session import reading

POLL_SECONDS = 0.1


def wait_until_done(
    engine: Engine, evaluations: Sequence[int], on_progress: Callable[[Progress], None] | None = None
) -> Progress:
    """Wait until each of the evaluations is done, failed or cancelled; the last state of things.

    For the set-up with workers and a scheduler of their own. `on_progress` hears of every change.
    """
    before = None
    while True:
        with reading(engine) as connection:
            progress = read_progress(connection, evaluations)
        if progress != before and on_progress is not None:
            on_progress(progress)
        if not progress.open:
            return progress
        before = progress
        time.sleep(POLL_SECONDS)
