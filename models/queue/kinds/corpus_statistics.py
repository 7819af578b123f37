"""The life of a preparation: loaded, completed, merged, failed.

Locks are taken in the order preparation, then evaluations by id, then prepared state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, or_, select, update

from models.queue.evaluation_end import fail_evaluations
from models.queue.kinds.corpus_statistics_plan import enqueue_merge, send_prepared, waiting_evaluations
from models.queue.task_kind import Claim, Failure, TaskKind
from models.schema.base import BLOCK_SEGMENTS
from models.schema.queue import Preparation, PreparedState, ProtocolState, Shard
from models.schema.states import LeaseState


@dataclass(frozen=True, slots=True)
class ClaimedPreparation(Claim):
    """A preparation that is ours until its lease is over."""

    prepared_state_id: int
    state_key: str
    metric: str
    reference_texts: tuple[int, ...]
    variable_references: bool
    first_block: int
    last_block: int
    merges: bool
    edition: int

    def log_fields(self) -> dict[str, Any]:
        """As `Claim`."""
        return {"state": self.prepared_state_id}


@dataclass(frozen=True, slots=True)
class CountedPart:
    """What was counted in a run of blocks; `last_block` is exclusive."""

    preparation_id: int
    first_block: int
    last_block: int


def _load(connection: Connection, claim: Claim) -> ClaimedPreparation | None:
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
        .where(Preparation.id == claim.key)
    ).one()
    if not waiting_evaluations(connection, row.id):
        return None
    return ClaimedPreparation(
        *claim.identity,
        prepared_state_id=row.id,
        state_key=row.key,
        metric=row.metric,
        reference_texts=tuple(row.reference_texts),
        variable_references=row.variable_references,
        first_block=row.first_block,
        last_block=row.last_block,
        merges=row.merges,
        edition=row.edition,
    )


def _columns(claim: ClaimedPreparation, counted: bytes) -> Mapping[str, object]:
    return {} if claim.merges else {"part": counted}


def _complete(
    connection: Connection, claim: ClaimedPreparation, counted: bytes
) -> tuple[TaskKind[Any, Any], int] | None:
    """With the last part comes a new preparation that merges; with the state, shards that wait for it may be sent.

    The state is empty where its chapters are stored. Its parts are dropped.
    """
    if not claim.merges:
        merge = enqueue_merge(connection, claim.prepared_state_id)
        return None if merge is None else (PREPARATION, merge)
    connection.execute(update(PreparedState).where(PreparedState.id == claim.prepared_state_id).values(blob=counted))
    connection.execute(
        update(Preparation)
        .where(Preparation.prepared_state_id == claim.prepared_state_id, Preparation.part.is_not(None))
        .values(part=None)
    )
    linked = select(ProtocolState.protocol_id).where(ProtocolState.prepared_state_id == claim.prepared_state_id)
    send_prepared(connection, claim.edition, Shard.protocol_id.in_(linked))
    return None


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


def _exhausted(connection: Connection, row: Row[Any], failure: Failure) -> None:
    """Fail every evaluation that waits for the state."""
    metric = connection.scalar(select(PreparedState.metric).where(PreparedState.id == row.prepared_state_id))
    first, last = row.first_block * BLOCK_SEGMENTS + 1, row.last_block * BLOCK_SEGMENTS
    what = "What was counted" if row.merges else f"Segments {first} to {last}"
    failed = "merged" if row.merges else "counted"
    fail_evaluations(
        connection,
        waiting_evaluations(connection, row.prepared_state_id),
        failure.told(f"{what} in the references could not be {failed} for {metric}"),
        fault=failure.fault,
    )


def _removable() -> ColumnElement[bool]:
    # A part that is not merged yet is no row of work alone: it is what was counted.
    merged = exists().where(PreparedState.id == Preparation.prepared_state_id, PreparedState.blob.is_not(None))
    return or_(Preparation.state != LeaseState.DONE, merged)


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    return {"state": connection.scalar(select(Preparation.prepared_state_id).where(Preparation.id == key))}


PREPARATION: TaskKind[ClaimedPreparation, bytes] = TaskKind(
    name="preparations",
    table=Preparation,
    message="prepare",
    load=_load,
    run="worker.runners:count_references",
    columns=_columns,
    complete=_complete,
    exhausted=_exhausted,
    removable=_removable,
    log_fields=_log_fields,
    cost=lambda settings: settings.shortest_shard_seconds,
)
