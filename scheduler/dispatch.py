"""Sends tasks: fills a bounded window of tasks in flight, in fair shares of classes and teams."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Engine, Row, exists, or_, select, update

from models.database.session import reading, writing
from models.queue.kinds.registry import SENT
from models.queue.task_kind import TaskKind
from models.queue.workers import Pool, read_pools
from models.schema.base import now
from models.schema.states import LeaseState, QueueClass
from runtime.settings import Settings
from runtime.tracing import span
from scheduler.fair_share import (
    ALONE,
    INTERACTIVE_EXTRA,
    FairShareKey,
    Group,
    ServiceAccounting,
    Shares,
    Task,
    Window,
    allocate,
    class_shares,
)
from scheduler.queue_queries import (
    WaitingTask,
    keys_by_kind,
    read_in_flight,
    read_waiting,
    read_waiting_keys,
    urgent_class,
)
from worker.errors import BrokerAway
from worker.tasks import MOST_TOGETHER, SEVERAL_SINCE, MessageTransport, TaskMessage

log = logging.getLogger(__name__)

MESSAGES_AHEAD = 2
"""Messages for each process, before one of them has more than a task: the one it handles, and the next."""

ENOUGH_PROCESSES = 100
"""No database stores so many small tasks that more processes than this are busy with them."""

MANY = 1024
"""Maximum number of small tasks in flight, beyond those that have a place anyway: each round counts them."""

FEW = 2
"""This many times its part of the window is read of each class and team, and as many rows more."""

AT_ONCE: tuple[TaskKind[Any, Any], ...] = tuple(kind for kind in SENT if kind.cost is None)
"""The kinds that are sent outside the window, before all others: short tasks that others wait for, as reductions."""

_AT_ONCE_PENDING = select(
    or_(*(exists().where(kind.table.state == LeaseState.PENDING) for kind in AT_ONCE)).label("pending")
)


def dispatch(
    engine: Engine,
    transport: MessageTransport,
    settings: Settings,
    accounting: ServiceAccounting | None = None,
    leads: Callable[[], bool] = lambda: True,
) -> int:
    """Fill the window once; the number of tasks sent. `accounting` has the service of each team so far.

    Sending stops once `leads` returns False: another scheduler may lead.
    """
    accounting = new_accounting(settings) if accounting is None else accounting
    with reading(engine) as connection:
        share_keys = read_waiting_keys(connection)
        at_once = connection.scalar(_AT_ONCE_PENDING)
        if not share_keys:
            accounting.reset()
        if not share_keys and not at_once:
            return 0
        # Messages without a reader would accumulate in the broker. Each edition's workers have a window of their own.
        shares = [
            _Share(edition, pool.processes, seconds, _window(settings, pool.processes, seconds))
            for edition, pool in read_pools(connection, settings.silent_seconds).items()
            if pool.processes
            for seconds in [_together_seconds(settings, pool)]
        ]
        chosen = [
            (
                share,
                _sendable_at_once(connection, share) if at_once else {},
                _choose(connection, share_keys, share, settings, accounting),
            )
            for share in shares
        ]
    # Begin a writing transaction only if there is something to send.
    if not any(first or rows for _, first, (rows, _) in chosen):
        return 0
    with writing(engine) as connection:
        messages = [
            message
            for share, first, (rows, group) in chosen
            for message in _mark(connection, first, rows, group, share.edition, settings.urgent_seconds, accounting)
        ]
    # Commit first, then send: a crash in between delays the tasks until the message timeout, and loses none.
    return _send(engine, transport, messages, leads)


def new_accounting(settings: Settings) -> ServiceAccounting:
    """The accounting of a scheduler that starts."""
    return ServiceAccounting(_shares(settings))


def _shares(settings: Settings) -> Shares:
    return class_shares(settings.campaign_share, settings.nightly_share)


@dataclass(frozen=True, slots=True)
class _Share:
    """The workers of one edition, and their window."""

    edition: int
    processes: int
    together_seconds: float
    """The estimated seconds of what a message holds; 0 where each holds one task."""
    window: Window


def _together_seconds(settings: Settings, pool: Pool) -> float:
    # A process that dies takes an attempt of all that it holds: each must have another one.
    return settings.together_seconds if pool.message_version >= SEVERAL_SINCE and settings.max_attempts > 1 else 0.0


def _window(settings: Settings, pool: int, together_seconds: float = 0.0) -> Window:
    places = max(1, round(settings.window_factor * pool))
    return Window(
        places=places,
        short_places=settings.smallest_window,
        # A message that waited longer than the message timeout would be sent twice.
        seconds=pool * settings.resend_seconds / 2,
        shares=_shares(settings),
        # As many messages, with all that one holds.
        small_places=min(places * MOST_TOGETHER, MANY),
        small_seconds=places * together_seconds,
    )


def _group(share: _Share, tasks: int) -> Group:
    """What is sent together where so many tasks are in flight or to be sent now: some is left for each process."""
    if not share.together_seconds:
        return ALONE
    messages = MESSAGES_AHEAD * min(share.processes, ENOUGH_PROCESSES)
    return Group(max(1, min(MOST_TOGETHER, tasks // messages)), share.together_seconds)


def _choose(
    connection: Connection,
    share_keys: Sequence[tuple[TaskKind[Any, Any], FairShareKey]],
    share: _Share,
    settings: Settings,
    accounting: ServiceAccounting,
) -> tuple[list[WaitingTask], Group]:
    """The rows to send now, and how many of them a message holds."""
    window = share.window
    held, busy = read_in_flight(connection, settings, share.edition)
    room = window.open_places(held.seconds) - held.tasks
    wanted = share_keys
    if room <= 0:
        # The window is usually full, and only interactive work may still be sent.
        lags = room > -INTERACTIVE_EXTRA and accounting.lag[QueueClass.INTERACTIVE] >= 0
        wanted = [each for each in share_keys if each[1][0] == QueueClass.INTERACTIVE] if lags else []
    if not wanted:
        return [], ALONE
    most = room + INTERACTIVE_EXTRA
    # Each usually gets about as many places as any other. Of teams that get all that was read of them, more is read.
    asked, some = wanted, min(most, FEW + FEW * most // len(wanted))
    rows: dict[FairShareKey, list[WaitingTask]] = {}
    while True:
        rows |= read_waiting(connection, asked, some, settings, share.edition)
        # Includes teams whose work cannot be sent yet.
        served = accounting.served(rows, {*busy, *(share_key for _, share_key in share_keys)})
        costs = {share_key: [row.seconds for row in waiting] for share_key, waiting in rows.items()}
        group = _group(share, held.tasks + min(room, sum(map(len, rows.values()))))
        order = allocate(costs, served, accounting.lag, held, window, group)
        exhausted = {team for (_, team), amount in Counter(order).items() if amount >= some}
        if some == most or not exhausted:
            break
        asked, some = [each for each in wanted if each[1][1] in exhausted], most
    left = {share_key: iter(waiting) for share_key, waiting in rows.items()}
    return [next(left[share_key]) for share_key in order], group


def _sendable_at_once(connection: Connection, share: _Share) -> dict[TaskKind[Any, Any], list[int]]:
    """The tasks to send now that take no place in the window, by kind."""
    most = max(share.window.places, share.window.short_places)
    found = {}
    for kind in AT_ONCE:
        table = kind.table
        oldest = select(table.id).where(
            table.state == LeaseState.PENDING, table.not_before <= now(), table.edition == share.edition
        )
        keys = connection.scalars(oldest.order_by(table.due_at.asc().nulls_last(), table.id).limit(most)).all()
        if keys:
            found[kind] = list(keys)
    return found


def _mark(
    connection: Connection,
    first: Mapping[TaskKind[Any, Any], Sequence[int]],
    chosen: Sequence[WaitingTask],
    group: Group,
    edition: int,
    urgent_seconds: float,
    accounting: ServiceAccounting,
) -> list[TaskMessage]:
    """Mark rows as enqueued, those outside the window first, skipping rows that have changed; their messages."""
    messages = [
        _message(kind, edition, [row])
        for kind, keys in first.items()
        for row in _enqueue(connection, kind, keys, urgent_seconds)
    ]
    wanted = {(row.kind, row.key): row for row in chosen}
    marked: dict[Task, Row[Any]] = {}
    for kind, keys in keys_by_kind(wanted).items():
        marked |= {(kind, row.id): row for row in _enqueue(connection, kind, keys, urgent_seconds)}
    sent = [(row, marked[task]) for task, row in wanted.items() if task in marked]
    for row, _ in sent:
        accounting.charge((row.kind, row.key), row.share_key, row.seconds)
    return messages + [_message(kind, edition, rows) for kind, rows in _grouped(sent, group)]


def _enqueue(
    connection: Connection, kind: TaskKind[Any, Any], keys: Sequence[int], urgent_seconds: float
) -> list[Row[Any]]:
    """Mark those of the rows as enqueued that are pending and unlocked; what their messages need, by id.

    Urgent rows move up a class permanently, so that the row says which broker queue holds its message.
    """
    table = kind.table
    free = select(table.id).where(table.id.in_(keys), table.state == LeaseState.PENDING)
    free = free.with_for_update(skip_locked=True)
    rows: Sequence[Any] = connection.execute(
        update(table)
        .where(table.id.in_(free.scalar_subquery()))
        .values(state=LeaseState.ENQUEUED, enqueued_at=now(), queue_class=urgent_class(table, urgent_seconds))
        .returning(table.id, table.queue_class, table.team, table.trace, table.attempts)
    ).all()
    return sorted(rows, key=lambda row: row.id)


def _grouped(
    sent: Sequence[tuple[WaitingTask, Row[Any]]], group: Group
) -> list[tuple[TaskKind[Any, Any], list[Row[Any]]]]:
    """The rows of each message, in order.

    Only rows of a class, team and trace that were never tried go together: whatever one of them does to its process
    costs the others one attempt, and never again.
    """
    messages: list[tuple[TaskKind[Any, Any], list[Row[Any]]]] = []
    begun: dict[tuple[Any, ...], tuple[list[Row[Any]], float]] = {}
    for waiting, row in sent:
        alike = waiting.kind, row.queue_class, row.team, row.trace
        rows, seconds = begun.get(alike, ([], 0.0))
        together = waiting.kind.together is not None and not row.attempts
        if not (together and rows and group.has_room(len(rows), seconds + waiting.seconds)):
            rows, seconds = [], 0.0
            messages.append((waiting.kind, rows))
        rows.append(row)
        if together:
            begun[alike] = rows, seconds + waiting.seconds
    return messages


def _message(kind: TaskKind[Any, Any], edition: int, rows: Sequence[Row[Any]]) -> TaskMessage:
    first = rows[0]
    return TaskMessage(kind, edition, tuple(row.id for row in rows), QueueClass(first.queue_class), first.trace)


def _send(engine: Engine, transport: MessageTransport, messages: list[TaskMessage], leads: Callable[[], bool]) -> int:
    """Send the messages, those of one trace after the other as one span; the number of tasks in those sent."""
    tasks, sent = 0, 0
    try:
        for trace, group in groupby(messages, key=lambda message: message.trace):
            some = list(group)
            with span("send", trace, "producer", messages=len(some)):
                log.debug("Sending %d messages to workers", len(some))
                for message in some:
                    if not leads():
                        left = len(messages) - sent
                        log.warning("The term of this scheduler has expired: %d messages not sent", left)
                        return tasks
                    transport.send(message)
                    sent += 1
                    tasks += len(message.keys)
    except Exception as error:  # a connection that broke in the middle raises what it likes
        unknown = not isinstance(error, BrokerAway)
        left = sum(len(message.keys) for message in messages[sent:])
        log.warning("Sending to the broker failed, %d tasks return to pending: %s", left, error, exc_info=unknown)
        _return_to_pending(engine, messages[sent:])
    return tasks


def _return_to_pending(engine: Engine, messages: list[TaskMessage]) -> None:
    with writing(engine) as connection:
        for kind, unsent in keys_by_kind((each.kind, key) for each in messages for key in each.keys).items():
            table = kind.table
            connection.execute(
                update(table)
                .where(table.id.in_(unsent), table.state == LeaseState.ENQUEUED)
                .values(state=LeaseState.PENDING, enqueued_at=None, not_before=now() + 1.0)
            )
