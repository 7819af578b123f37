"""Submissions: submit, check, list, declare, withdraw."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from campaigns.declarations import DeclarationUpdate, declare_submission, reinstate, withdraw
from campaigns.deletion.submissions import delete_submission
from campaigns.leaderboards.feedback import LEVEL, read_feedback
from campaigns.leaderboards.places import read_places
from campaigns.permissions import read_access
from campaigns.submissions.documents import (
    feedback_response,
    finding_response,
    quota_usage_response,
    submission_response,
)
from campaigns.submissions.form import SubmissionFields
from campaigns.submissions.submit import MAX_KEY_LENGTH
from campaigns.submissions.views import SubmissionQuery, find_submission, list_submissions
from models.database.session import reading, writing
from models.schema.roles import Feedback
from steelyard_client.documents.campaigns.deletions import DeletionResponse
from steelyard_client.documents.paging import Page
from steelyard_client.documents.submissions.submissions import (
    OutputCheckResponse,
    SubmissionCreatedResponse,
    SubmissionResponse,
    SubmissionUpdate,
    SubmissionWithScoresResponse,
)
from web.api.deletions import DryRun, deletion_response
from web.api.paging import After, Limit, parse_cursor
from web.dependencies import CurrentPrincipal, app_state
from web.etags import NOT_MODIFIED, etag_of, not_modified
from web.state import State
from web.stored_output import output_response
from web.uploads.large_bodies import accepts_upload
from web.uploads.request import ReceivedSubmission
from web.uploads.submit import SubmitOutcome, check_request, submit_request

router = APIRouter(tags=["submissions"])

RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"model": SubmissionCreatedResponse, "description": "The same submission existed already."}
}
_FILE = {"type": "string", "format": "binary"}
_FIELDS = SubmissionFields.model_json_schema(ref_template="#/components/schemas/{model}")["properties"]
BODY: dict[str, Any] = {
    "parameters": [
        {
            "name": name,
            "in": "query",
            "required": False,
            "schema": schema,
            "description": f"{schema['description']} Only with the file as the body.",
        }
        for name, schema in _FIELDS.items()
    ],
    "requestBody": {
        "required": True,
        "description": "A file in a multipart form, or the file as the body with the fields as query parameters.",
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"file": _FILE, **_FIELDS},
                    "required": ["system", "file"],
                }
            },
            "text/plain": {"schema": {"type": "string"}},
            "application/octet-stream": {"schema": _FILE},
        },
    },
}
"""Described here because the routes stream their bodies themselves."""


SubmissionId = Annotated[int, Path(ge=1, lt=2**63)]
Level = Annotated[
    float, Query(ge=0.5, le=0.9999, description="Confidence level of the intervals of scores that are shown in full.")
]


@router.post("/campaigns/{name}/submissions", status_code=201, openapi_extra=BODY, responses=RESPONSES)
@accepts_upload
async def submit_output(
    request: Request,
    response: Response,
    name: str,
    principal: CurrentPrincipal,
    incoming: ReceivedSubmission,
    idempotency_key: Annotated[str | None, Header(max_length=MAX_KEY_LENGTH)] = None,
) -> SubmissionCreatedResponse:
    """Submit the output of a system.

    Send it as a file in a multipart form, or as the request body with the fields as query parameters. Any supported
    format is accepted, plain, packed with gzip, or as the only file of a zip archive. The output is checked
    immediately, then stored and queued in one transaction that enforces the rules of the phase and the quotas. A
    repeated request with the same `Idempotency-Key` has no further effect. Submitting an identical output again does
    not count against quotas.
    """
    state = app_state(request)
    done = await submit_request(state, principal, name, incoming, key=idempotency_key)
    stored = await run_in_threadpool(created_response, state, principal, done)
    if not done.submitted.stored:
        response.status_code = 200
    response.headers["Location"] = f"/api/v1/submissions/{stored.id}"
    return stored


def created_response(state: State, principal: CurrentPrincipal, done: SubmitOutcome) -> SubmissionCreatedResponse:
    """A submission that was just stored, with what is left of the quotas."""
    return SubmissionCreatedResponse(
        **_read(state, principal, done.submitted.submission).model_dump(),
        stored=done.submitted.stored,
        queued=done.submitted.queued,
        quotas=[quota_usage_response(each) for each in done.submitted.usage],
    )


@router.post("/campaigns/{name}/checks", openapi_extra=BODY)
@accepts_upload
async def check_output(
    request: Request, name: str, principal: CurrentPrincipal, incoming: ReceivedSubmission
) -> OutputCheckResponse:
    """Check an output without submitting it. Nothing is stored, and no submission quota is used."""
    found = await check_request(app_state(request), principal, name, incoming)
    return OutputCheckResponse(
        findings=[finding_response(each) for each in found], fatal=any(each.severity == "fatal" for each in found)
    )


@router.get("/campaigns/{name}/submissions")
def list_campaign_submissions(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    team: str = "",
    test_set: str = "",
    kind: Literal["", "primary", "contrastive", "late", "withdrawn"] = "",
    limit: Limit = 50,
    after: After = "",
) -> Page[SubmissionResponse]:
    """List the submissions of your teams in a campaign, newest first; organisers see all."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        listed = list_submissions(
            connection,
            access,
            SubmissionQuery(team=team, test_set=test_set, kind=kind, limit=limit, after=parse_cursor(after)),
            state.settings.silent_seconds,
        )
    following = None if listed.next is None else str(listed.next)
    return Page(items=[submission_response(access, each) for each in listed.items], next=following)


@router.get("/submissions/{submission}", response_model=SubmissionWithScoresResponse, responses=NOT_MODIFIED)
def read_submission(
    request: Request, principal: CurrentPrincipal, submission: SubmissionId, level: Level = LEVEL
) -> Response:
    """Read a submission of one of your teams: progress, findings, and the scores that the phase discloses.

    With them are the ranks of its system, where the leaderboard is shown.

    The response has an ETag; a request with it in If-None-Match is answered with 304 until something changes.
    """
    state = app_state(request)
    with reading(state.engine) as connection:
        access, seen = find_submission(connection, principal, submission, state.settings.silent_seconds)
    feedback = read_feedback(state.engine, access, [seen.id], round(level, 4))[seen.id]
    # Where scores are shown in full, so is the leaderboard.
    shown = [each.protocol_id for each in feedback if each.feedback is Feedback.FULL]
    with reading(state.engine) as connection:
        withdrawn = seen.withdrawn_at is not None
        places = read_places(connection, state.boards, access.campaign_id, seen.id, shown, withdrawn=withdrawn)
    response = SubmissionWithScoresResponse(
        **submission_response(access, seen).model_dump(),
        feedback=[feedback_response(each, places.get(each.protocol_id)) for each in feedback],
    )
    content = response.model_dump_json().encode()
    tag = etag_of(content)
    return not_modified(request, tag) or Response(content, headers={"ETag": tag}, media_type="application/json")


@router.patch("/submissions/{submission}")
def update_submission(
    request: Request, principal: CurrentPrincipal, submission: SubmissionId, new: SubmissionUpdate
) -> SubmissionResponse:
    """Change the declaration: kind, training data, description. Until the deadline; organisers always."""
    given = new.model_fields_set
    update = DeclarationUpdate(
        kind=new.kind,
        constrained=new.constrained,
        unsaid="constrained" in given and new.constrained is None,
        description=new.description,
    )
    state = app_state(request)
    with writing(state.engine) as connection:
        declare_submission(connection, principal, submission, update)
    return _read(state, principal, submission)


@router.post("/submissions/{submission}/withdraw")
def withdraw_submission(request: Request, principal: CurrentPrincipal, submission: SubmissionId) -> SubmissionResponse:
    """Withdraw a submission from all leaderboards; it still counts against quotas. Reversible until the deadline."""
    state = app_state(request)
    with writing(state.engine) as connection:
        withdraw(connection, principal, submission)
    return _read(state, principal, submission)


@router.delete("/submissions/{submission}", name="delete_submission")
def delete_stored_submission(
    request: Request, principal: CurrentPrincipal, submission: SubmissionId, dry_run: DryRun = False
) -> DeletionResponse:
    """Delete a submission with its scores; with `dry_run`, say what would be deleted. For organisers.

    Teams withdraw their submissions.
    """
    with writing(app_state(request).engine, durable=True) as connection:
        found = delete_submission(connection, principal, submission, dry_run=dry_run)
    return deletion_response(found, dry_run=dry_run)


@router.post("/submissions/{submission}/reinstate")
def reinstate_submission(request: Request, principal: CurrentPrincipal, submission: SubmissionId) -> SubmissionResponse:
    """Undo the withdrawal of a submission."""
    state = app_state(request)
    with writing(state.engine) as connection:
        reinstate(connection, state.settings, principal, submission)
    return _read(state, principal, submission)


@router.get(
    "/submissions/{submission}/output",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def download_output(request: Request, principal: CurrentPrincipal, submission: SubmissionId) -> Response:
    """Download the submitted text, one segment per line: that of your team, or any once outputs are published."""
    return output_response(app_state(request), principal, submission)


def _read(state: State, principal: CurrentPrincipal, submission: int) -> SubmissionResponse:
    with reading(state.engine) as connection:
        return submission_response(*find_submission(connection, principal, submission, state.settings.silent_seconds))
