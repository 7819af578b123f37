"""From submissions and a protocol to evaluations with waiting shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from models.corpus.protocols import ProtocolContent, read_protocol
from models.database.upsert import insert_ignore
from models.queue.given_statistics import give_statistics
from models.queue.kinds.reductions import enqueue_reductions
from models.queue.lease import is_open
from models.queue.missing_blocks import (
    MissingBlocks,
    all_blocks,
    delete_overlapping_statistics,
    delete_statistics,
    find_missing_blocks,
)
from models.schema.corpus import Submission
from models.schema.queue import Evaluation, Shard, ShardEvaluation
from models.schema.states import NOT_YET, UNFINISHED, EvaluationState, QueueClass
from runtime.settings import Settings
from runtime.tracing import current_trace, span
from scheduler.enqueue.corpus_statistics import enqueue_corpus_counts
from scheduler.enqueue.learned import Urgency, enqueue_learned
from scheduler.enqueue.reuse import reuse_statistics
from scheduler.enqueue.shard_plan import PlannedShard, plan_missing
from steelyard.metrics.metric import EDITION


@dataclass(frozen=True, slots=True)
class EnqueueResult:
    """The result of enqueueing."""

    evaluations: tuple[int, ...]
    """In the order of the submissions."""
    measured_before: tuple[int, ...]
    """For each evaluation, the number of metrics whose statistics were reused, from any campaign."""


def enqueue_evaluations(
    connection: Connection,
    settings: Settings,
    protocol_id: int,
    submissions: Sequence[int],
    *,
    queue_class: QueueClass = QueueClass.CAMPAIGN,
    team: str = "",
    processes: int | None = None,
    recompute: bool = False,
    due_at: float | None = None,
) -> list[int]:
    """Enqueue the evaluation of submissions under a protocol; the evaluations in the same order.

    An existing evaluation is unchanged; a failed or cancelled one is enqueued again and keeps its statistics.
    Statistics of the same texts against the same references are reused (`scheduler.enqueue.reuse`), and shards are
    added for the rest.

    Parameters
    ----------
    team : str
        The team charged for the work.
    processes : int | None
        The number of pool processes to spread the work over.
    recompute : bool
        Reuse no statistics of other evaluations.
    due_at : float | None
        The requested time of completion, by the database's clock.
    """
    queued = enqueue_submissions(
        connection,
        settings,
        protocol_id,
        submissions,
        queue_class=queue_class,
        team=team,
        processes=processes,
        recompute=recompute,
        due_at=due_at,
    )
    return list(queued.evaluations)


@span("enqueue")
def enqueue_submissions(
    connection: Connection,
    settings: Settings,
    protocol_id: int,
    submissions: Sequence[int],
    *,
    queue_class: QueueClass,
    team: str,
    processes: int | None,
    recompute: bool = False,
    due_at: float | None = None,
) -> EnqueueResult:
    """As `enqueue_evaluations`, with the number of reused metrics."""
    rows = [
        {
            "submission_id": each,
            "protocol_id": protocol_id,
            "queue_class": int(queue_class),
            "team": team,
            "due_at": due_at,
            "edition": EDITION,
        }
        for each in sorted(set(submissions))
    ]
    insert_ignore(connection, Evaluation, rows)
    found = connection.execute(
        select(
            Evaluation.id,
            Evaluation.submission_id,
            Evaluation.state,
            Evaluation.remaining,
            Evaluation.edition,
            Submission.text_id,
        )
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Evaluation.protocol_id == protocol_id, Evaluation.submission_id.in_(submissions))
        .order_by(Evaluation.id)
        .with_for_update(of=Evaluation)
    ).all()
    new = [row for row in found if row.state == EvaluationState.QUEUED and not row.remaining]
    again = [row for row in found if row.state in UNFINISHED]
    protocol = read_protocol(connection, protocol_id)
    if again:
        outdated = [row.id for row in again if row.edition != EDITION]
        _reset(connection, [row.id for row in again], outdated, int(queue_class), team, due_at)
    text_of = {row.id: row.text_id for row in (*new, *again)}
    given = give_statistics(connection, protocol, list(text_of))
    stored = list(text_of) if given else [row.id for row in again]
    missing = _missing(connection, protocol, [row.id for row in new], stored)
    if not recompute:
        failed = {row.id for row in again if row.state == EvaluationState.FAILED}
        missing |= _reuse(connection, protocol, missing, text_of, failed)
    measured = {evaluation: len(protocol.metrics) - len(_metrics_in(gaps)) for evaluation, gaps in missing.items()}
    missing = enqueue_learned(connection, settings, protocol, missing, text_of, Urgency(int(queue_class), team, due_at))
    plan = plan_missing(connection, settings, protocol, missing, text_of, processes)
    if plan:
        waits = enqueue_corpus_counts(
            connection,
            settings,
            protocol,
            queue_class=int(queue_class),
            team=team,
            processes=processes,
            due_at=due_at,
        )
        not_before = NOT_YET if waits else 0.0
        _insert_shards(connection, protocol_id, plan, int(queue_class), team, due_at, not_before)
    if complete := [evaluation for evaluation, gaps in missing.items() if not gaps]:
        enqueue_reductions(connection, complete)
    by_submission = {row.submission_id: row for row in found}
    chosen = [by_submission[each] for each in submissions]
    whole = len(protocol.metrics)
    there = {row.id: whole if row.state == EvaluationState.DONE else 0 for row in found}
    there |= measured
    return EnqueueResult(tuple(row.id for row in chosen), tuple(there[row.id] for row in chosen))


def _reset(
    connection: Connection,
    evaluations: Sequence[int],
    outdated: Sequence[int],
    queue_class: int,
    team: str,
    due_at: float | None,
) -> None:
    """Reset ended evaluations to queued; those `outdated` lose their statistics of another edition."""
    # Running shards would count for the new evaluations: detach them.
    held = select(Shard.id).where(is_open(Shard))
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
            due_at=due_at,
            edition=EDITION,
            trace=current_trace(),
            remaining=0,
            reduction_id=None,
            reason=None,
            fault=None,
            started_at=None,
            finished_at=None,
        )
    )
    delete_statistics(connection, outdated)
    delete_overlapping_statistics(connection, evaluations)


def _missing(
    connection: Connection,
    protocol: ProtocolContent,
    new: Sequence[int],
    stored: Sequence[int],
) -> dict[int, MissingBlocks]:
    """The missing blocks of each evaluation; of new ones all, except those that may have something `stored`."""
    everything = all_blocks(protocol)
    missing: dict[int, MissingBlocks] = {each: {everything: tuple(range(len(protocol.metrics)))} for each in new}
    if stored:
        missing |= find_missing_blocks(connection, protocol, stored)
    return missing


def _reuse(
    connection: Connection,
    protocol: ProtocolContent,
    missing: Mapping[int, MissingBlocks],
    texts: Mapping[int, int],
    failed: Collection[int],
) -> dict[int, MissingBlocks]:
    """Copy cached statistics; the remaining missing blocks of the evaluations that got some."""
    everything = all_blocks(protocol)
    by_evaluation = {evaluation: gaps.get(everything, ()) for evaluation, gaps in missing.items()}
    reused = reuse_statistics(connection, protocol, texts, by_evaluation, failed)
    # Looked up again, since a source may have been deleted meanwhile.
    return find_missing_blocks(connection, protocol, sorted(reused)) if reused else {}


def _metrics_in(missing: MissingBlocks) -> set[int]:
    return {metric for metrics in missing.values() for metric in metrics}


def _insert_shards(
    connection: Connection,
    protocol_id: int,
    plan: Sequence[PlannedShard],
    queue_class: int,
    team: str,
    due_at: float | None,
    not_before: float,
) -> None:
    common = {
        "protocol_id": protocol_id,
        "queue_class": queue_class,
        "team": team,
        "due_at": due_at,
        "edition": EDITION,
        "not_before": not_before,
    }
    shards = connection.scalars(
        insert(Shard).returning(Shard.id, sort_by_parameter_order=True),
        [
            {
                **common,
                "first_block": each.part.first_block,
                "last_block": each.part.last_block,
                "cost": each.part.cost,
                "units": each.units,
                "metrics": each.metrics,
            }
            for each in plan
        ],
    ).all()
    members = [
        {"shard_id": shard, "evaluation_id": evaluation}
        for shard, each in zip(shards, plan, strict=True)
        for evaluation in each.evaluations
    ]
    connection.execute(insert(ShardEvaluation), members)
    amounts = Counter(evaluation for each in plan for evaluation in each.evaluations)
    for amount in set(amounts.values()):
        chosen = [evaluation for evaluation, segments_left in amounts.items() if segments_left == amount]
        connection.execute(update(Evaluation).where(Evaluation.id.in_(chosen)).values(remaining=amount))
