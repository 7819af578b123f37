"""Evaluations: one submission under one protocol. Organisers can cancel and retry them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from sqlalchemy import Connection, select

from campaigns.errors import NotFound
from campaigns.failure_reasons import public_reason
from campaigns.permissions import CampaignAccess
from campaigns.submissions import selected_evaluations as selected
from campaigns.submissions.evaluation_actions import cancel_open_evaluations
from campaigns.submissions.evaluation_actions import retry_evaluations as retry_by_number
from campaigns.submissions.views import find_submission_row, may_see
from models.database.session import reading, writing
from models.queue_status.submission_progress import public_state, read_measured_segments
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation as StoredEvaluation
from scheduler.admin import Action
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from steelyard_client.documents.submissions.evaluations import (
    EvaluationCancel,
    EvaluationResponse,
    EvaluationsCancel,
    EvaluationsChangeResponse,
    EvaluationScoresResponse,
    EvaluationSelection,
    SelectedEvaluation,
)
from steelyard_client.vocabulary import EvaluationState
from web.api.paging import After, Limit, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(prefix="/evaluations", tags=["evaluations"])

EvaluationId = Annotated[int, Path(ge=1, lt=2**63)]
EvaluationNumber = Annotated[int, Field(ge=1, lt=2**63)]

Numbers = Annotated[list[EvaluationNumber], Query(max_length=200, description="Numbers of evaluations.")]
DryRun = Annotated[bool, Query(description="Only say what would be changed.")]


@router.get("")
def list_evaluations(
    request: Request,
    principal: CurrentPrincipal,
    evaluation: Numbers = [],  # noqa: B006 - FastAPI copies it
    campaign: str = "",
    system: Annotated[str, Query(description="NAME or TEAM/NAME.")] = "",
    team: Annotated[str, Query(description="The team that queued them.")] = "",
    state: Annotated[list[EvaluationState], Query(max_length=len(EvaluationState), description="Their states.")] = [],  # noqa: B006
    limit: Limit = 50,
    after: After = "",
) -> Page[SelectedEvaluation]:
    """List the evaluations of the campaigns that you organise, by their numbers; all that is given must match."""
    wanted = EvaluationSelection(evaluations=evaluation, campaign=campaign, system=system, team=team, states=state)
    with reading(app_state(request).engine) as connection:
        found = selected.list_selected(connection, principal, wanted, after=parse_cursor(after) or 0, limit=limit + 1)
    return Page(**make_page(found, limit, selected.selected_evaluation))


@router.get("/scores")
def read_evaluation_scores(
    request: Request,
    principal: CurrentPrincipal,
    evaluation: Numbers = [],  # noqa: B006
) -> EvaluationScoresResponse:
    """Read which scores are stored of evaluations, to compare them bit by bit with those before a recomputation.

    For organisers.
    """
    with reading(app_state(request).engine) as connection:
        wanted = EvaluationSelection(evaluations=evaluation)
        return EvaluationScoresResponse(scores=selected.read_scores(connection, principal, wanted))


@router.post("/cancel")
def cancel_evaluations(
    request: Request, principal: CurrentPrincipal, cancellation: EvaluationsCancel, dry_run: DryRun = False
) -> EvaluationsChangeResponse:
    """Cancel those of the selected evaluations that have not ended; with `dry_run`, say which. For organisers.

    Their statistics are kept for a retry.
    """
    return _changed(request, principal, Action.CANCEL, cancellation, dry_run)


@router.post("/retry")
def retry_evaluations(
    request: Request, principal: CurrentPrincipal, selection: EvaluationSelection, dry_run: DryRun = False
) -> EvaluationsChangeResponse:
    """Queue evaluations again that failed, were cancelled or lack a metric; with `dry_run`, say which. For organisers.

    Existing statistics are reused.
    """
    return _changed(request, principal, Action.RETRY, selection, dry_run)


@router.post("/recompute")
def recompute_evaluations(
    request: Request, principal: CurrentPrincipal, selection: EvaluationSelection, dry_run: DryRun = False
) -> EvaluationsChangeResponse:
    """Delete the results of evaluations that have ended, and compute them again; with `dry_run`, say which.

    For organisers. The response has the deleted scores.
    """
    return _changed(request, principal, Action.RECOMPUTE, selection, dry_run)


def _changed(
    request: Request, principal: CurrentPrincipal, action: Action, selection: EvaluationSelection, dry_run: bool
) -> EvaluationsChangeResponse:
    state = app_state(request)
    return selected.change_evaluations(state.engine, state.settings, principal, action, selection, dry_run=dry_run)


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
    """Queue an evaluation again that failed, was cancelled or lacks the scores of a metric that failed. For organisers.

    Existing statistics are reused.
    """
    state = app_state(request)
    with writing(state.engine, durable=True) as connection:
        access, seen = _read(connection, principal, evaluation)
        retry_by_number(connection, state.settings, access, [evaluation], _audit_subject(seen))
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
