"""Handles jumps of the database's clock, so that running tasks keep their leases and dead workers are detected."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from sqlalchemy import Engine

from models.database.session import writing
from models.queue.clock_jumps import restart_heartbeats, restart_leases
from models.queue.kinds.registry import KINDS
from runtime.settings import Settings

log = logging.getLogger(__name__)

TOLERATED = 2.0
"""Clock adjustments, in seconds between two checks, that are ignored."""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """A time read from the database's clock, and a monotonic clock's before and after it."""

    there: float
    before: float
    after: float


class ClockJumps:
    """Compares the database's clock with a monotonic clock of this process."""

    def __init__(self) -> None:
        self._offset: float | None = None

    def correct(self, engine: Engine, settings: Settings, clock: ClockReading) -> None:
        """Restart all leases and delays if the database's clock has jumped since the last check.

        The first check has no reference: it only repairs times in the future.
        """
        first = self._offset is None
        jump = self._jump(clock)
        if not first and not jump:
            return
        if jump:
            log.warning("The database's clock jumped by %+.0f s: restarting all leases", jump)
        for kind in KINDS:
            policy = kind.policy(settings)
            beyond = TOLERATED + policy.delay(policy.max_attempts) if first else None
            with writing(engine) as connection:
                restart_leases(connection, kind.table, lease_seconds=policy.lease_seconds, beyond=beyond)
        with writing(engine) as connection:
            restart_heartbeats(connection, beyond=TOLERATED if first else None)

    def _jump(self, clock: ClockReading) -> float:
        """Seconds by which the clock jumped since the last check; 0.0 if within normal drift."""
        last, self._offset = self._offset, clock.there - (clock.before + clock.after) / 2
        jump = 0.0 if last is None else self._offset - last
        return jump if abs(jump) > TOLERATED + (clock.after - clock.before) else 0.0
