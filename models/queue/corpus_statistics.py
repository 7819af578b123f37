"""The life of a preparation: claimed, completed, released, merged.

Locks are taken in the order preparation, then evaluations by id, then prepared state.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select, update

from models.queue.corpus_statistics_plan import send_prepared, start_merging, waiting_evaluations
from models.queue.evaluation_end import fail_evaluations, fault_of
from models.queue.lease import close, finish, put_back, take
from models.schema.base import BLOCK_SEGMENTS
from models.schema.queue import Preparation, PreparedState, ProtocolState, Shard
from models.schema.states import LeaseState


@dataclass(frozen=True, slots=True)
class ClaimedPreparation:
    """A preparation that is ours until its lease is over."""

    preparation_id: int
    owner: str
    prepared_state_id: int
    key: str
    metric: str
    reference_texts: tuple[int, ...]
    variable_references: bool
    first_block: int
    last_block: int
    merges: bool
    edition: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What came of handing in a part."""

    accepted: bool
    """False when somebody else had taken the preparation over."""
    merge: int | None = None
    """The pending preparation that merges, where this was the last part."""


@dataclass(frozen=True, slots=True)
class CountedPart:
    """What was counted in a run of blocks; `last_block` is exclusive."""

    preparation_id: int
    first_block: int
    last_block: int


def claim_preparation(
    connection: Connection,
    preparation_id: int,
    *,
    owner: str,
    worker: str,
    lease_seconds: float,
    max_attempts: int,
    edition: int | None = None,
) -> ClaimedPreparation | None:
    """Try to become the one who counts or merges; None when somebody else does, or nobody waits for it."""
    if not take(
        connection,
        Preparation,
        preparation_id,
        owner=owner,
        worker=worker,
        lease_seconds=lease_seconds,
        max_attempts=max_attempts,
        edition=edition,
    ):
        return None
    row = connection.execute(
        select(
            Preparation.first_block,
            Preparation.last_block,
            Preparation.merges,
            Preparation.edition,
            PreparedState.id,
            PreparedState.key,
            PreparedState.metric,
            PreparedState.reference_texts,
            PreparedState.variable_references,
        )
        .join(PreparedState, PreparedState.id == Preparation.prepared_state_id)
        .where(Preparation.id == preparation_id)
    ).one()
    if not waiting_evaluations(connection, row.id):
        close(connection, Preparation, [preparation_id], LeaseState.CANCELLED, None)
        return None
    return ClaimedPreparation(
        preparation_id=preparation_id,
        owner=owner,
        prepared_state_id=row.id,
        key=row.key,
        metric=row.metric,
        reference_texts=tuple(row.reference_texts),
        variable_references=row.variable_references,
        first_block=row.first_block,
        last_block=row.last_block,
        merges=row.merges,
        edition=row.edition,
    )


def complete_part(connection: Connection, claim: ClaimedPreparation, part: bytes) -> Counted:
    """Hand in what was counted; with the last part comes a new preparation that merges."""
    if not finish(connection, Preparation, claim.preparation_id, claim.owner, part=part):
        return Counted(accepted=False)
    return Counted(accepted=True, merge=start_merging(connection, claim.prepared_state_id))


def complete_merge(connection: Connection, claim: ClaimedPreparation, state: bytes) -> bool:
    """Store the state, for which shards wait, and drop its parts; False when the merge was not ours any more.

    The state is empty where its chapters are stored.
    """
    if not finish(connection, Preparation, claim.preparation_id, claim.owner):
        return False
    connection.execute(update(PreparedState).where(PreparedState.id == claim.prepared_state_id).values(blob=state))
    connection.execute(
        update(Preparation)
        .where(Preparation.prepared_state_id == claim.prepared_state_id, Preparation.part.is_not(None))
        .values(part=None)
    )
    linked = select(ProtocolState.protocol_id).where(ProtocolState.prepared_state_id == claim.prepared_state_id)
    send_prepared(connection, claim.edition, Shard.protocol_id.in_(linked))
    return True


def counted_parts(connection: Connection, prepared_state_id: int) -> list[CountedPart]:
    """What was counted, in the order of the blocks."""
    rows = connection.execute(
        select(Preparation.id, Preparation.first_block, Preparation.last_block)
        .where(Preparation.prepared_state_id == prepared_state_id, Preparation.part.is_not(None))
        .order_by(Preparation.first_block)
    )
    return [CountedPart(row.id, row.first_block, row.last_block) for row in rows]


def read_part(connection: Connection, part: CountedPart) -> bytes:
    """The part itself, compressed."""
    blob = connection.scalar(select(Preparation.part).where(Preparation.id == part.preparation_id))
    # The transaction sees what it saw when it found the part.
    assert blob is not None
    return blob


def release_preparation(
    connection: Connection,
    preparation_id: int,
    owner: str,
    reason: str,
    *,
    max_attempts: int,
    delay_seconds: float,
    permanent: bool = False,
) -> bool:
    """Take a preparation from an owner that could not finish it; False when it was not his any more.

    It goes back to pending, `delay_seconds` longer each time. Out of attempts (or at once when the error is
    `permanent`) it fails, and with it every evaluation that waits for the state.
    """
    row = connection.execute(
        select(
            Preparation.attempts,
            Preparation.prepared_state_id,
            Preparation.first_block,
            Preparation.last_block,
            Preparation.merges,
            PreparedState.metric,
        )
        .join(PreparedState, PreparedState.id == Preparation.prepared_state_id)
        .where(Preparation.id == preparation_id, Preparation.owner == owner, Preparation.state == LeaseState.RUNNING)
        .with_for_update(of=Preparation)
    ).one_or_none()
    if row is None:
        return False
    if row.attempts < max_attempts and not permanent:
        delay = delay_seconds * row.attempts
        put_back(connection, Preparation, preparation_id, reason=reason, delay_seconds=delay)
        return True
    close(connection, Preparation, [preparation_id], LeaseState.FAILED, reason)
    tries = f"tried {row.attempts} times" if row.attempts > 1 else "tried once"
    first, last = row.first_block * BLOCK_SEGMENTS + 1, row.last_block * BLOCK_SEGMENTS
    what = "What was counted" if row.merges else f"Segments {first} to {last}"
    failed = "merged" if row.merges else "counted"
    fail_evaluations(
        connection,
        waiting_evaluations(connection, row.prepared_state_id),
        f"{what} in the references could not be {failed} for {row.metric} ({tries}): {reason}",
        fault=fault_of(permanent=permanent),
    )
    return True
