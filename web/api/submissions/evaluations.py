"""Evaluations: one submission under one protocol. Organisers can cancel and retry them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
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
from steelyard_client.documents.document import utc
from steelyard_client.documents.evaluations import EvaluationCancel, EvaluationResponse
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(prefix="/evaluations", tags=["evaluations"])

EvaluationId = Annotated[int, Path(ge=1, lt=2**63)]


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
        created_at=utc(row.created_at),
        started_at=utc(row.started_at),
        finished_at=utc(row.finished_at),
    )
