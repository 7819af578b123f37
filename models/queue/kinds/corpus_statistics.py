"""The life cycle of corpus statistics: counted in parts, then merged.

Lock order: count, evaluations by id, corpus statistics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, or_, select, update

from models.queue.evaluation_end import fail_evaluations
from models.queue.kinds.corpus_statistics_plan import (
    enqueue_merge,
    release_waiting_shards,
    waiting_evaluations,
)
from models.queue.task_kind import Claim, Failure, TaskKind
from models.schema.base import BLOCK_SEGMENTS
from models.schema.queue import CorpusCount, CorpusStatistics, ProtocolStatistics, Shard
from models.schema.states import LeaseState


@dataclass(frozen=True, slots=True)
class ClaimedCorpusCount(Claim):
    """A count or merge under our lease."""

    corpus_statistics_id: int
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
        return {"corpus_statistics": self.corpus_statistics_id}


@dataclass(frozen=True, slots=True)
class CountedPart:
    """The counts of a range of blocks; `last_block` is exclusive."""

    corpus_count_id: int
    first_block: int
    last_block: int


def _load(connection: Connection, claim: Claim) -> ClaimedCorpusCount | None:
    row = connection.execute(
        select(
            CorpusCount.first_block,
            CorpusCount.last_block,
            CorpusCount.merges,
            CorpusCount.edition,
            CorpusStatistics.id,
            CorpusStatistics.key,
            CorpusStatistics.metric,
            CorpusStatistics.reference_texts,
            CorpusStatistics.variable_references,
        )
        .join(CorpusStatistics, CorpusStatistics.id == CorpusCount.corpus_statistics_id)
        .where(CorpusCount.id == claim.key)
    ).one()
    if not waiting_evaluations(connection, row.id):
        return None
    return ClaimedCorpusCount(
        *claim.identity,
        corpus_statistics_id=row.id,
        state_key=row.key,
        metric=row.metric,
        reference_texts=tuple(row.reference_texts),
        variable_references=row.variable_references,
        first_block=row.first_block,
        last_block=row.last_block,
        merges=row.merges,
        edition=row.edition,
    )


def _columns(claim: ClaimedCorpusCount, counted: bytes) -> Mapping[str, object]:
    return {} if claim.merges else {"part": counted}


def _complete(
    connection: Connection, claim: ClaimedCorpusCount, counted: bytes
) -> tuple[TaskKind[Any, Any], int] | None:
    """Store the counts or the merged statistics.

    The last part adds a task that merges; merged statistics release the shards that wait for them. Merged parts are
    deleted.
    """
    if not claim.merges:
        merge = enqueue_merge(connection, claim.corpus_statistics_id)
        return None if merge is None else (CORPUS_COUNT, merge)
    connection.execute(
        update(CorpusStatistics).where(CorpusStatistics.id == claim.corpus_statistics_id).values(blob=counted)
    )
    connection.execute(
        update(CorpusCount)
        .where(CorpusCount.corpus_statistics_id == claim.corpus_statistics_id, CorpusCount.part.is_not(None))
        .values(part=None)
    )
    linked = select(ProtocolStatistics.protocol_id).where(
        ProtocolStatistics.corpus_statistics_id == claim.corpus_statistics_id
    )
    release_waiting_shards(connection, claim.edition, Shard.protocol_id.in_(linked))
    return None


def counted_parts(connection: Connection, corpus_statistics_id: int) -> list[CountedPart]:
    """The stored counts, in the order of the blocks."""
    rows = connection.execute(
        select(CorpusCount.id, CorpusCount.first_block, CorpusCount.last_block)
        .where(CorpusCount.corpus_statistics_id == corpus_statistics_id, CorpusCount.part.is_not(None))
        .order_by(CorpusCount.first_block)
    )
    return [CountedPart(row.id, row.first_block, row.last_block) for row in rows]


def read_part(connection: Connection, part: CountedPart) -> bytes:
    """The counts themselves, compressed."""
    blob = connection.scalar(select(CorpusCount.part).where(CorpusCount.id == part.corpus_count_id))
    # The transaction still sees its snapshot, in which the part exists.
    assert blob is not None
    return blob


def _exhausted(connection: Connection, row: Row[Any], failure: Failure) -> None:
    """Fail every evaluation that waits for the statistics."""
    metric = connection.scalar(select(CorpusStatistics.metric).where(CorpusStatistics.id == row.corpus_statistics_id))
    first, last = row.first_block * BLOCK_SEGMENTS + 1, row.last_block * BLOCK_SEGMENTS
    what = "What was counted" if row.merges else f"Segments {first} to {last}"
    failed = "merged" if row.merges else "counted"
    fail_evaluations(
        connection,
        waiting_evaluations(connection, row.corpus_statistics_id),
        failure.describe(f"{what} in the references could not be {failed} for {metric}"),
        fault=failure.fault,
    )


def _removable() -> ColumnElement[bool]:
    # An unmerged part is not only a finished task: it holds the counts.
    merged = exists().where(CorpusStatistics.id == CorpusCount.corpus_statistics_id, CorpusStatistics.blob.is_not(None))
    return or_(CorpusCount.state != LeaseState.DONE, merged)


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    statistics = select(CorpusCount.corpus_statistics_id).where(CorpusCount.id == key)
    return {"corpus_statistics": connection.scalar(statistics)}


CORPUS_COUNT: TaskKind[ClaimedCorpusCount, bytes] = TaskKind(
    name="corpus_statistics",
    table=CorpusCount,
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
