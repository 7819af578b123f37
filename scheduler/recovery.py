"""Recovery: finds lost tasks and releases them."""

from __future__ import annotations

import logging
from dataclasses import replace

from sqlalchemy import Engine, or_, select

from models.database.session import reading, writing
from models.errors import RowsHeld
from models.queue.evaluation_end import lock_evaluations
from models.queue.kinds.reductions import enqueue_reductions
from models.queue.kinds.registry import SENT
from models.queue.lease import in_flight, retry_later
from models.queue.sweep import Expired, find_exhausted, find_expired, resend_stale
from models.queue.task_kind import found_fields, give_up, release
from models.queue.workers import delete_silent_workers
from models.schema.queue import Evaluation, Reduction
from models.schema.states import CLOSED, EvaluationState, LeaseState
from runtime.logs import bind, log_context
from runtime.settings import Settings
from runtime.shared_counters import SharedCounters
from scheduler.enqueue.corpus_statistics import enqueue_missing_counts
from scheduler.telemetry import GIVEN_UP, MESSAGES_LOST, RECLAIMED, new_counters

log = logging.getLogger(__name__)

LOCK_SECONDS = 0.5
"""A process that died or froze in a transaction may hold a row for a while; everything else continues."""

DELETED_AFTER = 60
"""A worker's row is deleted after a silence of this many times `silent_seconds`."""


def sweep(engine: Engine, settings: Settings, counters: SharedCounters | None = None) -> int:
    """Release tasks of dead workers, and resend lost messages; the number of rows. Counts in `counters`."""
    counters = counters or new_counters()
    with reading(engine) as connection:
        expired = find_expired(connection, settings.silent_seconds)
    # One transaction each: a long one would block the workers.
    for each in expired:
        with log_context(task_id=each.owner.partition(":")[0]):
            try:
                _reclaim(engine, settings, counters, each)
            except RowsHeld:
                title = each.kind.title
                log.warning("%s %s is locked by a process that does not continue; trying again", title, each.key)
    given_up = _give_up_exhausted(engine, settings, counters)
    with writing(engine) as connection:
        stale = resend_stale(connection, settings.resend_seconds)
        delete_silent_workers(connection, DELETED_AFTER * settings.silent_seconds)
    counters.count(MESSAGES_LOST.name, amount=stale)
    return (
        stale + len(expired) + given_up + enqueue_missing_reductions(engine) + enqueue_missing_counts(engine, settings)
    )


def _reclaim(engine: Engine, settings: Settings, counters: SharedCounters, expired: Expired) -> None:
    """Release a task from an owner that will not finish it. Raises RowsHeld."""
    kind, key = expired.kind, expired.key
    with reading(engine) as connection:
        bind(**found_fields(connection, kind, key))
    log.warning("%s %s is reclaimed: %s", kind.title, key, expired.what)
    with writing(engine, lock_seconds=LOCK_SECONDS) as connection:
        taken = release(connection, kind, key, expired.owner, f"{expired.what}.", kind.policy(settings))
        again = connection.scalar(select(kind.table.state).where(kind.table.id == key)) == LeaseState.PENDING
    if taken:
        counters.count(RECLAIMED.name, kind.name)
    if taken and not again:
        counters.count(GIVEN_UP.name, kind.name)
        log.error("%s %s has no attempts left", kind.title, key)


def _give_up_exhausted(engine: Engine, settings: Settings, counters: SharedCounters) -> int:
    """End waiting tasks without attempts left, since the limit is lower now than when they were tried; their number."""
    with reading(engine) as connection:
        found = find_exhausted(connection, settings)
    ended = 0
    for kind, key in found:
        try:
            with writing(engine, durable=True, lock_seconds=LOCK_SECONDS) as connection:
                if not give_up(connection, kind, key, kind.policy(settings)):
                    continue
        except RowsHeld:
            continue
        ended += 1
        counters.count(GIVEN_UP.name, kind.name)
        log.error("%s %s has no attempts left", kind.title, key)
    return ended


def enqueue_missing_reductions(engine: Engine) -> int:
    """Add reductions for evaluations in `reducing` whose reduction has ended or is gone; their number.

    No transaction leaves such an evaluation; editing the database by hand may.
    """
    orphaned = (
        select(Evaluation.id, Evaluation.protocol_id)
        .outerjoin(Reduction, Reduction.id == Evaluation.reduction_id)
        .where(Evaluation.state == EvaluationState.REDUCING, or_(Reduction.id.is_(None), Reduction.state.in_(CLOSED)))
    )
    with reading(engine) as connection:
        if connection.execute(orphaned.limit(1)).first() is None:
            return 0
    with writing(engine) as connection:
        rows = connection.execute(orphaned).all()
        for row in rows:
            if lock_evaluations(connection, [row.id], [EvaluationState.REDUCING]):
                enqueue_reductions(connection, [row.id])
    return len(rows)


def reclaim_all(engine: Engine, settings: Settings, *, used: bool) -> int:
    """Release everything in flight; the number of rows. Requires that no worker is running.

    `used` says whether interrupted attempts count: yes after a crash, which they may have caused, no after an orderly
    stop.
    """
    taken = 0
    for kind in SENT:
        table, at_once = kind.table, replace(kind.policy(settings), delay=lambda _: 0.0)
        with writing(engine) as connection:
            for key, state in in_flight(connection, table):
                taken += 1
                owner = connection.scalar(select(table.owner).where(table.id == key))
                if used and state == LeaseState.RUNNING and owner is not None:
                    release(connection, kind, key, owner, "the command that ran it ended before it was done.", at_once)
                else:
                    counts = state != LeaseState.RUNNING
                    retry_later(connection, table, key, reason=None, delay_seconds=0.0, used=counts)
    return taken
