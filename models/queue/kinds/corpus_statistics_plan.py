"""What is still to be prepared, and for whom: planned by those who queue evaluations and those who sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from models.schema.base import BLOCK_SEGMENTS, now
from models.schema.queue import Evaluation, Preparation, PreparedState, ProtocolState, Shard
from models.schema.states import IN_FLIGHT, NOT_YET, UNSCORED, LeaseState

OPEN_WORK = (LeaseState.PENDING, *IN_FLIGHT)


@dataclass(frozen=True, slots=True)
class UnpreparedState:
    """A state that is still to be made."""

    id: int
    key: str
    reference_texts: tuple[int, ...]
    segments: int
    edition: int


def lock_state(connection: Connection, prepared_state_id: int, *, wait: bool = True) -> UnpreparedState | None:
    """The state if it is still to be made, held until the transaction ends.

    Who adds preparations holds it, so that no block is counted twice and two last parts do not miss each other. None
    where the state is complete; without `wait` also where somebody else holds it.
    """
    # Not a full FOR UPDATE: who links a protocol to the state holds it by the foreign key, and two who did so would
    # each leave the planning to the other.
    row = connection.execute(
        select(
            PreparedState.id,
            PreparedState.key,
            PreparedState.reference_texts,
            PreparedState.segments,
            PreparedState.edition,
        )
        .where(PreparedState.id == prepared_state_id, PreparedState.blob.is_(None))
        .with_for_update(key_share=True, skip_locked=not wait)
    ).one_or_none()
    if row is None:
        return None
    return UnpreparedState(row.id, row.key, tuple(row.reference_texts), row.segments, row.edition)


def missing_ranges(
    connection: Connection, state: UnpreparedState, counted: Sequence[LeaseState] = (*OPEN_WORK, LeaseState.DONE)
) -> list[tuple[int, int]]:
    """The ranges of blocks without a part in one of these states. Only for who holds the state.

    By default those that nobody has counted or is about to count.
    """
    rows = connection.execute(
        select(Preparation.first_block, Preparation.last_block)
        .where(
            Preparation.prepared_state_id == state.id,
            Preparation.merges.is_(False),
            Preparation.state.in_(counted),
            # What was counted goes when it is merged, and must be counted again if the state is lost after that.
            or_(Preparation.state != LeaseState.DONE, Preparation.part.is_not(None)),
        )
        .order_by(Preparation.first_block)
    ).all()
    gaps, covered, end = [], 0, -(-state.segments // BLOCK_SEGMENTS)
    for first, last in (*((row.first_block, row.last_block) for row in rows), (end, end)):
        if first > covered:
            gaps.append((covered, first))
        covered = max(covered, last)
    return gaps


def waiting_evaluations(connection: Connection, prepared_state_id: int) -> list[int]:
    """Evaluations whose shards are not all done and need the state, in the order of their ids."""
    rows = connection.scalars(
        select(Evaluation.id)
        .join(ProtocolState, ProtocolState.protocol_id == Evaluation.protocol_id)
        .join(PreparedState, PreparedState.id == ProtocolState.prepared_state_id)
        .where(
            PreparedState.id == prepared_state_id,
            Evaluation.edition == PreparedState.edition,
            Evaluation.state.in_(UNSCORED),
        )
        .order_by(Evaluation.id)
    )
    return list(rows)


def unprepared_protocols(edition: Any) -> Select[int]:
    """The protocols with a state of an edition that is still to be made."""
    return (
        select(ProtocolState.protocol_id)
        .join(PreparedState, PreparedState.id == ProtocolState.prepared_state_id)
        .where(PreparedState.blob.is_(None), PreparedState.edition == edition)
    )


def send_prepared(connection: Connection, edition: int, *which: ColumnElement[bool]) -> int:
    """Let those shards of an edition be sent that waited for what is there now; how many there were.

    Who queues evaluations decides by what he sees; where a state is stored at that very moment, the next sweep finds
    the shards. One that somebody holds is left to it, too.
    """
    free = (
        select(Shard.id)
        .where(
            Shard.state == LeaseState.PENDING,
            Shard.not_before == literal_column(str(NOT_YET)),
            Shard.edition == edition,
            Shard.protocol_id.not_in(unprepared_protocols(edition)),
            *which,
        )
        .with_for_update(skip_locked=True)
    )
    sent = update(Shard).where(Shard.id.in_(free.scalar_subquery())).values(not_before=now())
    return connection.execute(sent).rowcount


def enqueue_merge(connection: Connection, prepared_state_id: int) -> int | None:
    """A new pending preparation that merges, if all parts are there and nobody merges; its id."""
    row = lock_state(connection, prepared_state_id)
    # Only what is done stays as it is while we hold the state. A part that is open now may be cancelled or fail before
    # we look again, and would be missing in the merge.
    if row is None or missing_ranges(connection, row, [LeaseState.DONE]):
        return None
    unfinished = select(Preparation.id).where(
        Preparation.prepared_state_id == prepared_state_id, Preparation.state.in_(OPEN_WORK)
    )
    if connection.execute(unfinished.limit(1)).first() is not None:
        return None
    last = connection.execute(
        select(Preparation.queue_class, Preparation.team, Preparation.due_at)
        .where(Preparation.prepared_state_id == prepared_state_id, Preparation.state == LeaseState.DONE)
        .order_by(Preparation.queue_class, Preparation.id)
    ).first()
    turn = {} if last is None else dict(last._mapping)
    return connection.execute(
        insert(Preparation)
        .values(
            prepared_state_id=prepared_state_id,
            first_block=0,
            last_block=-(-row.segments // BLOCK_SEGMENTS),
            merges=True,
            edition=row.edition,
            **turn,
        )
        .returning(Preparation.id)
    ).scalar_one()


def plan_parts(
    connection: Connection,
    state: UnpreparedState,
    ranges: Sequence[tuple[int, int]],
    queue_class: int,
    team: str,
    due_at: float | None = None,
) -> None:
    """Add a pending preparation for each range of blocks. Only for who holds the state."""
    common = {
        "prepared_state_id": state.id,
        "queue_class": queue_class,
        "team": team,
        "due_at": due_at,
        "edition": state.edition,
    }
    connection.execute(
        insert(Preparation), [{**common, "first_block": first, "last_block": last} for first, last in ranges]
    )


def raise_priority(
    connection: Connection, prepared_state_id: int, queue_class: int, due_at: float | None = None
) -> None:
    """Let what is still to be done for a state wait in this class at most, and be due by then: somebody needs it."""
    # Who queues evaluations holds them already, and preparations are locked before evaluations: so take only rows that
    # nobody holds. Whoever holds one is about to send or to claim it anyway.
    changes: list[tuple[ColumnElement[bool], dict[str, Any]]] = [
        (Preparation.queue_class > queue_class, {"queue_class": queue_class})
    ]
    if due_at is not None:
        later = or_(Preparation.due_at.is_(None), Preparation.due_at > due_at)
        changes.append((later, {"due_at": due_at}))
    for slow, values in changes:
        rows = (
            select(Preparation.id)
            .where(Preparation.prepared_state_id == prepared_state_id, Preparation.state == LeaseState.PENDING, slow)
            .with_for_update(skip_locked=True)
        )
        connection.execute(update(Preparation).where(Preparation.id.in_(rows.scalar_subquery())).values(**values))
