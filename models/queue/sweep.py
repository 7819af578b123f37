"""Finds tasks of all kinds that would otherwise be stuck: one statement for each question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, and_, func, literal, or_, select, union_all, update

from models.queue.kinds.registry import IN_WORKERS, KINDS, SENT
from models.queue.task_kind import TaskKind
from models.schema.base import now
from models.schema.queue import RETRIED, Leased, Worker
from models.schema.states import LeaseState
from runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class Expired:
    """A task whose owner will not finish it."""

    kind: TaskKind[Any, Any]
    key: int
    owner: str
    what: str
    """What happened to the owner."""


def find_expired(connection: Connection, silent_seconds: float) -> list[Expired]:
    """Running tasks whose lease has expired, or whose worker is silent or gone."""
    parts = []
    for number, kind in enumerate(KINDS):
        table = kind.table
        over = table.lease_until < now()
        held = table.state == LeaseState.RUNNING, table.owner.is_not(None)
        part = select(literal(number, Integer).label("number"), table.id, table.owner, table.worker, over.label("over"))
        if kind in IN_WORKERS:
            silent = or_(Worker.id.is_(None), Worker.beat_at < now() - silent_seconds)
            parts.append(part.outerjoin(Worker, Worker.id == table.worker).where(*held, or_(over, silent)))
        else:
            # These kinds run in the scheduler, which has no heartbeat row.
            parts.append(part.where(*held, over))
    rows = sorted(connection.execute(union_all(*parts)), key=lambda row: (row.number, row.id))
    return [
        Expired(
            KINDS[row.number],
            row.id,
            row.owner,
            _describe_expiry(KINDS[row.number], row.worker, over=row.over),
        )
        for row in rows
    ]


def _describe_expiry(kind: TaskKind[Any, Any], worker: str, *, over: bool) -> str:
    if kind not in IN_WORKERS:
        return f"the lease of {worker} expired"
    return f"worker {worker} " + ("exceeded its lease" if over else "stopped responding")


def find_exhausted(connection: Connection, settings: Settings) -> list[tuple[TaskKind[Any, Any], int]]:
    """Pending tasks without attempts left, because the limit is lower now than when they were tried."""
    parts = (
        select(literal(number, Integer).label("number"), kind.table.id).where(
            RETRIED, kind.table.attempts >= kind.policy(settings).max_attempts
        )
        for number, kind in enumerate(KINDS)
    )
    rows = sorted((row.number, row.id) for row in connection.execute(union_all(*parts)))
    return [(KINDS[number], key) for number, key in rows]


def count_stale_messages(connection: Connection, seconds: float, edition: int) -> Counter[int]:
    """The number of tasks of an edition, by class, whose message was sent this long ago and not handled."""
    parts = (
        select(kind.table.queue_class.label("queue_class"), func.count().label("amount"))
        .where(_stale(kind.table, seconds), kind.table.edition == edition)
        .group_by(kind.table.queue_class)
        for kind in SENT
    )
    amounts = Counter[int]()
    for row in connection.execute(union_all(*parts)):
        amounts[row.queue_class] += row.amount
    return amounts


def resend_stale(
    connection: Connection, seconds: float, classes: Iterable[int] | None = None, edition: int | None = None
) -> int:
    """Return tasks whose message was sent long ago and not handled to pending; their number.

    Of these classes and this edition, by default of all.
    """
    wanted = None if classes is None else list(classes)

    def stale(table: type[Leased]) -> ColumnElement[bool]:
        which = _stale(table, seconds)
        if wanted is not None:
            which = and_(which, table.queue_class.in_(wanted))
        return which if edition is None else and_(which, table.edition == edition)

    there = connection.execute(
        select(*(select(kind.table.id).where(stale(kind.table)).exists() for kind in SENT))
    ).one()
    resent = 0
    for kind, any_there in zip(SENT, there, strict=True):
        if any_there:
            # A locked row is about to be claimed.
            free = select(kind.table.id).where(stale(kind.table)).with_for_update(skip_locked=True)
            resent += connection.execute(
                update(kind.table)
                .where(kind.table.id.in_(free.scalar_subquery()))
                .values(state=LeaseState.PENDING, enqueued_at=None)
            ).rowcount
    return resent


def _stale(table: type[Leased], seconds: float) -> ColumnElement[bool]:
    return and_(table.state == LeaseState.ENQUEUED, table.enqueued_at < now() - seconds)
