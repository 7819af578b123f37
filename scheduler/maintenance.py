"""Periodic maintenance of the database: repairs and retention."""

from __future__ import annotations

import logging
import time

from sqlalchemy import Engine

from models.database.session import reading, writing
from models.queue.consistency import find_broken_comparisons, find_inconsistent, mend_columns, recount
from models.queue.kinds.comparisons import end_comparisons
from models.queue.kinds.registry import KINDS
from models.queue.lease import retry_unowned
from models.queue.retention import backfill_ended_at, prune_finished
from models.results.segment_scores import prune_segment_scores
from runtime.logs import fields
from runtime.settings import Settings

log = logging.getLogger(__name__)

PRUNE_SECONDS = 60.0
"""Seconds between two searches for rows to delete, once none are left."""

LONGEST_DELAY = 60.0
"""Seconds, beyond the delays of retries, for which no work ever waits."""

BROKEN = "Rows of its trials were deleted or edited. Compare again."

PRUNED_ROWS = 500
"""Rows of each kind deleted per transaction: few, so that nothing waits for it."""


class Maintenance:
    """Repairs manually edited rows, and deletes old rows of tasks."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._next_recount = 0.0
        self._next_pruning = 0.0
        self.more = False
        """Whether old rows remain to be deleted."""

    def run_once(self) -> None:
        """Do what is due. Call it in each sweep."""
        if time.monotonic() >= self._next_recount:
            repair(self._engine, self._settings)
            self._next_recount = time.monotonic() + self._settings.recount_seconds
        if time.monotonic() >= self._next_pruning:
            self.more = True
            self._next_pruning = time.monotonic() + PRUNE_SECONDS
        self.prune_more()

    def prune_more(self) -> None:
        """Delete some more old rows, if any remain. Call it in each round.

        One small transaction at a time, so that work is sent in between.
        """
        if not self.more:
            return
        with writing(self._engine) as connection:
            deleted = prune_finished(connection, self._settings.keep_seconds, PRUNED_ROWS)
            scores = prune_segment_scores(connection, self._settings.keep_scores_seconds, PRUNED_ROWS)
        self.more = any(rows == PRUNED_ROWS for rows in (*deleted.values(), scores))


def repair(engine: Engine, settings: Settings) -> None:
    """Make all open work with deleted or edited rows continue, or end it with a reason."""
    for kind in KINDS:
        policy = kind.policy(settings)
        # Retries wait for less, and so do messages that the broker rejected.
        longest_delay = LONGEST_DELAY + policy.delay(policy.max_attempts)
        with writing(engine) as connection:
            stuck = retry_unowned(connection, kind.table, longest_delay)
        if stuck:
            log.warning("%d %s were stuck and return to pending", stuck, kind.name)
    recount_open(engine)
    with writing(engine) as connection:
        mended = mend_columns(connection)
    if mended:
        log.warning("%d learned columns waited for other shards than there are: corrected", mended)
    with reading(engine) as connection:
        broken = find_broken_comparisons(connection)
    if broken:
        with writing(engine) as connection:
            end_comparisons(connection, broken, BROKEN)
        log.warning("%d comparisons with an inconsistent number of trials were failed", len(broken))
    with writing(engine) as connection:
        backfill_ended_at(connection)


def recount_open(engine: Engine) -> int:
    """Repair open evaluations whose counter differs from their number of shards; their number."""
    with reading(engine) as connection:
        suspected = find_inconsistent(connection)
    mended = 0
    for evaluation in suspected:
        with writing(engine) as connection:
            counts = recount(connection, evaluation)
        if counts is not None:
            mended += 1
            log.warning(
                "Evaluation %s waited for %d shards instead of %d: corrected",
                evaluation,
                *counts,
                extra=fields(evaluations=[evaluation]),
            )
    return mended
