"""Reduces imported columns at once, so that a leaderboard shows them without a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Engine, select

from models.corpus.campaign_protocols import find_campaign
from models.database.session import reading
from models.queue.kinds.reductions import REDUCTION
from models.schema.corpus import Submission
from models.schema.queue import Evaluation, Reduction
from models.schema.states import EvaluationState, LeaseState
from worker.context import WorkerContext
from worker.handlers import do

if TYPE_CHECKING:
    from runtime.settings import Settings

MOST = 200
"""Reductions that are done at once; workers do further ones."""


def reduce_now(engine: Engine, settings: Settings, campaign: str) -> None:
    """Do the reductions that wait in a campaign, as a worker does: statistics are there, so this is quick.

    A worker that is quicker takes them: each is done once.
    """
    with reading(engine) as connection:
        waiting = list(
            connection.scalars(
                select(Reduction.id)
                .join(Evaluation, Evaluation.reduction_id == Reduction.id)
                .join(Submission, Submission.id == Evaluation.submission_id)
                .where(
                    Submission.campaign_id == find_campaign(connection, campaign),
                    Evaluation.state == EvaluationState.REDUCING,
                    Reduction.state == LeaseState.PENDING,
                )
                .distinct()
                .order_by(Reduction.id)
                .limit(MOST)
            )
        )
    if not waiting:
        return
    context = WorkerContext(settings, 1)
    try:
        for key in waiting:
            do(context, REDUCTION, key, "import")
    finally:
        context.close()
