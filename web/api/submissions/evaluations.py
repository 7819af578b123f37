"""Evaluations: one submission under one protocol. Organisers can cancel and retry them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import Field
from sqlalchemy import Connection, select

from campaigns.errors import NotFound
from campaigns.failure_reasons import public_reason
from campaigns.permissions import CampaignAccess
from campaigns.submissions.evaluation_actions import cancel_open_evaluations, retry_evaluations
from campaigns.submissions.views import find_submission_row, may_see
from models.database.session import reading, writing
from models.queue_status.submission_progress import public_state, read_measured_segments
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation as StoredEvaluation
from models.schema.states import EvaluationState
from web.api.document import Document, Timestamp
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(prefix="/evaluations", tags=["evaluations"])

EvaluationId = Annotated[int, Path(ge=1, lt=2**63)]


class EvaluationResponse(Document):
    """An evaluation and its progress."""

    id: int
    """Its number."""
    submission: int
    """Number of the submission."""
    references: list[str]
    """Labels of the references."""
    metrics: list[str]
    """Specifications of the metrics."""
    state: EvaluationState
    """State of the evaluation."""
    reason: str | None
    """Why it failed or was cancelled; null otherwise."""
    segments: int
    """Segments of the test set."""
    segments_done: int
    """Segments that all its metrics have measured."""
    created_at: Timestamp
    """When it was queued."""
    started_at: Timestamp | None
    """When its first task began; null before."""
    finished_at: Timestamp | None
    """When it ended; null before."""


class EvaluationCancel(Document):
    """Why an evaluation is cancelled, and whether it still counts against the quota."""

    reason: str = Field(default="", max_length=1000)
    """Why, for the audit log."""
    counts: bool = False
    """Whether the submission still counts against the team's quota."""


@router.get("/{evaluation}")
def read_evaluation(request: Request, principal: CurrentPrincipal, evaluation: EvaluationId) -> EvaluationResponse:
    """Read an evaluation of one of your teams; organisers can read all evaluations of their campaigns."""
    with reading(app_state(request).engine) as connection:
        return _read(connection, principal, evaluation)[1]


@router.post("/{evaluation}/cancel")
def cancel_evaluation(
    request: Request, principal: CurrentPrincipal, evaluation: EvaluationId, cancellation: EvaluationCancel
) -> EvaluationResponse:
    """Cancel an evaluation that has not ended. For organisers."""
    with writing(app_state(request).engine, durable=True) as connection:
        access, seen = _read(connection, principal, evaluation)
        cancel_open_evaluations(
            connection,
            access,
            [evaluation],
            _audit_subject(seen),
            reason=cancellation.reason,
            counts=cancellation.counts,
        )
        return _read(connection, principal, evaluation)[1]


@router.post("/{evaluation}/retry")
def retry_evaluation(request: Request, principal: CurrentPrincipal, evaluation: EvaluationId) -> EvaluationResponse:
    """Queue a failed or cancelled evaluation again; existing statistics are reused. For organisers."""
    state = app_state(request)
    with writing(state.engine, durable=True) as connection:
        access, seen = _read(connection, principal, evaluation)
        retry_evaluations(connection, state.settings, access, [evaluation], _audit_subject(seen))
        return _read(connection, principal, evaluation)[1]


def _audit_subject(seen: EvaluationResponse) -> str:
    return f"evaluation {seen.id} of submission {seen.submission}"


def _read(
    connection: Connection, principal: CurrentPrincipal, evaluation: int
) -> tuple[CampaignAccess, EvaluationResponse]:
    unknown = NotFound(f"There is no evaluation {evaluation} that you may see.")
    row = connection.execute(
        select(StoredEvaluation, Protocol.reference_labels, Protocol.metrics)
        .join(Protocol, Protocol.id == StoredEvaluation.protocol_id)
        .where(StoredEvaluation.id == evaluation)
    ).one_or_none()
    if row is None:
        raise unknown
    try:
        access, submission = find_submission_row(connection, principal, row.submission_id)
    except NotFound:
        raise unknown from None
    if not may_see(access, submission.team):
        raise unknown
    measured = read_measured_segments(connection, evaluation)
    return access, EvaluationResponse(
        id=row.id,
        submission=row.submission_id,
        references=list(row.reference_labels),
        metrics=list(row.metrics),
        state=public_state(row.state, row.started_at),
        reason=public_reason(access, submission.test_set_id, row.state, row.reason, row.fault),
        segments=measured.every,
        segments_done=measured.done,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )
