"""Leases: each row of work is held by one process for a limited time. `task_kind` says what a task is for.

Every change is one conditional UPDATE, and its row count says whether it took place. `owner` is a fencing token, new at
each claim: a late process with an old token finds no row to change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    case,
    literal,
    or_,
    select,
    update,
)

from models.schema.base import now
from models.schema.column_types import readable
from models.schema.queue import Leased
from models.schema.states import IN_FLIGHT, NOT_YET, LeaseState

NOT_RUNNING = tuple(state for state in LeaseState if state != LeaseState.RUNNING)


def is_open(table: type[Leased]) -> ColumnElement[bool]:
    """Whether a row is pending or in flight; written so that a partial index serves each part."""
    return or_(table.state == LeaseState.PENDING, table.state.in_(IN_FLIGHT))


def held_by(table: type[Leased], keys: int | Collection[int], owner: str) -> ColumnElement[bool]:
    """Condition: this owner holds the row, or the rows."""
    # Asked for what runs, PostgreSQL would look through the index of all rows in flight, of which it expects few and a
    # large installation has thousands, rather than for these ids.
    return and_(_is_one_of(table, keys), table.owner == owner, table.state.not_in(NOT_RUNNING))


def _is_one_of(table: type[Leased], keys: int | Collection[int]) -> ColumnElement[bool]:
    several = [keys] if isinstance(keys, int) else sorted(keys)
    return table.id == several[0] if len(several) == 1 else table.id.in_(several)


def claim_rows(
    connection: Connection,
    table: type[Leased],
    keys: Collection[int],
    *,
    owner: str,
    worker: str,
    lease_seconds: float,
    max_attempts: int,
    edition: int | None = None,
) -> list[Row[int, int, str | None, int]]:
    """Claim those of the rows that are free: the id, the number of the attempt, the trace and the class, by id.

    With an `edition`, only rows of this edition are claimed; a row of another one goes back to pending. A connection
    may break after the claim was committed and before we learn of it: the second try must find its own leases.
    """
    found = table.id, table.attempts, table.trace, table.queue_class
    free = [
        _is_one_of(table, keys),
        table.state.in_((LeaseState.PENDING, LeaseState.ENQUEUED)),
        table.attempts < max_attempts,
    ]
    if edition is not None:
        free.append(table.edition == edition)
    if len(keys) > 1:
        # Two processes that were told of the same rows lock them in one order.
        ours = select(table.id).where(*free).order_by(table.id).with_for_update()
        free = [table.id.in_(ours.scalar_subquery())]
    claimed: Sequence[Row[int, int, str | None, int]] = connection.execute(
        update(table)
        .where(*free)
        .values(
            state=LeaseState.RUNNING,
            attempts=table.attempts + 1,
            owner=owner,
            worker=worker,
            lease_until=now() + lease_seconds,
            claimed_at=now(),
        )
        .returning(*found)
    ).all()
    missing = set(keys) - {row.id for row in claimed}
    if missing:
        claimed = [*claimed, *connection.execute(select(*found).where(held_by(table, missing, owner)))]
        missing -= {row.id for row in claimed}
    if missing and edition is not None:
        unsend(connection, table, missing, table.edition != edition)
    return sorted(claimed, key=lambda row: int(row.id))


def unsend(connection: Connection, table: type[Leased], keys: Iterable[int], *which: ColumnElement[bool]) -> int:
    """Return enqueued rows whose message will not be handled to pending; their number. No attempt is counted."""
    unsent = connection.execute(
        update(table)
        .where(table.id.in_(list(keys)), table.state == LeaseState.ENQUEUED, *which)
        .values(state=LeaseState.PENDING, enqueued_at=None)
    )
    return unsent.rowcount


def refusals(connection: Connection, table: type[Leased], key: int, owner: str) -> set[str]:
    """The releases whose workers have refused this row, which is locked; empty if the owner no longer holds it."""
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
    """Leave a row to workers of other releases; no attempt is counted. False if the owner did not hold it."""
    refused = update(table).where(held_by(table, key, owner)).values(refused_by=sorted(refused_by))
    if not connection.execute(refused).rowcount:
        return False
    retry_later(connection, table, key, reason=reason, delay_seconds=delay_seconds, used=False)
    return True


def release_worker(connection: Connection, table: type[Leased], worker: str) -> int:
    """Return everything that a stopping worker runs to pending, with no attempt counted; the number of rows."""
    return _hand_back(connection, table, table.worker == worker, table.state == LeaseState.RUNNING)


def release_unbegun(connection: Connection, table: type[Leased], keys: Collection[int], owner: str) -> int:
    """Return rows that their owner has not begun to pending, with no attempt counted; the number of rows."""
    return _hand_back(connection, table, held_by(table, keys, owner))


def _hand_back(connection: Connection, table: type[Leased], *which: ColumnElement[bool]) -> int:
    released = connection.execute(
        update(table)
        .where(*which)
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
    """Extend a lease; False if the owner no longer holds it."""
    longer = update(table).where(held_by(table, key, owner)).values(lease_until=now() + lease_seconds)
    return connection.execute(longer).rowcount == 1


def complete_rows(
    connection: Connection, table: type[Leased], values: Mapping[int, Mapping[str, object]], owner: str
) -> set[int]:
    """Mark those of the rows done that `owner` still holds; their ids. The work of others must be discarded.

    `values` has, by id, what is written into other columns of the rows: the same columns in all of them.
    """
    first, *others = values.values()
    columns = table.__table__.c  # type: ignore[attr-defined]
    of_rows = {
        name: case({key: literal(each[name], columns[name].type) for key, each in values.items()}, value=table.id)
        if others
        else first[name]
        for name in first
    }
    finished = connection.execute(
        update(table)
        .where(held_by(table, values, owner))
        .values(state=LeaseState.DONE, owner=None, lease_until=None, error=None, ended_at=now(), **of_rows)
        .returning(table.id)
    )
    return set(finished.scalars())


def retry_later(
    connection: Connection,
    table: type[Leased],
    key: int,
    *,
    reason: str | None,
    delay_seconds: float,
    used: bool = True,
) -> None:
    """Return a row to pending for a retry in `delay_seconds`; `used` says whether the attempt counts."""
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
    """Cancel those of the rows that are waiting, since they are no longer needed."""
    # A claim locks the task and then what it works for; cancelling locks in the opposite order. So take only unlocked
    # rows. A row missed here is cancelled when it is claimed.
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
    """Return rows that could never be claimed to pending; their number.

    Such rows are sent or running without the matching columns, or delayed for too long. No transaction creates them;
    editing the database by hand may.
    """
    stuck = or_(
        and_(table.state == LeaseState.RUNNING, or_(table.owner.is_(None), table.lease_until.is_(None))),
        and_(table.state == LeaseState.ENQUEUED, table.enqueued_at.is_(None)),
        # Waiting for corpus statistics (`NOT_YET`) is no delay.
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
    """Running rows claimed by the task with this id: (id, owner). Owners are "task id:random"."""
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
