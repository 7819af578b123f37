"""Leader election: the leader holds a term in a database row and renews it as its rounds go on.

Nothing else renews it: a leader that is frozen, hangs or has vanished is replaced when its term expires.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import uuid
from functools import cache
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from models.database.session import autocommit_reading, autocommit_writing, make_steady_engine
from models.queue.leader import acquire_leadership, read_leader, release_leadership

log = logging.getLogger(__name__)

RENEWALS = 3
"""A term is renewed after this fraction of it (1/n)."""


class Leadership:
    """The right to schedule. Two schedulers at once would be harmless, but a waste."""

    def __init__(self, url: str, term_seconds: float) -> None:
        self._url = url
        self._engine = make_steady_engine(url)
        self._term_seconds = term_seconds
        self._holder = f"{_system()}:{os.getpid()}:{uuid.uuid4().hex}"
        self._begun: float | None = None

    def keep_connection(self) -> None:
        """Renew on one connection to SQLite, too: opening another for each renewal takes ten times as long.

        To be called once the processes of the pool have been forked.
        """
        self._engine.dispose()
        self._engine = make_steady_engine(self._url, forks=False)

    def acquire(self) -> bool:
        """Try to begin or renew a term; False if another process leads."""
        begun = _clock()
        if self._begun is None:
            # Standby schedulers check often: a check must not wait for writers.
            with autocommit_reading(self._engine) as connection:
                leader = read_leader(connection, self._term_seconds)
            if leader not in (None, self._holder) and not _has_ended(leader):
                return False
        else:
            leader = None
        # Independent statements: a process frozen between two must not hold the row.
        with autocommit_writing(self._engine) as connection:
            leads = acquire_leadership(connection, self._holder, self._term_seconds, dead=leader)
        # Measured from before the statement, so that our term ends here no later than in the database.
        self._begun = begun if leads else None
        return leads

    def held(self) -> bool:
        """Whether the term is ours, without interruption; renews it when due."""
        if not self.in_term():
            self._begun = None
            return False
        return self.due_in() > 0 or self.acquire()

    def due_in(self) -> float:
        """Seconds until the next renewal."""
        if self._begun is None:
            return 0.0
        return max(0.0, self._begun + self._term_seconds / RENEWALS - _clock())

    def in_term(self) -> bool:
        """Whether our term is current, by this machine's clock alone: checked before each action of the leader."""
        return self._begun is not None and _clock() < self._begun + self._term_seconds

    def release(self) -> None:
        """Give up the term, so that no other scheduler has to wait for its end."""
        if self._begun is not None:
            self._begun = None
            try:
                with autocommit_writing(self._engine) as connection:
                    release_leadership(connection, self._holder)
            except DBAPIError as error:
                log.info("Leadership could not be released and will expire: %s", error.orig)
        self._engine.dispose()


def has_leader(connection: Connection, term_seconds: float) -> bool:
    """Whether any scheduler leads this database."""
    leader = read_leader(connection, term_seconds)
    return leader is not None and not _has_ended(leader)


def _clock() -> float:
    """A clock that is never set and, on Linux, includes the time that the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@cache
def _system() -> str:
    """The identity of the running system and its namespace of process ids; empty if unknown."""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}".replace(":", "")
    except OSError:
        return ""


def _has_ended(holder: str | None) -> bool:
    """Whether the holder was a process of this system that has ended: then its term can be taken over at once."""
    system, number, _ = (holder or "::").split(":")
    if not system or system != _system():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
