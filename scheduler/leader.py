"""Being the only scheduler of a database: by a term in its row, renewed while the scheduler's rounds go on.

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

from models.database.session import make_steady_engine, reading_once, touching
from models.queue.leader import give_up_lead, read_leader, take_lead

log = logging.getLogger(__name__)

RENEWALS = 3
"""A term is renewed when one of so many parts of it has passed."""


class Leadership:
    """The right to hand out work. Two schedulers at once would be harmless, but a waste."""

    def __init__(self, url: str, term_seconds: float) -> None:
        self._engine = make_steady_engine(url)
        self._term_seconds = term_seconds
        self._holder = f"{_system()}:{os.getpid()}:{uuid.uuid4().hex}"
        self._begun: float | None = None

    def acquire(self) -> bool:
        """Try to begin or renew a term; False when another process leads."""
        begun = _clock()
        if self._begun is None:
            # Who stands by looks often: a look must not wait for those who write.
            with reading_once(self._engine) as connection:
                leader = read_leader(connection, self._term_seconds)
            if leader not in (None, self._holder) and not _has_ended(leader):
                return False
        else:
            leader = None
        # Each statement for itself: whoever is frozen between two must not hold the row.
        with touching(self._engine) as connection:
            leads = take_lead(connection, self._holder, self._term_seconds, dead=leader)
        # Counted from before it was asked for, so that it ends here not later than there.
        self._begun = begun if leads else None
        return leads

    def held(self) -> bool:
        """Whether it is ours, and has been all the time; renews the term when it is time to."""
        if not self.in_term():
            self._begun = None
            return False
        return self.due_in() > 0 or self.acquire()

    def due_in(self) -> float:
        """Seconds until it is time to renew the term."""
        if self._begun is None:
            return 0.0
        return max(0.0, self._begun + self._term_seconds / RENEWALS - _clock())

    def in_term(self) -> bool:
        """Whether our term lasts, by this machine's clock alone: for one who is about to do something as the leader."""
        return self._begun is not None and _clock() < self._begun + self._term_seconds

    def release(self) -> None:
        """Give it up, so that nobody need wait for the end of the term."""
        if self._begun is not None:
            self._begun = None
            try:
                with touching(self._engine) as connection:
                    give_up_lead(connection, self._holder)
            except DBAPIError as error:
                log.info("The lead could not be given up; its term expires: %s", error.orig)
        self._engine.dispose()


def is_led(connection: Connection, term_seconds: float) -> bool:
    """Whether somebody hands out the work of this database."""
    leader = read_leader(connection, term_seconds)
    return leader is not None and not _has_ended(leader)


def _clock() -> float:
    """A clock that is never set, and on Linux goes on while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@cache
def _system() -> str:
    """The running system and its name space of process numbers; empty where that cannot be told."""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}".replace(":", "")
    except OSError:
        return ""


def _has_ended(holder: str | None) -> bool:
    """Whether a holder is a process of this system that is not there any more: nobody need wait for its term."""
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
