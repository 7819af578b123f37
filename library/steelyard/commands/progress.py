"""The progress of long work, on standard error."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOMENT = 0.5
"""Seconds before the progress of work is shown."""


def counted(what: str) -> Callable[[int, int], None] | None:
    """A function that shows "DONE of ALL" on one line, once the work has taken `MOMENT` seconds.

    None without a terminal. It does not use `rich`, whose import takes longer than most such work.

    Parameters
    ----------
    what : str

    Returns
    -------
    callable or None
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
