"""From submissions and a protocol to evaluations with shards that wait."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, insert, select, update

from metrics import parse_metric
from models.base import BLOCK_SEGMENTS
from models.claims import start_reducing
from models.conflicts import insert_if_absent
from models.evaluation import Evaluation
from models.protocol import Measurement, read_measurement
from models.shard import Shard, ShardEvaluation
from models.states import IN_FLIGHT, EvaluationState, LeaseState, QueueClass
from models.statistics import Statistics
from models.submission import Submission
from models.text import TextBlock
from scheduler.preparing import prepare_protocol
from scheduler.shards import Part, Sizes, block_cost, cut, group_systems
from worker.settings import Settings

Ranges = tuple[tuple[int, int], ...]


def queue_evaluations(
    connection: Connection,
    settings: Settings,
    protocol_id: int,
    submissions: Sequence[int],
    *,
    queue_class: QueueClass = QueueClass.CAMPAIGN,
    team: str = "",
    processes: int | None = None,
) -> list[int]:
    """Queue the evaluation of submissions by a protocol; the evaluations in the same order.

    One that is there already stays as it is; a failed or cancelled one is put back to queued and
    keeps the statistics it has. `team` is the one whose turn the work takes, `processes` how many
    pool processes it may be spread over.
    """
    rows = [
        {"submission_id": each, "protocol_id": protocol_id, "queue_class": int(queue_class), "team": team}
        for each in sorted(set(submissions))
    ]
    insert_if_absent(connection, Evaluation, rows)
    found = connection.execute(
        select(
            Evaluation.id,
            Evaluation.submission_id,
            Evaluation.state,
            Evaluation.remaining,
            Submission.text_id,
        )
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Evaluation.protocol_id == protocol_id, Evaluation.submission_id.in_(submissions))
        .order_by(Evaluation.id)
        .with_for_update(of=Evaluation)
    ).all()
    new = [row for row in found if row.state == EvaluationState.QUEUED and not row.remaining]
    ended = (EvaluationState.FAILED, EvaluationState.CANCELLED)
    again = [row for row in found if row.state in ended]
    measurement = read_measurement(connection, protocol_id)
    everything: Ranges = ((0, -(-measurement.segments // BLOCK_SEGMENTS)),)
    missing = {row.id: everything for row in new}
    if again:
        missing |= _take_up(connection, measurement, [row.id for row in again], int(queue_class), team)
    text_of = {row.id: row.text_id for row in (*new, *again)}
    for ranges in dict.fromkeys(missing.values()):
        alike = [evaluation for evaluation, its in missing.items() if its == ranges]
        if not ranges:
            start_reducing(connection, alike)
            continue
        sizes = Sizes(
            processes=processes or settings.processes,
            shard_seconds=settings.shard_seconds,
            shortest_seconds=settings.shortest_shard_seconds,
            largest_bytes=settings.largest_shard_bytes,
        )
        plan = _plan(connection, measurement, ranges, {each: text_of[each] for each in alike}, sizes)
        _insert_shards(connection, protocol_id, plan, int(queue_class), team)
    if any(missing.values()):
        prepare_protocol(
            connection, settings, measurement, queue_class=int(queue_class), team=team, processes=processes
        )
    by_submission = {row.submission_id: row.id for row in found}
    return [by_submission[each] for each in submissions]


def _take_up(
    connection: Connection, measurement: Measurement, evaluations: Sequence[int], queue_class: int, team: str
) -> dict[int, Ranges]:
    """Put ended evaluations back to queued; the blocks that each still lacks."""
    # Shards that still run for them would count for the new ones: let go of them.
    held = select(Shard.id).where(Shard.state.in_((LeaseState.PENDING, *IN_FLIGHT)))
    connection.execute(
        delete(ShardEvaluation).where(
            ShardEvaluation.evaluation_id.in_(evaluations), ShardEvaluation.shard_id.in_(held)
        )
    )
    connection.execute(
        update(Evaluation)
        .where(Evaluation.id.in_(evaluations))
        .values(
            state=EvaluationState.QUEUED,
            queue_class=queue_class,
            team=team,
            remaining=0,
            reduction_id=None,
            reason=None,
            started_at=None,
            finished_at=None,
        )
    )
    stored: dict[int, list[tuple[int, int]]] = {each: [] for each in evaluations}
    complete = (
        select(Statistics.evaluation_id, Statistics.first_block, Statistics.last_block)
        .where(Statistics.evaluation_id.in_(evaluations))
        .group_by(Statistics.evaluation_id, Statistics.first_block, Statistics.last_block)
        .having(func.count() == len(measurement.metrics))
        .order_by(Statistics.first_block)
    )
    for row in connection.execute(complete):
        stored[row.evaluation_id].append((row.first_block, row.last_block))
    end = -(-measurement.segments // BLOCK_SEGMENTS)
    return {evaluation: _gaps(ranges, end) for evaluation, ranges in stored.items()}


def _gaps(ranges: Sequence[tuple[int, int]], end: int) -> Ranges:
    gaps, covered = [], 0
    for first, last in (*ranges, (end, end)):
        if first > covered:
            gaps.append((covered, first))
        covered = max(covered, last)
    return tuple(gaps)


def _plan(
    connection: Connection, measurement: Measurement, ranges: Ranges, texts: dict[int, int], sizes: Sizes
) -> list[tuple[Part, list[int]]]:
    """Shards for these blocks of all these evaluations (evaluation -> text), as (part, evaluations)."""
    microseconds = sum(parse_metric(each).cost for each in measurement.metrics)
    distinct = set(texts.values())
    lengths = connection.execute(
        select(TextBlock.block, func.sum(func.length(TextBlock.content)).label("bytes"))
        .where(TextBlock.text_id.in_(distinct))
        .group_by(TextBlock.block)
    )
    bytes_of = {row.block: int(row.bytes) for row in lengths}
    end = max(bytes_of) + 1
    segments = [BLOCK_SEGMENTS] * (end - 1) + [measurement.segments - (end - 1) * BLOCK_SEGMENTS]
    costs = [block_cost(segments[block], len(distinct), bytes_of[block], microseconds) for block in range(end)]
    groups = group_systems(len(texts), max(costs), max(segments), sizes)
    plan: list[tuple[Part, list[int]]] = []
    evaluations, begin = list(texts), 0
    for systems in groups:
        chosen = evaluations[begin : begin + systems]
        begin += systems
        share = systems / len(texts)
        for first, last in ranges:
            parts = cut([cost * share for cost in costs[first:last]], first, segments[first:last], systems, sizes)
            plan += [(part, chosen) for part in parts]
    return plan


def _insert_shards(
    connection: Connection,
    protocol_id: int,
    plan: Sequence[tuple[Part, Sequence[int]]],
    queue_class: int,
    team: str,
) -> None:
    common = {"protocol_id": protocol_id, "queue_class": queue_class, "team": team}
    shards = connection.scalars(
        insert(Shard).returning(Shard.id, sort_by_parameter_order=True),
        [
            {**common, "first_block": part.first_block, "last_block": part.last_block, "cost": part.cost}
            for part, _ in plan
        ],
    ).all()
    members = [
        {"shard_id": shard, "evaluation_id": evaluation}
        for shard, (_, evaluations) in zip(shards, plan, strict=True)
        for evaluation in evaluations
    ]
    connection.execute(insert(ShardEvaluation), members)
    amounts: dict[int, int] = {}
    for _, evaluations in plan:
        for evaluation in evaluations:
            amounts[evaluation] = amounts.get(evaluation, 0) + 1
    for amount in set(amounts.values()):
        chosen = [evaluation for evaluation, its in amounts.items() if its == amount]
        connection.execute(update(Evaluation).where(Evaluation.id.in_(chosen)).values(remaining=amount))
