"""The only sender of tasks: a bounded window in flight, by class and by team in turn."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, select, update

from models.database.session import reading, writing
from models.queue.kinds.reductions import REDUCTION
from models.queue.task_kind import TaskKind
from models.queue.workers import read_editions
from models.schema.base import now
from models.schema.queue import Leased, Reduction
from models.schema.states import LeaseState, QueueClass
from runtime.settings import Settings
from scheduler.fair_share import (
    INTERACTIVE_EXTRA,
    ServiceAccounting,
    Shares,
    Task,
    Turn,
    Window,
    allocate,
    class_shares,
)
from scheduler.queue_queries import (
    WaitingTask,
    keys_by_kind,
    read_in_flight,
    read_turns,
    read_waiting,
    urgent_class,
)
from worker.errors import BrokerAway
from worker.tasks import Hint, Messages

log = logging.getLogger(__name__)

_PENDING_REDUCTION = select(Reduction.id).where(Reduction.state == LeaseState.PENDING).limit(1)


def dispatch(
    engine: Engine,
    messages: Messages,
    settings: Settings,
    accounts: ServiceAccounting | None = None,
    leads: Callable[[], bool] = lambda: True,
) -> int:
    """Fill the window once; how many tasks were sent. `accounts` says what each team has had so far.

    Nothing is sent once `leads` says that another scheduler may lead.
    """
    accounts = new_accounting(settings) if accounts is None else accounts
    with reading(engine) as connection:
        turns = read_turns(connection)
        reduces = connection.scalar(_PENDING_REDUCTION) is not None
        if not turns:
            accounts.nobody_waits()
        if not turns and not reduces:
            return 0
        # Messages that nobody reads would only pile up at the broker. Who makes an edition has a window of its own.
        shares = [
            _Share(edition, _window(settings, pool))
            for edition, pool in read_editions(connection, settings.silent_seconds).items()
            if pool
        ]
        chosen = [
            (
                share,
                _sendable_reductions(connection, share) if reduces else [],
                _choose(connection, turns, share, settings, accounts),
            )
            for share in shares
        ]
    # Only who has something to send begins to write.
    if not any(reductions or rows for _, reductions, rows in chosen):
        return 0
    with writing(engine) as connection:
        hints = [
            hint
            for share, reductions, rows in chosen
            for hint in _mark(connection, reductions, rows, share, settings.urgent_seconds, accounts)
        ]
    # Committed first, sent then: a crash in between costs one hint time, never a shard.
    return _send(engine, messages, hints, leads)


def new_accounting(settings: Settings) -> ServiceAccounting:
    """Of a scheduler that begins."""
    return ServiceAccounting(_shares(settings))


def _shares(settings: Settings) -> Shares:
    return class_shares(settings.campaign_share, settings.nightly_share)


@dataclass(frozen=True, slots=True)
class _Share:
    """The workers that make one edition, and what may be in flight for them."""

    edition: int
    window: Window


def _window(settings: Settings, pool: int) -> Window:
    return Window(
        places=max(1, round(settings.window_factor * pool)),
        short_places=settings.smallest_window,
        # Who waits longer than the hint time is sent again in vain.
        seconds=pool * settings.hint_seconds / 2,
        shares=_shares(settings),
    )


def _choose(
    connection: Connection,
    turns: Sequence[tuple[TaskKind[Any, Any], Turn]],
    share: _Share,
    settings: Settings,
    accounts: ServiceAccounting,
) -> list[WaitingTask]:
    """The rows to send now."""
    window = share.window
    held, busy = read_in_flight(connection, settings, share.edition)
    room = window.open_places(held.seconds) - held.tasks
    wanted = turns
    if room <= 0:
        # As a rule the window is full, and there is nothing to look for but interactive work.
        lags = room > -INTERACTIVE_EXTRA and accounts.lag[QueueClass.INTERACTIVE] >= 0
        wanted = [each for each in turns if each[1][0] == QueueClass.INTERACTIVE] if lags else []
    if not wanted:
        return []
    rows = read_waiting(connection, wanted, room + INTERACTIVE_EXTRA, settings, share.edition)
    # Those whose work cannot be sent yet are there, too.
    served = accounts.served(rows, {*busy, *(turn for _, turn in turns)})
    costs = {turn: [row.seconds for row in its] for turn, its in rows.items()}
    left = {turn: iter(its) for turn, its in rows.items()}
    return [next(left[turn]) for turn in allocate(costs, served, accounts.lag, held, window)]


def _sendable_reductions(connection: Connection, share: _Share) -> list[int]:
    """Those to send now: they go first, since they take little, and people wait for nothing else."""
    oldest = select(Reduction.id).where(
        Reduction.state == LeaseState.PENDING, Reduction.not_before <= now(), Reduction.edition == share.edition
    )
    most = max(share.window.places, share.window.short_places)
    return list(connection.scalars(oldest.order_by(Reduction.due_at.asc().nulls_last(), Reduction.id).limit(most)))


def _mark(
    connection: Connection,
    reductions: Sequence[int],
    chosen: Sequence[WaitingTask],
    share: _Share,
    urgent_seconds: float,
    accounts: ServiceAccounting,
) -> list[Hint]:
    """Mark rows as enqueued, reductions first, unless somebody else has changed them."""
    marked = _enqueue(connection, Reduction, reductions, urgent_seconds) if reductions else {}
    hints = [Hint(REDUCTION, share.edition, key, QueueClass(queue_class)) for key, queue_class in marked.items()]
    wanted = {(row.kind, row.key): row for row in chosen}
    classes: dict[Task, int] = {}
    for kind, keys in keys_by_kind(wanted).items():
        marked = _enqueue(connection, kind.table, keys, urgent_seconds)
        classes |= {(kind, key): queue_class for key, queue_class in marked.items()}
    for task, row in wanted.items():
        if task in classes:
            accounts.charge(task, row.turn, row.seconds)
            hints.append(Hint(row.kind, share.edition, row.key, QueueClass(classes[task])))
    return hints


def _enqueue(connection: Connection, table: type[Leased], keys: Sequence[int], urgent_seconds: float) -> dict[int, int]:
    """Mark those of the rows as enqueued that wait and that nobody holds; the class of each by its id.

    What is due soon goes up a class for good, so that the row tells in which of the broker's queues its hint is.
    """
    free = select(table.id).where(table.id.in_(keys), table.state == LeaseState.PENDING)
    free = free.with_for_update(skip_locked=True)
    rows = connection.execute(
        update(table)
        .where(table.id.in_(free.scalar_subquery()))
        .values(state=LeaseState.ENQUEUED, enqueued_at=now(), queue_class=urgent_class(table, urgent_seconds))
        .returning(table.id, table.queue_class)
    )
    return dict(sorted((row.id, row.queue_class) for row in rows))


def _send(engine: Engine, messages: Messages, hints: list[Hint], leads: Callable[[], bool]) -> int:
    for sent, hint in enumerate(hints):
        if not leads():
            log.warning("The term of this scheduler is over: %d hints are not sent", len(hints) - sent)
            return sent
        try:
            messages.send(hint)
        except Exception as error:  # a connection that broke in the middle raises what it likes
            unknown = not isinstance(error, BrokerAway)
            left = len(hints) - sent
            log.warning("The broker does not take hints, %d are put back: %s", left, error, exc_info=unknown)
            _put_back(engine, hints[sent:])
            return sent
    return len(hints)


def _put_back(engine: Engine, hints: list[Hint]) -> None:
    with writing(engine) as connection:
        for kind, unsent in keys_by_kind((hint.kind, hint.key) for hint in hints).items():
            table = kind.table
            connection.execute(
                update(table)
                .where(table.id.in_(unsent), table.state == LeaseState.ENQUEUED)
                .values(state=LeaseState.PENDING, enqueued_at=None, not_before=now() + 1.0)
            )
