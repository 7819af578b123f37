"""Watches the progress of submissions: one query serves all watchers.

The first watcher that finds the last result too old makes the next query for all; the others use what is there. So no
thread must be started and stopped, and more clients do not load the database.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from models.database.session import reading
from models.queue_status.submission_progress import SubmissionProgress, read_submission_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from runtime.service_settings import WebSettings

LOOK_SECONDS = 0.5
"""Between two queries."""


@dataclass
class ProgressWatcher:
    """The watched submissions. One for each app, shared by all its threads."""

    engine: Engine
    settings: WebSettings
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _looking: threading.Lock = field(default_factory=threading.Lock)
    _watched: Counter[int] = field(default_factory=Counter)
    _seen: dict[int, SubmissionProgress] = field(default_factory=dict)
    _looked_at: float = float("-inf")

    @contextmanager
    def watched(self, submission: int) -> Iterator[None]:
        """Watch a submission while the context is open."""
        with self._lock:
            self._watched[submission] += 1
        try:
            yield
        finally:
            with self._lock:
                self._watched[submission] -= 1
                if not self._watched[submission]:
                    del self._watched[submission]
                    self._seen.pop(submission, None)

    def look(self, submission: int) -> SubmissionProgress | None:
        """Return the progress, at most about a second old; None if there is none yet."""
        stale = time.monotonic() - self._looked_at >= LOOK_SECONDS or submission not in self._seen
        if stale and self._looking.acquire(blocking=submission not in self._seen):
            try:
                # Another thread may have queried during the wait.
                if time.monotonic() - self._looked_at >= LOOK_SECONDS or submission not in self._seen:
                    self._look()
            finally:
                self._looking.release()
        return self._seen.get(submission)

    def is_stale(self, submission: int) -> bool:
        """Return whether `look` would query the database."""
        return time.monotonic() - self._looked_at >= LOOK_SECONDS or submission not in self._seen

    def _look(self) -> None:
        with self._lock:
            submissions = sorted(self._watched)
        with reading(self.engine) as connection:
            seen = read_submission_progress(connection, submissions, self.settings.silent_seconds)
        with self._lock:
            self._seen = {key: value for key, value in seen.items() if key in self._watched}
        self._looked_at = time.monotonic()
