"""Evaluations: a submission measured by one protocol. What people do to the queue by hand is for organisers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field
from sqlalchemy import Connection, select

from campaigns.errors import NotThere
from campaigns.failure_reasons import told_reason
from campaigns.permissions import Sight
from campaigns.submissions.evaluation_actions import cancel, retry
from campaigns.submissions.views import find_row, may_see
from models.database.session import reading, writing
from models.queue_status.submission_progress import read_measured_segments, told_state
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation as StoredEvaluation
from models.schema.states import EvaluationState
from web.dependencies import Asking, state_of

router = APIRouter(prefix="/evaluations", tags=["evaluations"])

Number = Annotated[int, Path(ge=1, lt=2**63)]


class Evaluation(BaseModel):
    """A submission measured by one protocol, and how far that is."""

    id: int
    submission: int
    references: list[str]
    metrics: list[str]
    state: EvaluationState
    reason: str | None
    segments: int
    """Of the test set."""
    segments_done: int
    """Those that have been measured by all its metrics."""
    created_at: float
    started_at: float | None
    finished_at: float | None


class Cancelling(BaseModel):
    """Why, and who is charged."""

    reason: str = Field(default="", max_length=1000)
    counts: bool = False
    """Whether the team's attempt counts all the same."""


@router.get("/{evaluation}")
def read_evaluation(request: Request, principal: Asking, evaluation: Number) -> Evaluation:
    """How far an evaluation of one's team is; organisers see all of their campaigns."""
    with reading(state_of(request).engine) as connection:
        return _read(connection, principal, evaluation)[1]


@router.post("/{evaluation}/cancel")
def cancel_evaluation(request: Request, principal: Asking, evaluation: Number, how: Cancelling) -> Evaluation:
    """Stop an evaluation that is open. For organisers."""
    with writing(state_of(request).engine, durable=True) as connection:
        sight, seen = _read(connection, principal, evaluation)
        cancel(connection, sight, [evaluation], _called(seen), reason=how.reason, counts=how.counts)
        return _read(connection, principal, evaluation)[1]


@router.post("/{evaluation}/retry")
def retry_evaluation(request: Request, principal: Asking, evaluation: Number) -> Evaluation:
    """Queue an evaluation again that failed or was cancelled; what is measured already is kept. For organisers."""
    state = state_of(request)
    with writing(state.engine, durable=True) as connection:
        sight, seen = _read(connection, principal, evaluation)
        retry(connection, state.settings, sight, [evaluation], _called(seen))
        return _read(connection, principal, evaluation)[1]


def _called(seen: Evaluation) -> str:
    return f"evaluation {seen.id} of submission {seen.submission}"


def _read(connection: Connection, principal: Asking, evaluation: int) -> tuple[Sight, Evaluation]:
    unknown = NotThere(f"There is no evaluation {evaluation} that you may see.")
    row = connection.execute(
        select(StoredEvaluation, Protocol.reference_labels, Protocol.metrics)
        .join(Protocol, Protocol.id == StoredEvaluation.protocol_id)
        .where(StoredEvaluation.id == evaluation)
    ).one_or_none()
    if row is None:
        raise unknown
    try:
        sight, submission = find_row(connection, principal, row.submission_id)
    except NotThere:
        raise unknown from None
    if not may_see(sight, submission.team):
        raise unknown
    measured = read_measured_segments(connection, evaluation)
    return sight, Evaluation(
        id=row.id,
        submission=row.submission_id,
        references=list(row.reference_labels),
        metrics=list(row.metrics),
        state=told_state(row.state, row.started_at),
        reason=told_reason(sight, submission.test_set_id, row.state, row.reason, row.fault),
        segments=measured.every,
        segments_done=measured.done,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )
