"""What metrics must know of all references: planned once for each set of references, whoever asks first."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence

from sqlalchemy import Connection, Engine, delete, exists, func, select

from metrics import parse_metric
from metrics.base import EDITION
from metrics.preparation import Preparation as Way
from metrics.preparation import preparation_of, preparations
from models.corpus.protocols import ProtocolContent
from models.database.compatibility import living_workers
from models.database.migrate import REVISION
from models.database.session import reading, writing
from models.database.upsert import insert_ignore
from models.queue.evaluation_end import fail_evaluations
from models.queue.kinds.corpus_statistics_plan import (
    OPEN_WORK,
    UnpreparedState,
    enqueue_merge,
    lock_state,
    missing_ranges,
    plan_parts,
    raise_priority,
    send_prepared,
    waiting_evaluations,
)
from models.schema.base import BLOCK_SEGMENTS
from models.schema.corpus import Text, TextBlock
from models.schema.queue import UNPREPARED, Evaluation, Preparation, PreparedState, ProtocolState, Shard
from models.schema.states import UNSCORED
from runtime.release import release
from runtime.settings import Settings
from scheduler.enqueue.partition import ShardLimits, count_units, partition_blocks

log = logging.getLogger(__name__)


def prepare_protocol(
    connection: Connection,
    settings: Settings,
    measurement: ProtocolContent,
    *,
    queue_class: int,
    team: str,
    processes: int | None = None,
    due_at: float | None = None,
) -> bool:
    """Queue what the metrics of a protocol must know and is not known yet; whether shards must wait for any of it.

    To be called in the transaction that inserts the shards, before that. What is stored already, or in the making,
    is not made again. `team` is the one whose turn the work takes, `processes` how many pool processes it may be
    spread over, `due_at` when somebody wants it done.
    """
    metrics: dict[str, str] = {}
    ways: dict[str, Way] = {}
    for specification in measurement.metrics:
        for key, way in preparations([parse_metric(specification)]).items():
            metrics.setdefault(key, specification)
            ways[key] = way
    texts = select(Text.id, Text.sha256).where(Text.id.in_(measurement.reference_texts))
    hash_of = {row.id: row.sha256 for row in connection.execute(texts)}
    # One for each reference: two with the same text count twice.
    hashes = [hash_of[text] for text in measurement.reference_texts]
    states = [
        {
            # States of the first edition were stored before there were others.
            "content_hash": _digest(
                [sorted(hashes), measurement.variable_references, key, *([EDITION] if EDITION > 1 else [])]
            ),
            "edition": EDITION,
            "key": key,
            "metric": specification,
            "reference_texts": sorted(measurement.reference_texts),
            "variable_references": measurement.variable_references,
            "segments": measurement.segments,
        }
        for key, specification in sorted(metrics.items())
    ]
    insert_ignore(connection, PreparedState, states)
    digests = [state["content_hash"] for state in states]
    stored = connection.scalars(
        select(PreparedState.id).where(PreparedState.content_hash.in_(digests)).order_by(PreparedState.id)
    ).all()
    links = [{"protocol_id": measurement.protocol_id, "prepared_state_id": state} for state in stored]
    insert_ignore(connection, ProtocolState, links)
    # What the metrics of an earlier release needed: the shards would wait for it, and nobody can make it any more.
    connection.execute(
        delete(ProtocolState).where(
            ProtocolState.protocol_id == measurement.protocol_id,
            ProtocolState.prepared_state_id.not_in(stored),
            # Those of another edition are for evaluations that wait for it.
            ProtocolState.prepared_state_id.in_(select(PreparedState.id).where(PreparedState.edition == EDITION)),
        )
    )
    for state in stored:
        raise_priority(connection, state, queue_class, due_at)
        # Where somebody else plans it right now he does it for us, and if he does not, the next sweep does.
        held = lock_state(connection, state, wait=False)
        if held is not None:
            _plan(connection, settings, held, ways[held.key], queue_class, team, processes, due_at)
    unmade = select(PreparedState.id).where(PreparedState.id.in_(stored), PreparedState.blob.is_(None))
    return connection.execute(unmade.limit(1)).first() is not None


def prepare_forgotten(engine: Engine, settings: Settings) -> int:
    """Queue what evaluations wait for and nobody makes; how many states there were.

    That happens when preparations were cancelled or failed in the very moment in which somebody queued an evaluation
    that needs them. Where nobody here can make a state, those that wait for it fail.
    """
    in_the_making = exists().where(Preparation.prepared_state_id == PreparedState.id, Preparation.state.in_(OPEN_WORK))
    waited_for = exists().where(
        ProtocolState.prepared_state_id == PreparedState.id,
        Evaluation.protocol_id == ProtocolState.protocol_id,
        Evaluation.edition == EDITION,
        Evaluation.state.in_(UNSCORED),
    )
    forgotten = select(PreparedState.id, PreparedState.metric, PreparedState.key).where(
        PreparedState.blob.is_(None), PreparedState.edition == EDITION, waited_for, ~in_the_making
    )
    with reading(engine) as connection:
        states = connection.execute(forgotten.order_by(PreparedState.id)).all()
        left = connection.execute(select(Shard.id).where(UNPREPARED).limit(1)).first() is not None
    if left:
        # Those that were queued at the very moment in which the state was stored.
        with writing(engine) as connection:
            send_prepared(connection, EDITION)
    for state in states:
        try:
            way = preparation_of(parse_metric(state.metric), state.key)
        except Exception as error:  # a metric of another distribution may be gone, or raise what it likes
            log.warning("State %s cannot be prepared: %s", state.id, error)
            with writing(engine) as connection:
                others = living_workers(connection, settings.silent_seconds)
                if any(
                    (each.version, each.revision) != (release(), REVISION) for each in others if each.edition == EDITION
                ):
                    # A worker of another release may know it, and so may the scheduler that comes with it.
                    continue
                waiting = waiting_evaluations(connection, state.id)
                fail_evaluations(connection, waiting, f"The references could not be prepared for scoring: {error}")
            continue
        with writing(engine) as connection:
            held = lock_state(connection, state.id)
            waiting = waiting_evaluations(connection, state.id)
            if held is not None and waiting:
                most_urgent = connection.execute(
                    select(Evaluation.queue_class, Evaluation.team, Evaluation.due_at)
                    .where(Evaluation.id.in_(waiting))
                    .order_by(Evaluation.queue_class, Evaluation.id)
                ).first()
                assert most_urgent is not None
                turn = most_urgent.queue_class, most_urgent.team
                _plan(connection, settings, held, way, *turn, None, most_urgent.due_at)
    return len(states)


def _plan(
    connection: Connection,
    settings: Settings,
    state: UnpreparedState,
    way: Way,
    queue_class: int,
    team: str,
    processes: int | None,
    due_at: float | None,
) -> None:
    ranges = missing_ranges(connection, state)
    if not ranges:
        # Everything is counted, so that at most the merging has failed.
        enqueue_merge(connection, state.id)
        return
    sizes = ShardLimits(
        processes=processes or settings.processes,
        shard_seconds=settings.shard_seconds,
        shortest_seconds=settings.shortest_shard_seconds,
        largest_bytes=settings.largest_shard_bytes,
    )
    costs = _costs(connection, state, way)
    references = len(state.reference_texts)
    parts = []
    for first, last in ranges:
        segments = [_segments(state, block) for block in range(first, last)]
        parts += [
            (part.first_block, part.last_block)
            for part in partition_blocks(costs[first:last], first, segments, references, sizes)
        ]
    plan_parts(connection, state, parts, queue_class, team, due_at)


def _costs(connection: Connection, state: UnpreparedState, way: Way) -> list[float]:
    """Estimated seconds for each block."""
    lengths = connection.execute(
        select(TextBlock.block, func.sum(func.length(TextBlock.content)).label("bytes"))
        .where(TextBlock.text_id.in_(state.reference_texts))
        .group_by(TextBlock.block)
        .order_by(TextBlock.block)
    )
    references = len(state.reference_texts)
    return [count_units(_segments(state, row.block), references, int(row.bytes)) * way.cost * 1e-6 for row in lengths]


def _segments(state: UnpreparedState, block: int) -> int:
    return min(BLOCK_SEGMENTS, state.segments - block * BLOCK_SEGMENTS)


def _digest(content: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
