"""The life of a reduction: claimed, completed, released. Locks as in models/queue/shards.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, update

from models.database.upsert import insert_or_replace
from models.queue.evaluation_end import fail_evaluations, fault_of, lock_evaluations
from models.queue.lease import close, finish, put_back, take
from models.queue.shards import start_reducing
from models.schema.base import now
from models.schema.queue import Evaluation, Reduction
from models.schema.results import Score
from models.schema.states import EvaluationState, LeaseState

SCORE_KEY = ("evaluation_id", "metric")


@dataclass(frozen=True, slots=True)
class ClaimedReduction:
    """A reduction that is ours until its lease is over."""

    reduction_id: int
    owner: str
    protocol_id: int
    evaluations: tuple[int, ...]


def claim_reduction(
    connection: Connection,
    reduction_id: int,
    *,
    owner: str,
    worker: str,
    lease_seconds: float,
    max_attempts: int,
    edition: int | None = None,
) -> ClaimedReduction | None:
    """Try to become the one who reduces; None when somebody else does, or nobody waits for it."""
    if not take(
        connection,
        Reduction,
        reduction_id,
        owner=owner,
        worker=worker,
        lease_seconds=lease_seconds,
        max_attempts=max_attempts,
        edition=edition,
    ):
        return None
    rows = connection.execute(
        select(Evaluation.id, Evaluation.protocol_id, Evaluation.started_at)
        .where(Evaluation.reduction_id == reduction_id, Evaluation.state == EvaluationState.REDUCING)
        .order_by(Evaluation.id)
    ).all()
    if not rows:
        close(connection, Reduction, [reduction_id], LeaseState.CANCELLED, None)
        return None
    # Where nothing had to be scored, it starts here.
    waited = [row.id for row in rows if row.started_at is None]
    if waited:
        held = lock_evaluations(connection, waited, [EvaluationState.REDUCING])
        connection.execute(update(Evaluation).where(Evaluation.id.in_(held)).values(started_at=now()))
    return ClaimedReduction(
        reduction_id=reduction_id,
        owner=owner,
        protocol_id=rows[0].protocol_id,
        evaluations=tuple(row.id for row in rows),
    )


def complete_reduction(connection: Connection, claim: ClaimedReduction, scores: Sequence[dict[str, Any]]) -> bool:
    """Store the scores (rows of Score) and end the evaluations; False when it was not ours any more.

    Scores of evaluations that were cancelled meanwhile are dropped, also of those that have another reduction by now.
    """
    if not finish(connection, Reduction, claim.reduction_id, claim.owner):
        return False
    held = lock_evaluations(connection, claim.evaluations, [EvaluationState.REDUCING])
    ours = select(Evaluation.id).where(Evaluation.id.in_(held), Evaluation.reduction_id == claim.reduction_id)
    waiting = set(connection.scalars(ours))
    rows = [row for row in scores if row["evaluation_id"] in waiting]
    if rows:
        # As a rule there are none; there may be where somebody has set an evaluation back by hand.
        insert_or_replace(connection, Score, rows, [name for name in rows[0] if name not in SCORE_KEY])
        connection.execute(
            update(Evaluation)
            .where(Evaluation.id.in_(waiting))
            .values(state=EvaluationState.DONE, reason=None, finished_at=now())
        )
    return True


def release_reduction(
    connection: Connection,
    reduction_id: int,
    owner: str,
    reason: str,
    *,
    max_attempts: int,
    delay_seconds: float,
    permanent: bool = False,
) -> bool:
    """Take a reduction from an owner that could not finish it, as `release_shard` does with shards."""
    reduction = connection.execute(
        select(Reduction)
        .where(Reduction.id == reduction_id, Reduction.owner == owner, Reduction.state == LeaseState.RUNNING)
        .with_for_update()
    ).one_or_none()
    if reduction is None:
        return False
    if reduction.attempts < max_attempts and not permanent:
        delay = delay_seconds * reduction.attempts
        put_back(connection, Reduction, reduction_id, reason=reason, delay_seconds=delay)
        return True
    close(connection, Reduction, [reduction_id], LeaseState.FAILED, reason)
    members = select(Evaluation.id).where(Evaluation.reduction_id == reduction_id)
    waiting = lock_evaluations(connection, list(connection.scalars(members)), [EvaluationState.REDUCING])
    if len(waiting) == 1:
        tries = f"tried {reduction.attempts} times" if reduction.attempts > 1 else "tried once"
        failed = f"The shards could not be added up ({tries}): {reason}"
        fail_evaluations(connection, waiting, failed, fault=fault_of(permanent=permanent))
        return True
    for evaluation in waiting:
        start_reducing(connection, [evaluation])
    return True
