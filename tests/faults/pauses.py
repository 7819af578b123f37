"""The pauses of metrics that take their time: so that faults hit them at work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_calm = False


def pause(seconds: float) -> None:
    """Take so long, unless nothing is to hit us."""
    if not _calm:
        time.sleep(seconds)


@contextmanager
def no_pauses() -> Iterator[None]:
    """Score at once in this process: pauses change no score, and those of an hour's storm would take hours."""
    global _calm
    _calm = True
    try:
        yield
    finally:
        _calm = False
