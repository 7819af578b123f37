"""Watching submissions: one look at the database serves all who watch, however many there are.

Whoever finds the last look too old takes the next one for all; the others go on with what is there. So there is no
thread of its own to start and stop, and clients cost the database nothing.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from campaigns.errors import TooMany
from models.database.session import reading
from models.queue_status.submission_progress import Awaited, read_awaited

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from runtime.service_settings import WebSettings

LOOK_SECONDS = 0.5
"""Between two looks at the database."""
RETRY_SECONDS = 10.0


@dataclass
class Watching:
    """Who watches what. One for each app, shared by all its threads."""

    engine: Engine
    settings: WebSettings
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _looking: threading.Lock = field(default_factory=threading.Lock)
    _watched: Counter[int] = field(default_factory=Counter)
    _accounts: Counter[int] = field(default_factory=Counter)
    _seen: dict[int, Awaited] = field(default_factory=dict)
    _looked_at: float = float("-inf")

    @contextmanager
    def watched(self, submission: int, account_id: int) -> Iterator[None]:
        """Watch a submission as long as this is open. Raises TooMany."""
        with self._lock:
            if self._watched.total() >= self.settings.event_streams:
                raise TooMany("Too many watch the progress of submissions just now.", retry_seconds=RETRY_SECONDS)
            if self._accounts[account_id] >= self.settings.event_streams_each:
                raise TooMany(
                    f"You watch {self._accounts[account_id]} submissions already. Close some.",
                    retry_seconds=RETRY_SECONDS,
                )
            self._watched[submission] += 1
            self._accounts[account_id] += 1
        try:
            yield
        finally:
            with self._lock:
                for counter, key in ((self._watched, submission), (self._accounts, account_id)):
                    counter[key] -= 1
                    if counter[key] <= 0:
                        del counter[key]
                if submission not in self._watched:
                    self._seen.pop(submission, None)

    def look(self, submission: int) -> Awaited | None:
        """How far it is, at most about a second ago; None where it was not looked at yet."""
        stale = time.monotonic() - self._looked_at >= LOOK_SECONDS or submission not in self._seen
        if stale and self._looking.acquire(blocking=submission not in self._seen):
            try:
                # Somebody may have looked while we waited.
                if time.monotonic() - self._looked_at >= LOOK_SECONDS or submission not in self._seen:
                    self._look()
            finally:
                self._looking.release()
        return self._seen.get(submission)

    def is_stale(self, submission: int) -> bool:
        """Whether `look` would read from the database."""
        return time.monotonic() - self._looked_at >= LOOK_SECONDS or submission not in self._seen

    def _look(self) -> None:
        with self._lock:
            submissions = sorted(self._watched)
        with reading(self.engine) as connection:
            seen = read_awaited(connection, submissions, self.settings.silent_seconds)
        with self._lock:
            self._seen = {key: value for key, value in seen.items() if key in self._watched}
        self._looked_at = time.monotonic()
