"""A clock that is set, forward or back, must neither take work from the living nor leave it with the dead."""

from __future__ import annotations

import logging
import time

from sqlalchemy import Engine

from models.database.session import reading, writing
from models.queue.clock_jumps import read_clock, restart_heartbeats, restart_leases
from models.queue.kinds.registry import KINDS
from runtime.settings import Settings

log = logging.getLogger(__name__)

TOLERATED = 2.0
"""Seconds by which a clock may be put right between two looks without anything being done about it."""


class ClockJumps:
    """Compares the database's clock with one of this process that is never set."""

    def __init__(self) -> None:
        self._offset: float | None = None

    def mend(self, engine: Engine, settings: Settings) -> None:
        """Where the database's clock was set since the last look, let everything in flight begin anew.

        At the first look nothing is known of the past: then only what begins in the future is mended.
        """
        first = self._offset is None
        jump = self._jump(engine)
        if not first and not jump:
            return
        if jump:
            log.warning("The database's clock was set by %+.0f s: what is in flight begins anew", jump)
        for kind in KINDS:
            policy = kind.policy(settings)
            beyond = TOLERATED + policy.delay(policy.max_attempts) if first else None
            with writing(engine) as connection:
                restart_leases(connection, kind.table, lease_seconds=policy.lease_seconds, beyond=beyond)
        with writing(engine) as connection:
            restart_heartbeats(connection, beyond=TOLERATED if first else None)

    def _jump(self, engine: Engine) -> float:
        """Seconds by which the clock was set since the last look; 0.0 where it may as well just go badly."""
        before = time.monotonic()
        with reading(engine) as connection:
            there = read_clock(connection)
        after = time.monotonic()
        last, self._offset = self._offset, there - (before + after) / 2
        jump = 0.0 if last is None else self._offset - last
        return jump if abs(jump) > TOLERATED + (after - before) else 0.0
