"""A clock for rate limits: what a test counts within a minute lies within one minute of that clock.

A window that slides from the last minute into this one lets a little more through, so that a test that happens to run
while a minute ends counts one more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from limits.storage import memory

from campaigns.accounts import throttle

DAY = 86400


@contextmanager
def first_minute_of_a_day() -> Iterator[None]:
    """The clock of limits in memory goes on from the beginning of a day, so of an hour and of a minute."""
    passed = time.time() % DAY
    clock = SimpleNamespace(time=lambda: time.time() - passed)
    with patch.object(memory, "time", clock), patch.object(throttle, "time", clock):
        yield
