"""Corpus statistics of large references in chunks, stored one by one and read where needed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from models.queue.kinds.corpus_statistics import ClaimedCorpusCount
from models.queue.lease import held_by
from models.schema.queue import CorpusCount, CorpusStatisticsChunk


@dataclass(frozen=True, slots=True)
class StatisticsChunk:
    """The corpus statistics for a range of blocks; `last_block` is exclusive."""

    prepared_state_id: int
    first_block: int
    last_block: int


def store_chunk(
    connection: Connection, claim: ClaimedCorpusCount, first_block: int, last_block: int, blob: bytes
) -> bool:
    """Store the corpus statistics for a range of blocks before the merge is complete; False if the lease was lost."""
    ours = select(CorpusCount.id).where(held_by(CorpusCount, claim.key, claim.owner))
    if connection.execute(ours.with_for_update()).first() is None:
        return False
    state = CorpusStatisticsChunk.prepared_state_id == claim.prepared_state_id
    # Chunks of a merge that did not complete.
    connection.execute(
        delete(CorpusStatisticsChunk).where(
            state, CorpusStatisticsChunk.first_block < last_block, CorpusStatisticsChunk.last_block > first_block
        )
    )
    connection.execute(
        insert(CorpusStatisticsChunk).values(
            prepared_state_id=claim.prepared_state_id, first_block=first_block, last_block=last_block, blob=blob
        )
    )
    return True


def find_chunks(
    connection: Connection, prepared_state_id: int, first_block: int, last_block: int
) -> list[StatisticsChunk]:
    """The chunks that cover these blocks, in order; none if any block is missing."""
    rows = connection.execute(
        select(CorpusStatisticsChunk.first_block, CorpusStatisticsChunk.last_block)
        .where(
            CorpusStatisticsChunk.prepared_state_id == prepared_state_id,
            CorpusStatisticsChunk.first_block < last_block,
            CorpusStatisticsChunk.last_block > first_block,
        )
        .order_by(CorpusStatisticsChunk.first_block)
    )
    found = [StatisticsChunk(prepared_state_id, row.first_block, row.last_block) for row in rows]
    covered = first_block
    for chunk in found:
        covered = chunk.last_block if chunk.first_block <= covered else last_block - 1
    return found if covered >= last_block else []


def read_chunk(connection: Connection, chunk: StatisticsChunk) -> bytes:
    """The chunk itself, compressed."""
    return connection.scalars(
        select(CorpusStatisticsChunk.blob).where(
            CorpusStatisticsChunk.prepared_state_id == chunk.prepared_state_id,
            CorpusStatisticsChunk.first_block == chunk.first_block,
        )
    ).one()
