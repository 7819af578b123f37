"""What the scheduler does now and then so that the database stays right and small."""

from __future__ import annotations

import logging
import time

from sqlalchemy import Engine

from models.database.session import reading, writing
from models.queue.consistency import find_broken_comparisons, find_miscounted, recount
from models.queue.kinds.comparisons import end_comparisons
from models.queue.kinds.registry import KINDS
from models.queue.lease import retry_unowned
from models.queue.retention import backfill_ended_at, prune_finished
from runtime.logs import fields
from runtime.settings import Settings

log = logging.getLogger(__name__)

FORGET_SECONDS = 60.0
"""Time between two looks for rows that may go, once none is left."""

LONGEST_DELAY = 60.0
"""Seconds beyond its retries for which no work waits."""

BROKEN = "Rows of its trials were deleted or edited. Compare again."

FORGET_ROWS = 500
"""Of each kind that go in one transaction: few, so that nobody waits for it."""


class Maintenance:
    """Mends what people have edited, and deletes old rows of work: each minute, as many as there are."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._next_recount = 0.0
        self._next_forgetting = 0.0
        self.more = False
        """Whether old rows are left to be deleted."""

    def go(self) -> None:
        """Do what is due. To be called in each sweep."""
        if time.monotonic() >= self._next_recount:
            repair(self._engine, self._settings)
            self._next_recount = time.monotonic() + self._settings.recount_seconds
        if time.monotonic() >= self._next_forgetting:
            self.more = True
            self._next_forgetting = time.monotonic() + FORGET_SECONDS
        self.go_on()

    def go_on(self) -> None:
        """Delete some more of the old rows, where some are left. To be called in each round.

        One small transaction at a time, so that work is handed out between two of them.
        """
        if not self.more:
            return
        with writing(self._engine) as connection:
            deleted = prune_finished(connection, self._settings.keep_seconds, FORGET_ROWS)
        self.more = any(rows == FORGET_ROWS for rows in deleted.values())


def repair(engine: Engine, settings: Settings) -> None:
    """Let all open work that rows were deleted or edited of go on, or end with a reason."""
    for kind in KINDS:
        policy = kind.policy(settings)
        # A retry waits for less, and so do hints that the broker did not take.
        longest_delay = LONGEST_DELAY + policy.delay(policy.max_attempts)
        with writing(engine) as connection:
            stuck = retry_unowned(connection, kind.table, longest_delay)
        if stuck:
            log.warning("%d %s were stuck: they wait again", stuck, kind.name)
    recount_open(engine)
    with reading(engine) as connection:
        broken = find_broken_comparisons(connection)
    if broken:
        with writing(engine) as connection:
            end_comparisons(connection, broken, BROKEN)
        log.warning("%d comparisons lacked trials, or waited for more than there are: they failed", len(broken))
    with writing(engine) as connection:
        backfill_ended_at(connection)


def recount_open(engine: Engine) -> int:
    """Mend open evaluations that do not wait for as many shards as there are; how many there were."""
    with reading(engine) as connection:
        suspected = find_miscounted(connection)
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
