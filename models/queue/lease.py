"""The row of a leased task: work that one process holds for a limited time. `task_kind` says what a task is for.

Every change is one conditional UPDATE, and its row count says who won. `owner` is a fencing
token, new at each claim: whoever comes back late with an old one finds no row to change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    or_,
    select,
    true,
    update,
)

from models.schema.base import now
from models.schema.column_types import readable
from models.schema.queue import Leased
from models.schema.states import IN_FLIGHT, NOT_YET, LeaseState


def is_open(table: type[Leased]) -> ColumnElement[bool]:
    """Whether a row waits or is in flight: said so that a partial index serves each."""
    return or_(table.state == LeaseState.PENDING, table.state.in_(IN_FLIGHT))


def held_by(table: type[Leased], key: int, owner: str) -> ColumnElement[bool]:
    """Whether it is this owner who holds the row."""
    return and_(table.id == key, table.owner == owner, table.state == LeaseState.RUNNING)


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
) -> int | None:
    """Try to become the one who holds this row: which attempt it is, also when it was ours before; None if it failed.

    With an `edition` only a row of that one is taken; one of another is left to others, and its message is given up.
    A connection may break when the claim is written and before we hear of it: who asks again must not wait for the end
    of his own lease.
    """
    own = true() if edition is None else table.edition == edition
    taken: int | None = connection.scalar(
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
        .returning(table.attempts)
    )
    if taken is not None:
        return taken
    ours: int | None = connection.scalar(select(table.attempts).where(held_by(table, key, owner)))
    if ours is None and edition is not None:
        unsend(connection, table, [key], table.edition != edition)
    return ours


def unsend(connection: Connection, table: type[Leased], keys: Iterable[int], *which: ColumnElement[bool]) -> int:
    """Put those of the rows back whose message will not be acted on; how many. No attempt is used."""
    unsent = connection.execute(
        update(table)
        .where(table.id.in_(list(keys)), table.state == LeaseState.ENQUEUED, *which)
        .values(state=LeaseState.PENDING, enqueued_at=None)
    )
    return unsent.rowcount


def refusals(connection: Connection, table: type[Leased], key: int, owner: str) -> set[str]:
    """The releases whose workers could not do this row so far, locked; none where it is not the owner's any more."""
    held = select(table.refused_by).where(held_by(table, key, owner))
    stored = connection.scalar(held.with_for_update())
    return set() if stored is None else set(readable(stored, []))


def pass_on(
    connection: Connection,
    table: type[Leased],
    key: int,
    owner: str,
    reason: str,
    delay_seconds: float,
    refused_by: Collection[str],
) -> bool:
    """Leave a row to others that may be able to do it; no attempt is used. False when it was not the owner's."""
    refused = update(table).where(held_by(table, key, owner)).values(refused_by=sorted(refused_by))
    if not connection.execute(refused).rowcount:
        return False
    retry_later(connection, table, key, reason=reason, delay_seconds=delay_seconds, used=False)
    return True


def release_worker(connection: Connection, table: type[Leased], worker: str) -> int:
    """Put back all that a worker runs, because it stops; how many. No attempt is used, and nobody need wait."""
    released = connection.execute(
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
    return released.rowcount


def renew(connection: Connection, table: type[Leased], key: int, owner: str, lease_seconds: float) -> bool:
    """Hold a row for longer; False when it is not the owner's any more."""
    longer = update(table).where(held_by(table, key, owner)).values(lease_until=now() + lease_seconds)
    return connection.execute(longer).rowcount == 1


def finish(connection: Connection, table: type[Leased], key: int, owner: str, **values: object) -> bool:
    """Mark the row done if `owner` still holds it; False means the work must be thrown away.

    `values` are written into other columns of it.
    """
    finished = connection.execute(
        update(table)
        .where(held_by(table, key, owner))
        .values(state=LeaseState.DONE, owner=None, lease_until=None, error=None, ended_at=now(), **values)
    )
    return finished.rowcount == 1


def retry_later(
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


def end(
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


def retry_unowned(connection: Connection, table: type[Leased], longest_delay: float) -> int:
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


def no_attempt_left(error: str | None, setting: str, most: int) -> str:
    """Why such a row ends: its last error, and the setting that allows no further attempt."""
    before = f"{error.rstrip('.')}. " if error else ""
    return f"{before}No further attempt is allowed: {setting} is {most}."


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
