"""The life cycle of a reduction. Lock order as in models/queue/kinds/shards.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, insert, select, update

from models.database.upsert import upsert
from models.queue.evaluation_end import fail_evaluations, lock_evaluations
from models.queue.task_kind import Claim, Failure, TaskKind
from models.schema.base import now
from models.schema.corpus import Protocol, TestSet
from models.schema.queue import Evaluation, Reduction
from models.schema.results import Score
from models.schema.states import EvaluationState

SCORE_KEY = ("evaluation_id", "metric")

SHARED_PRODUCTS = 1 << 29
"""Segments x replicates x scores, a third of a second's work: less is not shared by several reductions."""

SHARED_SCORES = 60
"""Nor are fewer: each reduction draws the replicates anew, which takes as long as several scores."""


@dataclass(frozen=True, slots=True)
class ClaimedReduction(Claim):
    """A reduction under our lease."""

    protocol_id: int
    evaluations: tuple[int, ...]

    def log_fields(self) -> dict[str, Any]:
        """As `Claim`."""
        return {"protocol": self.protocol_id, "evaluations": self.evaluations}


def enqueue_reductions(connection: Connection, evaluations: Sequence[int]) -> list[int]:
    """Add pending reductions for evaluations of one protocol and edition whose shards are all done; their ids.

    Several where there is much to add up, so that more than one worker does it.
    """
    first = connection.execute(
        select(
            Evaluation.protocol_id,
            Evaluation.queue_class,
            Evaluation.team,
            Evaluation.due_at,
            Evaluation.edition,
            Evaluation.trace,
        ).where(Evaluation.id == evaluations[0])
    ).one()
    metrics, replicates, segments = connection.execute(
        select(Protocol.metrics, Protocol.replicates, TestSet.segments)
        .join(TestSet, TestSet.id == Protocol.test_set_id)
        .where(Protocol.id == first.protocol_id)
    ).one()
    scores = len(evaluations) * len(metrics)
    limits = segments * (1 + replicates) * scores // SHARED_PRODUCTS, scores // SHARED_SCORES, len(evaluations)
    parts = max(1, min(limits))
    reductions = []
    for part in range(parts):
        members = evaluations[part * len(evaluations) // parts : (part + 1) * len(evaluations) // parts]
        inserted = insert(Reduction).values(**first._mapping).returning(Reduction.id)
        reduction = connection.execute(inserted).scalar_one()
        connection.execute(
            update(Evaluation)
            .where(Evaluation.id.in_(members))
            .values(state=EvaluationState.REDUCING, reduction_id=reduction)
        )
        reductions.append(reduction)
    return reductions


def _load(connection: Connection, claim: Claim) -> ClaimedReduction | None:
    rows = connection.execute(
        select(Evaluation.id, Evaluation.protocol_id, Evaluation.started_at)
        .where(Evaluation.reduction_id == claim.key, Evaluation.state == EvaluationState.REDUCING)
        .order_by(Evaluation.id)
    ).all()
    if not rows:
        return None
    # If nothing had to be scored, the evaluations start here.
    waited = [row.id for row in rows if row.started_at is None]
    if waited:
        held = lock_evaluations(connection, waited, [EvaluationState.REDUCING])
        connection.execute(update(Evaluation).where(Evaluation.id.in_(held)).values(started_at=now()))
    return ClaimedReduction(*claim.identity, protocol_id=rows[0].protocol_id, evaluations=tuple(row.id for row in rows))


def _complete(connection: Connection, claim: ClaimedReduction, scores: Sequence[dict[str, Any]]) -> None:
    """Store the scores (rows of Score) and end the evaluations.

    Scores of evaluations that were cancelled meanwhile, or now belong to another reduction, are discarded.
    """
    held = lock_evaluations(connection, claim.evaluations, [EvaluationState.REDUCING])
    ours = select(Evaluation.id).where(Evaluation.id.in_(held), Evaluation.reduction_id == claim.key)
    waiting = set(connection.scalars(ours))
    rows = [row for row in scores if row["evaluation_id"] in waiting]
    if rows:
        # Usually there are none; there may be if an evaluation was reset by hand.
        upsert(connection, Score, rows, [name for name in rows[0] if name not in SCORE_KEY])
    if waiting:
        connection.execute(
            update(Evaluation)
            .where(Evaluation.id.in_(waiting))
            .values(state=EvaluationState.DONE, reason=None, finished_at=now())
        )


def _exhausted(connection: Connection, reduction: Row[Any], failure: Failure) -> None:
    """Fail a single evaluation; give each of several a reduction of its own, so that one failure is isolated."""
    members = select(Evaluation.id).where(Evaluation.reduction_id == reduction.id)
    waiting = lock_evaluations(connection, list(connection.scalars(members)), [EvaluationState.REDUCING])
    if len(waiting) == 1:
        reason = failure.describe("The shards could not be added up")
        fail_evaluations(connection, waiting, reason, fault=failure.fault)
        return
    for evaluation in waiting:
        enqueue_reductions(connection, [evaluation])


def _removable() -> ColumnElement[bool]:
    return ~exists().where(Evaluation.reduction_id == Reduction.id, Evaluation.state == EvaluationState.REDUCING)


def _detach(connection: Connection, reductions: list[int]) -> None:
    attached = (
        select(Evaluation.id).where(Evaluation.reduction_id.in_(reductions)).order_by(Evaluation.id).with_for_update()
    )
    connection.execute(
        update(Evaluation).where(Evaluation.id.in_(list(connection.scalars(attached)))).values(reduction_id=None)
    )


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    evaluations = select(Evaluation.id).where(Evaluation.reduction_id == key).order_by(Evaluation.id)
    return {
        "protocol": connection.scalar(select(Reduction.protocol_id).where(Reduction.id == key)),
        "evaluations": list(connection.scalars(evaluations)),
    }


REDUCTION = TaskKind(
    name="reductions",
    table=Reduction,
    message="reduce",
    load=_load,
    run="worker.runners:reduce",
    repair="worker.runners:delete_lost_objects",
    complete=_complete,
    exhausted=_exhausted,
    removable=_removable,
    detach=_detach,
    log_fields=_log_fields,
)
