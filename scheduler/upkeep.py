"""What the scheduler does now and then so that the database stays right and small."""

from __future__ import annotations

import logging
import time

from sqlalchemy import Engine

from models.forgetting import date_closed, forget_ended
from models.recounting import miscounted, recount
from models.session import reading, writing
from worker.logs import fields
from worker.settings import Settings

log = logging.getLogger(__name__)

FORGET_SECONDS = 60.0
"""Time between two looks for rows that may go, once none is left."""

FORGET_ROWS = 500
"""Of each kind that go in one transaction: few, so that nobody waits for it."""


class Upkeep:
    """Recounts at the start and each day, and deletes old rows of work: each minute, as many as there are."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._next_recount = 0.0
        self._next_forgetting = 0.0
        self._more_to_forget = False

    def go(self) -> None:
        """Do what is due. To be called in each sweep."""
        if time.monotonic() >= self._next_recount:
            recount_open(self._engine)
            with writing(self._engine) as connection:
                date_closed(connection)
            self._next_recount = time.monotonic() + self._settings.recount_seconds
        if time.monotonic() >= self._next_forgetting:
            self._more_to_forget = True
            self._next_forgetting = time.monotonic() + FORGET_SECONDS
        self.go_on()

    def go_on(self) -> None:
        """Delete some more of the old rows, where some are left. To be called in each round.

        One small transaction at a time, so that work is handed out between two of them.
        """
        if not self._more_to_forget:
            return
        with writing(self._engine) as connection:
            deleted = forget_ended(connection, self._settings.keep_seconds, FORGET_ROWS)
        self._more_to_forget = any(rows == FORGET_ROWS for rows in deleted.values())


def recount_open(engine: Engine) -> int:
    """Mend open evaluations that do not wait for as many shards as there are; how many there were."""
    with reading(engine) as connection:
        suspected = miscounted(connection)
    mended = 0
    for evaluation in suspected:
        with writing(engine) as connection:
            counts = recount(connection, evaluation)
        if counts is not None:
            mended += 1
            log.warning(
                "Evaluation %s waited for %d shards, but there are %d: mended",
                evaluation,
                *counts,
                extra=fields(evaluations=[evaluation]),
            )
    return mended
