"""A system's outputs for many language pairs in one upload."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from campaigns.submissions.documents import finding_response
from campaigns.submissions.submit import MAX_KEY_LENGTH
from steelyard_client.documents.submissions.submissions import (
    CheckedOutputResponse,
    RefusedOutputResponse,
    SubmissionsCreatedResponse,
)
from web.api.submissions.submissions import BODY, created_response
from web.dependencies import CurrentPrincipal, app_state
from web.uploads.large_bodies import accepts_upload
from web.uploads.request import ReceivedSubmission, SeveralRequest
from web.uploads.submit_pairs import PairsCheck, RefusedOutput, check_pairs, submit_pairs

router = APIRouter(tags=["submissions"])


@router.post("/campaigns/{name}/outputs", status_code=201, openapi_extra=BODY)
@accepts_upload
async def submit_outputs(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    incoming: ReceivedSubmission,
    response: Response,
    preview: Annotated[bool, Query(description="Say what would be stored, and store nothing.")] = False,
    idempotency_key: Annotated[str | None, Header(max_length=MAX_KEY_LENGTH)] = None,
) -> SubmissionsCreatedResponse:
    """Submit the outputs of a system for many language pairs, as a zip or as one file.

    Each file of a zip is named after its pair, in any spelling, or after its test set: `en-cs.txt`, `eng-deu.txt`,
    `en-zh/SYSTEM.txt`. JSON Lines whose `doc_id` name their pairs, as in WMT25 and WMT26, are for all of them, in a zip
    or alone, packed with gzip or not; `test_set` is ignored. Each output is checked and stored by itself, as a
    single one is; what is refused is named and keeps nothing else back, and so are files that are no texts. If
    nothing can be stored, the request fails with all reasons. With `preview` each output is only checked, all of
    them as one check, and the status is 200: the response says which file is for which test set, what is refused,
    and which test sets have no output. Quotas and phases are left to the submission.
    """
    state = app_state(request)
    several = SeveralRequest(incoming.values, [] if incoming.file is None else [incoming.file])
    if preview:
        response.status_code = 200
        return check_document(await check_pairs(state, principal, name, several))
    done = await submit_pairs(state, principal, name, several, key=idempotency_key)
    return SubmissionsCreatedResponse(
        stored=[await run_in_threadpool(created_response, state, principal, each) for each in done.stored],
        checked=[],
        refused=[_refused(each) for each in done.refused],
        missing=[],
        left_out=list(done.left_out),
    )


def check_document(check: PairsCheck) -> SubmissionsCreatedResponse:
    """What would become of each file."""
    return SubmissionsCreatedResponse(
        stored=[],
        checked=[
            CheckedOutputResponse(
                file=each.file, test_set=each.test_set, findings=[finding_response(one) for one in each.findings]
            )
            for each in check.checked
        ],
        refused=[_refused(each) for each in check.refused],
        missing=list(check.missing),
        left_out=list(check.left_out),
    )


def _refused(output: RefusedOutput) -> RefusedOutputResponse:
    return RefusedOutputResponse(file=output.file, reason=output.reason, details=list(output.details))
