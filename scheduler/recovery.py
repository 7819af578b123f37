"""Finding what was lost, and giving it to somebody else."""

from __future__ import annotations

import logging
from dataclasses import replace

from sqlalchemy import Engine, or_, select

from models.database.session import reading, writing
from models.errors import RowsHeld
from models.queue.evaluation_end import lock_evaluations
from models.queue.kinds.reductions import start_reducing
from models.queue.kinds.registry import SENT
from models.queue.lease import in_flight, retry_later
from models.queue.sweep import Expired, find_exhausted, find_expired, resend_stale
from models.queue.task_kind import found_fields, give_up, release
from models.queue.workers import delete_silent_workers
from models.schema.queue import Evaluation, Reduction
from models.schema.states import EvaluationState, LeaseState
from runtime.logs import bind, log_context
from runtime.settings import Settings
from runtime.shared_counters import Tally
from scheduler.enqueue.corpus_statistics import prepare_forgotten
from scheduler.telemetry import GIVEN_UP, HINTS_LOST, TAKEN_BACK, new_tally

log = logging.getLogger(__name__)

LOCK_SECONDS = 0.5
"""Whoever died or froze in the middle of writing may hold a row for a while; all else goes on."""

FORGET_AFTER = 60
"""A worker's row goes when it has been silent for so many times `silent_seconds`."""


def sweep(engine: Engine, settings: Settings, tally: Tally | None = None) -> int:
    """Release what dead workers hold, and send old hints again; how many rows were touched. Counts in `tally`."""
    tally = tally or new_tally()
    with reading(engine) as connection:
        expired = find_expired(connection, settings.silent_seconds)
    # One transaction each: a long one would hold up the workers.
    for each in expired:
        with log_context(task_id=each.owner.partition(":")[0]):
            try:
                _take_back(engine, settings, tally, each)
            except RowsHeld:
                title = each.kind.title
                log.warning("%s %s is in the hands of one who does not go on; it is tried again", title, each.key)
    given_up = _give_up_exhausted(engine, settings, tally)
    with writing(engine) as connection:
        stale = resend_stale(connection, settings.hint_seconds)
        delete_silent_workers(connection, FORGET_AFTER * settings.silent_seconds)
    tally.count(HINTS_LOST.name, amount=stale)
    return stale + len(expired) + given_up + reduce_forgotten(engine) + prepare_forgotten(engine, settings)


def _take_back(engine: Engine, settings: Settings, tally: Tally, expired: Expired) -> None:
    """Take a task from its owner, who did not end it. Raises RowsHeld."""
    kind, key = expired.kind, expired.key
    with reading(engine) as connection:
        bind(**found_fields(connection, kind, key))
    log.warning("%s %s is taken back: %s", kind.title, key, expired.what)
    with writing(engine, lock_seconds=LOCK_SECONDS) as connection:
        taken = release(connection, kind, key, expired.owner, f"{expired.what}.", kind.policy(settings))
        again = connection.scalar(select(kind.table.state).where(kind.table.id == key)) == LeaseState.PENDING
    if taken:
        tally.count(TAKEN_BACK.name, kind.name)
    if taken and not again:
        tally.count(GIVEN_UP.name, kind.name)
        log.error("%s %s has no attempts left", kind.title, key)


def _give_up_exhausted(engine: Engine, settings: Settings, tally: Tally) -> int:
    """End work that waits and may not be tried again, since fewer attempts are allowed than there were; how much."""
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
        tally.count(GIVEN_UP.name, kind.name)
        log.error("%s %s has no attempts left", kind.title, key)
    return ended


def reduce_forgotten(engine: Engine) -> int:
    """Give evaluations in `reducing` whose reduction has ended or is gone a new one; how many there were.

    No transaction leaves one behind; this is for databases that people have edited.
    """
    closed = (LeaseState.DONE, LeaseState.FAILED, LeaseState.CANCELLED)
    forgotten = (
        select(Evaluation.id, Evaluation.protocol_id)
        .outerjoin(Reduction, Reduction.id == Evaluation.reduction_id)
        .where(Evaluation.state == EvaluationState.REDUCING, or_(Reduction.id.is_(None), Reduction.state.in_(closed)))
    )
    with reading(engine) as connection:
        if connection.execute(forgotten.limit(1)).first() is None:
            return 0
    with writing(engine) as connection:
        rows = connection.execute(forgotten).all()
        for row in rows:
            if lock_evaluations(connection, [row.id], [EvaluationState.REDUCING]):
                start_reducing(connection, [row.id])
    return len(rows)


def reclaim_all(engine: Engine, settings: Settings, *, used: bool) -> int:
    """Take back everything in flight; how many rows. Only for one who knows that no worker lives.

    `used` says whether attempts that were cut short count: yes after a crash, which they may have
    caused, no after an orderly stop.
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
