"""States of large references in chapters: stored one by one, and read where they are needed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from models.queue.kinds.corpus_statistics import ClaimedPreparation
from models.queue.lease import held_by
from models.schema.queue import Preparation, PreparedChapter


@dataclass(frozen=True, slots=True)
class StateChunk:
    """What a state says of a run of blocks; `last_block` is exclusive."""

    prepared_state_id: int
    first_block: int
    last_block: int


def store_chunk(
    connection: Connection, claim: ClaimedPreparation, first_block: int, last_block: int, blob: bytes
) -> bool:
    """Store what a state says of a run of blocks, before the merge is complete; False when it was not ours any more."""
    ours = select(Preparation.id).where(held_by(Preparation, claim.key, claim.owner))
    if connection.execute(ours.with_for_update()).first() is None:
        return False
    state = PreparedChapter.prepared_state_id == claim.prepared_state_id
    # Those of a merge that was not completed.
    connection.execute(
        delete(PreparedChapter).where(
            state, PreparedChapter.first_block < last_block, PreparedChapter.last_block > first_block
        )
    )
    connection.execute(
        insert(PreparedChapter).values(
            prepared_state_id=claim.prepared_state_id, first_block=first_block, last_block=last_block, blob=blob
        )
    )
    return True


def find_chunks(connection: Connection, prepared_state_id: int, first_block: int, last_block: int) -> list[StateChunk]:
    """The chapters with these blocks, in their order; none where some block has none."""
    rows = connection.execute(
        select(PreparedChapter.first_block, PreparedChapter.last_block)
        .where(
            PreparedChapter.prepared_state_id == prepared_state_id,
            PreparedChapter.first_block < last_block,
            PreparedChapter.last_block > first_block,
        )
        .order_by(PreparedChapter.first_block)
    )
    found = [StateChunk(prepared_state_id, row.first_block, row.last_block) for row in rows]
    covered = first_block
    for chapter in found:
        covered = chapter.last_block if chapter.first_block <= covered else last_block - 1
    return found if covered >= last_block else []


def read_chunk(connection: Connection, chapter: StateChunk) -> bytes:
    """The chapter itself, compressed."""
    return connection.scalars(
        select(PreparedChapter.blob).where(
            PreparedChapter.prepared_state_id == chapter.prepared_state_id,
            PreparedChapter.first_block == chapter.first_block,
        )
    ).one()
