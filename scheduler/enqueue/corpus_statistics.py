"""Enqueues corpus statistics: once for each set of references, with the first request."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence

from sqlalchemy import Connection, Engine, delete, exists, func, select

from models.corpus.protocols import ProtocolContent
from models.database.compatibility import living_workers
from models.database.migrate import REVISION
from models.database.session import reading, writing
from models.database.upsert import insert_ignore
from models.queue.evaluation_end import fail_evaluations
from models.queue.kinds.corpus_statistics_plan import (
    OPEN_WORK,
    IncompleteStatistics,
    enqueue_merge,
    lock_incomplete_statistics,
    missing_ranges,
    plan_parts,
    raise_priority,
    release_waiting_shards,
    waiting_evaluations,
)
from models.schema.base import BLOCK_SEGMENTS
from models.schema.corpus import Text, TextBlock
from models.schema.queue import (
    AWAITING_STATISTICS,
    CorpusCount,
    CorpusStatistics,
    Evaluation,
    ProtocolStatistics,
    Shard,
)
from models.schema.states import UNSCORED
from runtime.release import release
from runtime.settings import Settings
from scheduler.enqueue.partition import ShardLimits, count_units, partition_blocks
from steelyard.metrics.corpus_statistics import CorpusStatistics as DeclaredStatistics
from steelyard.metrics.metric import EDITION
from steelyard.metrics.needed_statistics import corpus_statistics_of, needed_statistics
from steelyard.metrics.registry import parse_metric

log = logging.getLogger(__name__)


def enqueue_corpus_counts(
    connection: Connection,
    settings: Settings,
    protocol: ProtocolContent,
    *,
    queue_class: int,
    team: str,
    processes: int | None = None,
    due_at: float | None = None,
) -> bool:
    """Enqueue the missing corpus statistics of a protocol; whether shards must wait for any of them.

    Call it in the transaction that inserts the shards, before that. Statistics that are stored or in progress are not
    enqueued again. `team` is charged for the work, which is spread over up to `processes` pool processes and due at
    `due_at`.
    """
    metrics: dict[str, str] = {}
    declared: dict[str, DeclaredStatistics] = {}
    for specification in protocol.metrics:
        metric = parse_metric(specification)
        if metric.learned:
            # Counted by whoever has its model: fast metrics do not wait for that.
            continue
        for key, statistics in needed_statistics([metric]).items():
            metrics.setdefault(key, specification)
            declared[key] = statistics
    texts = select(Text.id, Text.sha256).where(Text.id.in_(protocol.reference_texts))
    hash_of = {row.id: row.sha256 for row in connection.execute(texts)}
    # One for each reference: two with the same text count twice.
    hashes = [hash_of[text] for text in protocol.reference_texts]
    states = [
        {
            # Hashes of the first edition predate the others.
            "content_hash": _digest(
                [sorted(hashes), protocol.variable_references, key, *([EDITION] if EDITION > 1 else [])]
            ),
            "edition": EDITION,
            "key": key,
            "metric": specification,
            "reference_texts": sorted(protocol.reference_texts),
            "variable_references": protocol.variable_references,
            "segments": protocol.segments,
        }
        for key, specification in sorted(metrics.items())
    ]
    insert_ignore(connection, CorpusStatistics, states)
    digests = [state["content_hash"] for state in states]
    stored = connection.scalars(
        select(CorpusStatistics.id).where(CorpusStatistics.content_hash.in_(digests)).order_by(CorpusStatistics.id)
    ).all()
    links = [{"protocol_id": protocol.protocol_id, "corpus_statistics_id": state} for state in stored]
    insert_ignore(connection, ProtocolStatistics, links)
    # Statistics needed only by metrics of an earlier release: shards would wait for what no worker can compute.
    connection.execute(
        delete(ProtocolStatistics).where(
            ProtocolStatistics.protocol_id == protocol.protocol_id,
            ProtocolStatistics.corpus_statistics_id.not_in(stored),
            # Those of another edition are for evaluations of that edition.
            ProtocolStatistics.corpus_statistics_id.in_(
                select(CorpusStatistics.id).where(CorpusStatistics.edition == EDITION)
            ),
        )
    )
    for state in stored:
        raise_priority(connection, state, queue_class, due_at)
        # If another transaction is planning them, it does so for us; if it fails, the next sweep does.
        held = lock_incomplete_statistics(connection, state, wait=False)
        if held is not None:
            _plan(connection, settings, held, declared[held.key], queue_class, team, processes, due_at)
    incomplete = select(CorpusStatistics.id).where(CorpusStatistics.id.in_(stored), CorpusStatistics.blob.is_(None))
    return connection.execute(incomplete.limit(1)).first() is not None


def enqueue_missing_counts(engine: Engine, settings: Settings) -> int:
    """Enqueue corpus statistics that evaluations wait for and no task computes; their number.

    This happens if tasks were cancelled or failed just as another transaction enqueued an evaluation that needs them.
    If no worker can compute the statistics, the evaluations fail.
    """
    in_progress = exists().where(
        CorpusCount.corpus_statistics_id == CorpusStatistics.id, CorpusCount.state.in_(OPEN_WORK)
    )
    waited_for = exists().where(
        ProtocolStatistics.corpus_statistics_id == CorpusStatistics.id,
        Evaluation.protocol_id == ProtocolStatistics.protocol_id,
        Evaluation.edition == EDITION,
        Evaluation.state.in_(UNSCORED),
    )
    orphaned = select(CorpusStatistics.id, CorpusStatistics.metric, CorpusStatistics.key).where(
        CorpusStatistics.blob.is_(None), CorpusStatistics.edition == EDITION, waited_for, ~in_progress
    )
    with reading(engine) as connection:
        states = connection.execute(orphaned.order_by(CorpusStatistics.id)).all()
        left = connection.execute(select(Shard.id).where(AWAITING_STATISTICS).limit(1)).first() is not None
    if left:
        # Shards that were enqueued just as the statistics were stored.
        with writing(engine) as connection:
            release_waiting_shards(connection, EDITION)
    for state in states:
        try:
            declared_there = corpus_statistics_of(parse_metric(state.metric), state.key)
        except Exception as error:  # a metric of another distribution may be gone, or raise what it likes
            log.warning("Corpus statistics %s cannot be enqueued: %s", state.id, error)
            with writing(engine) as connection:
                others = living_workers(connection, settings.silent_seconds)
                if any(
                    (each.version, each.revision) != (release(), REVISION) for each in others if each.edition == EDITION
                ):
                    # Workers of another release may know the metric, and so may that release's scheduler.
                    continue
                waiting = waiting_evaluations(connection, state.id)
                fail_evaluations(connection, waiting, f"Corpus statistics of the references failed: {error}")
            continue
        with writing(engine) as connection:
            held = lock_incomplete_statistics(connection, state.id)
            waiting = waiting_evaluations(connection, state.id)
            if held is not None and waiting:
                most_urgent = connection.execute(
                    select(Evaluation.queue_class, Evaluation.team, Evaluation.due_at)
                    .where(Evaluation.id.in_(waiting))
                    .order_by(Evaluation.queue_class, Evaluation.id)
                ).first()
                assert most_urgent is not None
                share_key = most_urgent.queue_class, most_urgent.team
                _plan(connection, settings, held, declared_there, *share_key, None, most_urgent.due_at)
    return len(states)


def _plan(
    connection: Connection,
    settings: Settings,
    state: IncompleteStatistics,
    declared: DeclaredStatistics,
    queue_class: int,
    team: str,
    processes: int | None,
    due_at: float | None,
) -> None:
    ranges = missing_ranges(connection, state)
    if not ranges:
        # Everything is counted, so only the merge can be missing.
        enqueue_merge(connection, state.id)
        return
    sizes = ShardLimits(
        processes=processes or settings.processes,
        shard_seconds=settings.shard_seconds,
        shortest_seconds=settings.shortest_shard_seconds,
        largest_bytes=settings.largest_shard_bytes,
    )
    costs = _costs(connection, state, declared)
    references = len(state.reference_texts)
    parts = []
    for first, last in ranges:
        segments = [_segments(state, block) for block in range(first, last)]
        parts += [
            (part.first_block, part.last_block)
            for part in partition_blocks(costs[first:last], first, segments, references, sizes)
        ]
    plan_parts(connection, state, parts, queue_class, team, due_at)


def _costs(connection: Connection, state: IncompleteStatistics, declared: DeclaredStatistics) -> list[float]:
    """Estimated seconds for each block."""
    lengths = connection.execute(
        select(TextBlock.block, func.sum(func.length(TextBlock.content)).label("bytes"))
        .where(TextBlock.text_id.in_(state.reference_texts))
        .group_by(TextBlock.block)
        .order_by(TextBlock.block)
    )
    references = len(state.reference_texts)
    return [
        count_units(_segments(state, row.block), references, int(row.bytes)) * declared.cost * 1e-6 for row in lengths
    ]


def _segments(state: IncompleteStatistics, block: int) -> int:
    return min(BLOCK_SEGMENTS, state.segments - block * BLOCK_SEGMENTS)


def _digest(content: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
