"""What shards, reductions, preparations and trials share: work that one worker holds for a limited time.

Every change is one conditional UPDATE, and its row count says who won. `owner` is a fencing
token, new at each claim: whoever comes back late with an old one finds no row to change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    func,
    or_,
    select,
    true,
    update,
)

from models.schema.base import now
from models.schema.queue import RETRIED, Leased, Worker
from models.schema.states import IN_FLIGHT, NOT_YET, LeaseState


def is_open(table: type[Leased]) -> ColumnElement[bool]:
    """Whether a row waits or is in flight: said so that a partial index serves each."""
    return or_(table.state == LeaseState.PENDING, table.state.in_(IN_FLIGHT))


def take(
    connection: Connection,
    table: type[Leased],
    key: int,
    *,
    owner: str,
    worker: str,
    lease_seconds: float,
    max_attempts: int,
    edition: int | None = None,
) -> bool:
    """Try to become the one who holds this row; True when it worked, also when it worked before.

    With an `edition` only a row of that one is taken; one of another is left to others, and its message is given up.
    A connection may break when the claim is written and before we hear of it: who asks again must not wait for the end
    of his own lease.
    """
    own = true() if edition is None else table.edition == edition
    taken = connection.execute(
        update(table)
        .where(
            table.id == key,
            table.state.in_((LeaseState.PENDING, LeaseState.ENQUEUED)),
            table.attempts < max_attempts,
            own,
        )
        .values(
            state=LeaseState.RUNNING,
            attempts=table.attempts + 1,
            owner=owner,
            worker=worker,
            lease_until=now() + lease_seconds,
            claimed_at=now(),
        )
    )
    if taken.rowcount == 1 or holds(connection, table, key, owner):
        return True
    if edition is not None:
        withdraw(connection, table, [key], table.edition != edition)
    return False


def withdraw(connection: Connection, table: type[Leased], keys: Iterable[int], *which: ColumnElement[bool]) -> int:
    """Put those of the rows back whose message will not be acted on; how many. No attempt is used."""
    withdrawn = connection.execute(
        update(table)
        .where(table.id.in_(list(keys)), table.state == LeaseState.ENQUEUED, *which)
        .values(state=LeaseState.PENDING, enqueued_at=None)
    )
    return withdrawn.rowcount


def refusals(connection: Connection, table: type[Leased], key: int, owner: str) -> set[str]:
    """The releases whose workers could not do this row so far, locked; none where it is not the owner's any more."""
    held = select(table.refused_by).where(table.id == key, table.owner == owner, table.state == LeaseState.RUNNING)
    return set(connection.scalar(held.with_for_update()) or ())


def hand_on(
    connection: Connection,
    table: type[Leased],
    key: int,
    owner: str,
    reason: str,
    delay_seconds: float,
    refused_by: Collection[str],
) -> bool:
    """Leave a row to others that may be able to do it; no attempt is used. False when it was not the owner's."""
    refused = (
        update(table)
        .where(table.id == key, table.owner == owner, table.state == LeaseState.RUNNING)
        .values(refused_by=sorted(refused_by))
    )
    if not connection.execute(refused).rowcount:
        return False
    put_back(connection, table, key, reason=reason, delay_seconds=delay_seconds, used=False)
    return True


def hand_back(connection: Connection, table: type[Leased], worker: str) -> int:
    """Put back all that a worker runs, because it stops; how many. No attempt is used, and nobody need wait."""
    handed = connection.execute(
        update(table)
        .where(table.worker == worker, table.state == LeaseState.RUNNING)
        .values(
            state=LeaseState.PENDING,
            attempts=table.attempts - 1,
            not_before=now(),
            enqueued_at=None,
            owner=None,
            lease_until=None,
        )
    )
    return handed.rowcount


def holds(connection: Connection, table: type[Leased], key: int, owner: str) -> bool:
    """Whether it is this owner who holds the row."""
    held = select(table.id).where(table.id == key, table.owner == owner, table.state == LeaseState.RUNNING)
    return connection.execute(held).first() is not None


def finish(connection: Connection, table: type[Leased], key: int, owner: str, **values: object) -> bool:
    """Mark the row done if `owner` still holds it; False means the work must be thrown away.

    `values` are written into other columns of it.
    """
    finished = connection.execute(
        update(table)
        .where(table.id == key, table.owner == owner, table.state == LeaseState.RUNNING)
        .values(state=LeaseState.DONE, owner=None, lease_until=None, error=None, ended_at=now(), **values)
    )
    return finished.rowcount == 1


def put_back(
    connection: Connection,
    table: type[Leased],
    key: int,
    *,
    reason: str | None,
    delay_seconds: float,
    used: bool = True,
) -> None:
    """Let somebody else have the row, `delay_seconds` from now; `used` says if the attempt counts."""
    connection.execute(
        update(table)
        .where(table.id == key)
        .values(
            state=LeaseState.PENDING,
            attempts=table.attempts - (0 if used else 1),
            not_before=now() + delay_seconds,
            enqueued_at=None,
            owner=None,
            lease_until=None,
            error=reason,
        )
    )


def close(
    connection: Connection, table: type[Leased], keys: Iterable[int], state: LeaseState, reason: str | None
) -> None:
    """End rows without a result."""
    connection.execute(
        update(table)
        .where(table.id.in_(list(keys)))
        .values(state=state, owner=None, lease_until=None, error=reason, ended_at=now())
    )


def cancel_idle(connection: Connection, table: type[Leased], *which: ColumnElement[bool]) -> None:
    """Cancel those of the rows that wait: nobody needs them any more."""
    # A claim locks the row first and then what it works for, who cancels the other way round: so take only rows that
    # nobody holds. One that slips through is cancelled when it is claimed.
    idle = (
        select(table.id)
        .where(*which, table.state.in_((LeaseState.PENDING, LeaseState.ENQUEUED)))
        .with_for_update(skip_locked=True)
    )
    connection.execute(
        update(table)
        .where(table.id.in_(idle.scalar_subquery()))
        .values(state=LeaseState.CANCELLED, owner=None, lease_until=None, ended_at=now())
    )


def lost(connection: Connection, table: type[Leased], silent_seconds: float) -> list[tuple[int, str, str]]:
    """Running rows whose lease is over or whose worker is silent or gone: (id, owner, what happened)."""
    over = table.lease_until < now()
    rows = connection.execute(
        select(table.id, table.owner, table.worker, over.label("over"))
        .outerjoin(Worker, Worker.id == table.worker)
        .where(
            table.state == LeaseState.RUNNING,
            table.owner.is_not(None),
            or_(over, Worker.id.is_(None), Worker.beat_at < now() - silent_seconds),
        )
        .order_by(table.id)
    )
    return [
        (
            row.id,
            row.owner,
            f"worker {row.worker} " + ("took longer than its lease" if row.over else "fell silent"),
        )
        for row in rows
    ]


def put_back_unowned(connection: Connection, table: type[Leased], longest_delay: float) -> int:
    """Let rows wait that nobody would ever take up: sent or running without what says so, or delayed for too long.

    How many there were. No transaction leaves such a row behind; people who edit the database may.
    """
    stuck = or_(
        and_(table.state == LeaseState.RUNNING, or_(table.owner.is_(None), table.lease_until.is_(None))),
        and_(table.state == LeaseState.ENQUEUED, table.enqueued_at.is_(None)),
        # What waits for references (`NOT_YET`) is no delay.
        and_(table.state == LeaseState.PENDING, table.not_before > now() + longest_delay, table.not_before < NOT_YET),
    )
    free = select(table.id).where(stuck).with_for_update(skip_locked=True)
    return connection.execute(
        update(table)
        .where(table.id.in_(free.scalar_subquery()))
        .values(state=LeaseState.PENDING, not_before=now(), enqueued_at=None, owner=None, lease_until=None)
    ).rowcount


def exhausted(connection: Connection, table: type[Leased], max_attempts: int) -> list[int]:
    """Rows that wait although their attempts are used up, since fewer are allowed now than when they were tried."""
    return list(connection.scalars(select(table.id).where(RETRIED, table.attempts >= max_attempts).order_by(table.id)))


def no_attempt_left(error: str | None, setting: str, most: int) -> str:
    """Why such a row ends: its last error, and the setting that allows no further attempt."""
    before = f"{error.rstrip('.')}. " if error else ""
    return f"{before}No further attempt is allowed: {setting} is {most}."


def unanswered(connection: Connection, table: type[Leased], seconds: float, edition: int) -> dict[int, int]:
    """How many rows of an edition, of each class, have a message that was sent so long ago and not acted on."""
    rows = connection.execute(
        select(table.queue_class, func.count().label("amount"))
        .where(_old(table, seconds), table.edition == edition)
        .group_by(table.queue_class)
    )
    return {row.queue_class: row.amount for row in rows}


def forget_old_hints(
    connection: Connection,
    table: type[Leased],
    hint_seconds: float,
    classes: Iterable[int] | None = None,
    edition: int | None = None,
) -> int:
    """Put rows back whose message was sent long ago and never acted on; how many.

    Those of these classes or of all, and of this edition or of all.
    """
    old = _old(table, hint_seconds)
    if classes is not None:
        old = and_(old, table.queue_class.in_(list(classes)))
    if edition is not None:
        old = and_(old, table.edition == edition)
    if connection.execute(select(table.id).where(old).limit(1)).first() is None:
        return 0
    # One that somebody holds is about to be claimed.
    free = select(table.id).where(old).with_for_update(skip_locked=True)
    return connection.execute(
        update(table).where(table.id.in_(free.scalar_subquery())).values(state=LeaseState.PENDING, enqueued_at=None)
    ).rowcount


def _old(table: type[Leased], seconds: float) -> ColumnElement[bool]:
    return and_(table.state == LeaseState.ENQUEUED, table.enqueued_at < now() - seconds)


def owned_by_task(connection: Connection, table: type[Leased], task_id: str) -> list[tuple[int, str]]:
    """Running rows that a task of that id claimed: (id, owner). Owners are "task id:random"."""
    rows = connection.execute(
        select(table.id, table.owner).where(
            table.state == LeaseState.RUNNING, table.owner.startswith(f"{task_id}:", autoescape=True)
        )
    )
    return [(row.id, row.owner) for row in rows]


def in_flight(connection: Connection, table: type[Leased]) -> list[tuple[int, str]]:
    """Rows that are enqueued or running: (id, state)."""
    rows = connection.execute(select(table.id, table.state).where(table.state.in_(IN_FLIGHT)).order_by(table.id))
    return [(row.id, row.state) for row in rows]
