"""Planning of corpus statistics: which parts are missing, and what waits for them."""

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
from models.schema.queue import CorpusCount, CorpusStatistics, Evaluation, ProtocolStatistics, Shard
from models.schema.states import IN_FLIGHT, NOT_YET, UNSCORED, LeaseState

OPEN_WORK = (LeaseState.PENDING, *IN_FLIGHT)


@dataclass(frozen=True, slots=True)
class IncompleteStatistics:
    """Corpus statistics that are not complete yet."""

    id: int
    key: str
    reference_texts: tuple[int, ...]
    segments: int
    edition: int


def lock_incomplete_statistics(
    connection: Connection, corpus_statistics_id: int, *, wait: bool = True
) -> IncompleteStatistics | None:
    """The corpus statistics if incomplete, locked until the transaction ends.

    Hold the lock to add counts, so that no block is counted twice and the last two parts do not miss each other. None
    if complete; without `wait` also if another transaction holds the lock.
    """
    # Not a full FOR UPDATE: linking a protocol locks the row by its foreign key, and two transactions that link would
    # each leave the planning to the other.
    row = connection.execute(
        select(
            CorpusStatistics.id,
            CorpusStatistics.key,
            CorpusStatistics.reference_texts,
            CorpusStatistics.segments,
            CorpusStatistics.edition,
        )
        .where(CorpusStatistics.id == corpus_statistics_id, CorpusStatistics.blob.is_(None))
        .with_for_update(key_share=True, skip_locked=not wait)
    ).one_or_none()
    if row is None:
        return None
    return IncompleteStatistics(row.id, row.key, tuple(row.reference_texts), row.segments, row.edition)


def missing_ranges(
    connection: Connection, state: IncompleteStatistics, counted: Sequence[LeaseState] = (*OPEN_WORK, LeaseState.DONE)
) -> list[tuple[int, int]]:
    """The ranges of blocks without a part in one of these states. Requires the lock.

    By default, those that are neither counted nor about to be.
    """
    rows = connection.execute(
        select(CorpusCount.first_block, CorpusCount.last_block)
        .where(
            CorpusCount.corpus_statistics_id == state.id,
            CorpusCount.merges.is_(False),
            CorpusCount.state.in_(counted),
            # Counts are deleted when merged, and must be repeated if the merged statistics are lost later.
            or_(CorpusCount.state != LeaseState.DONE, CorpusCount.part.is_not(None)),
        )
        .order_by(CorpusCount.first_block)
    ).all()
    gaps, covered, end = [], 0, -(-state.segments // BLOCK_SEGMENTS)
    for first, last in (*((row.first_block, row.last_block) for row in rows), (end, end)):
        if first > covered:
            gaps.append((covered, first))
        covered = max(covered, last)
    return gaps


def waiting_evaluations(connection: Connection, corpus_statistics_id: int) -> list[int]:
    """Evaluations with unfinished shards that need the statistics, ordered by id."""
    rows = connection.scalars(
        select(Evaluation.id)
        .join(ProtocolStatistics, ProtocolStatistics.protocol_id == Evaluation.protocol_id)
        .join(CorpusStatistics, CorpusStatistics.id == ProtocolStatistics.corpus_statistics_id)
        .where(
            CorpusStatistics.id == corpus_statistics_id,
            Evaluation.edition == CorpusStatistics.edition,
            Evaluation.state.in_(UNSCORED),
        )
        .order_by(Evaluation.id)
    )
    return list(rows)


def protocols_awaiting_statistics(edition: Any) -> Select[int]:
    """The protocols with incomplete corpus statistics of an edition."""
    return (
        select(ProtocolStatistics.protocol_id)
        .join(CorpusStatistics, CorpusStatistics.id == ProtocolStatistics.corpus_statistics_id)
        .where(CorpusStatistics.blob.is_(None), CorpusStatistics.edition == edition)
    )


def release_waiting_shards(connection: Connection, edition: int, *which: ColumnElement[bool]) -> int:
    """Release shards of an edition whose corpus statistics are now complete; their number.

    Enqueueing decides by its own snapshot; if statistics are stored at that very moment, the next sweep releases the
    shards. So it does with shards that are locked now.
    """
    free = (
        select(Shard.id)
        .where(
            Shard.state == LeaseState.PENDING,
            Shard.not_before == literal_column(str(NOT_YET)),
            Shard.edition == edition,
            Shard.protocol_id.not_in(protocols_awaiting_statistics(edition)),
            *which,
        )
        .with_for_update(skip_locked=True)
    )
    sent = update(Shard).where(Shard.id.in_(free.scalar_subquery())).values(not_before=now())
    return connection.execute(sent).rowcount


def enqueue_merge(connection: Connection, corpus_statistics_id: int) -> int | None:
    """Add a pending task that merges, if all parts exist and no merge is open; its id."""
    row = lock_incomplete_statistics(connection, corpus_statistics_id)
    # Only finished parts are stable while we hold the lock. An open part may be cancelled or fail before we look again,
    # and would be missing from the merge.
    if row is None or missing_ranges(connection, row, [LeaseState.DONE]):
        return None
    unfinished = select(CorpusCount.id).where(
        CorpusCount.corpus_statistics_id == corpus_statistics_id, CorpusCount.state.in_(OPEN_WORK)
    )
    if connection.execute(unfinished.limit(1)).first() is not None:
        return None
    last = connection.execute(
        select(CorpusCount.queue_class, CorpusCount.team, CorpusCount.due_at)
        .where(CorpusCount.corpus_statistics_id == corpus_statistics_id, CorpusCount.state == LeaseState.DONE)
        .order_by(CorpusCount.queue_class, CorpusCount.id)
    ).first()
    share_key = {} if last is None else dict(last._mapping)
    return connection.execute(
        insert(CorpusCount)
        .values(
            corpus_statistics_id=corpus_statistics_id,
            first_block=0,
            last_block=-(-row.segments // BLOCK_SEGMENTS),
            merges=True,
            edition=row.edition,
            **share_key,
        )
        .returning(CorpusCount.id)
    ).scalar_one()


def plan_parts(
    connection: Connection,
    state: IncompleteStatistics,
    ranges: Sequence[tuple[int, int]],
    queue_class: int,
    team: str,
    due_at: float | None = None,
) -> None:
    """Add a pending count for each range of blocks. Requires the lock."""
    common = {
        "corpus_statistics_id": state.id,
        "queue_class": queue_class,
        "team": team,
        "due_at": due_at,
        "edition": state.edition,
    }
    connection.execute(
        insert(CorpusCount), [{**common, "first_block": first, "last_block": last} for first, last in ranges]
    )


def raise_priority(
    connection: Connection, corpus_statistics_id: int, queue_class: int, due_at: float | None = None
) -> None:
    """Raise the priority of the statistics' open tasks to at least this class and due time."""
    # Enqueueing already holds these evaluations, and counts are locked before evaluations: so take only unlocked rows.
    # A locked row is about to be sent or claimed anyway.
    changes: list[tuple[ColumnElement[bool], dict[str, Any]]] = [
        (CorpusCount.queue_class > queue_class, {"queue_class": queue_class})
    ]
    if due_at is not None:
        later = or_(CorpusCount.due_at.is_(None), CorpusCount.due_at > due_at)
        changes.append((later, {"due_at": due_at}))
    for slow, values in changes:
        rows = (
            select(CorpusCount.id)
            .where(
                CorpusCount.corpus_statistics_id == corpus_statistics_id, CorpusCount.state == LeaseState.PENDING, slow
            )
            .with_for_update(skip_locked=True)
        )
        connection.execute(update(CorpusCount).where(CorpusCount.id.in_(rows.scalar_subquery())).values(**values))
