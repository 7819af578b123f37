"""Finding what was lost, and giving it to somebody else."""

from __future__ import annotations

import logging

from sqlalchemy import Engine, or_, select

from models.database.session import reading, writing
from models.errors import RowsHeld
from models.queue.evaluation_end import lock_evaluations
from models.queue.kinds import RELEASES, give_up
from models.queue.lease import exhausted, forget_old_hints, in_flight, lost, put_back
from models.queue.log_fields import described
from models.queue.shards import start_reducing
from models.queue.workers import forget_silent
from models.schema.queue import Evaluation, Leased, Reduction
from models.schema.states import EvaluationState, LeaseState
from runtime.logs import about, note
from runtime.settings import Settings
from runtime.shared_counters import Tally
from scheduler.enqueue.corpus_statistics import prepare_forgotten
from scheduler.telemetry import GIVEN_UP, HINTS_LOST, TAKEN_BACK, new_tally
from worker.counters import kind_of

log = logging.getLogger(__name__)

LOCK_SECONDS = 0.5
"""Whoever died or froze in the middle of writing may hold a row for a while; all else goes on."""

FORGET_AFTER = 60
"""A worker's row goes when it has been silent for so many times `silent_seconds`."""


def sweep(engine: Engine, settings: Settings, tally: Tally | None = None) -> int:
    """Release what dead workers hold, and send old hints again; how many rows were touched. Counts in `tally`."""
    tally = tally or new_tally()
    with reading(engine) as connection:
        taken = [(table, *row) for table in RELEASES for row in lost(connection, table, settings.silent_seconds)]
    # One transaction each: a long one would hold up the workers.
    for table, key, owner, what in taken:
        with about(task_id=owner.partition(":")[0]):
            try:
                _take_back(engine, settings, tally, table, key, owner, what)
            except RowsHeld:
                log.warning("%s %s is in the hands of one who does not go on; it is tried again", table.__name__, key)
    given_up = _give_up_exhausted(engine, settings, tally)
    with writing(engine) as connection:
        unanswered = sum(forget_old_hints(connection, table, settings.hint_seconds) for table in RELEASES)
        forget_silent(connection, FORGET_AFTER * settings.silent_seconds)
    tally.count(HINTS_LOST.name, amount=unanswered)
    return unanswered + len(taken) + given_up + reduce_forgotten(engine) + prepare_forgotten(engine, settings)


def _take_back(
    engine: Engine, settings: Settings, tally: Tally, table: type[Leased], key: int, owner: str, what: str
) -> None:
    """Take a row from its owner, who did not end it. Raises RowsHeld."""
    with reading(engine) as connection:
        note(**described(connection, table, key))
    log.warning("%s %s is taken back: %s", table.__name__, key, what)
    most, delay = settings.max_attempts, settings.retry_seconds
    with writing(engine, lock_seconds=LOCK_SECONDS) as connection:
        taken = RELEASES[table](connection, key, owner, f"{what}.", max_attempts=most, delay_seconds=delay)
        again = connection.scalar(select(table.state).where(table.id == key)) == LeaseState.PENDING
    if taken:
        tally.count(TAKEN_BACK.name, kind_of(table))
    if taken and not again:
        tally.count(GIVEN_UP.name, kind_of(table))
        log.error("%s %s has no attempts left", table.__name__, key)


def _give_up_exhausted(engine: Engine, settings: Settings, tally: Tally) -> int:
    """End work that waits and may not be tried again, since fewer attempts are allowed than there were; how much."""
    with reading(engine) as connection:
        found = [(table, key) for table in RELEASES for key in exhausted(connection, table, settings.max_attempts)]
    ended = 0
    for table, key in found:
        try:
            with writing(engine, durable=True, lock_seconds=LOCK_SECONDS) as connection:
                if not give_up(connection, table, key, settings.max_attempts):
                    continue
        except RowsHeld:
            continue
        ended += 1
        tally.count(GIVEN_UP.name, kind_of(table))
        log.error("%s %s has no attempts left", table.__name__, key)
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
    for table, release in RELEASES.items():
        with writing(engine) as connection:
            for key, state in in_flight(connection, table):
                taken += 1
                owner = connection.scalar(select(table.owner).where(table.id == key))
                if used and state == LeaseState.RUNNING and owner is not None:
                    release(
                        connection,
                        key,
                        owner,
                        "the command that ran it ended before it was done.",
                        max_attempts=settings.max_attempts,
                        delay_seconds=0.0,
                    )
                else:
                    counts = state != LeaseState.RUNNING
                    put_back(connection, table, key, reason=None, delay_seconds=0.0, used=counts)
    return taken
