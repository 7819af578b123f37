"""The state of the queue."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from campaigns.inspection.queue import queue_document, read_queue
from models.database.session import reading
from models.queue_status.evaluation_filters import EvaluationFilter
from steelyard_client.documents.submissions.queue import QueueResponse
from web.api.submissions.evaluations import Numbers
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(prefix="/queue", tags=["evaluations"])

MOST_FAILURES = 10_000


@router.get("")
def read_queue_status(
    request: Request,
    principal: CurrentPrincipal,
    name: Annotated[str, Query(description="Only the evaluations of this campaign or test set.")] = "",
    evaluation: Numbers = [],  # noqa: B006
    failures: Annotated[int, Query(ge=0, le=MOST_FAILURES, description="How many failures at most.")] = 10,
) -> QueueResponse:
    """Read the queue: waiting work, workers, the progress of campaigns, and why evaluations failed.

    For organisers, of their campaigns. Queues and workers are those of the whole server; administrators see teams,
    comparisons and where workers run, too.
    """
    state = app_state(request)
    wanted = EvaluationFilter(evaluations=tuple(dict.fromkeys(evaluation)), name=name or None)
    with reading(state.engine) as connection:
        return queue_document(read_queue(connection, principal, state.settings, wanted, failures), state.settings)
