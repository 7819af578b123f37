"""Submissions: handed in, looked at, declared, withdrawn."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from campaigns.declarations import Saying, declare, reinstate, withdraw
from campaigns.leaderboards.feedback import read_told
from campaigns.permissions import read_sight
from campaigns.submissions.form import SubmissionFields
from campaigns.submissions.submit import LONGEST_KEY
from campaigns.submissions.views import Wanted, find_submission, list_submissions
from models.database.session import reading, writing
from models.schema.roles import DeclaredKind
from web.api.paging import After, Limit, Paged, id_after
from web.api.submission_shapes import (
    Examined,
    HandedIn,
    Submission,
    SubmissionWithScores,
    shown_finding,
    shown_quota,
    shown_submission,
    shown_told,
)
from web.dependencies import Asking, state_of
from web.etags import tag_of, unchanged
from web.state import State
from web.stored_output import output_of
from web.uploads.large_bodies import takes_upload
from web.uploads.request import Receiving
from web.uploads.submit import examine, hand_in

router = APIRouter(tags=["submissions"])

ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "It was handed in before."},
    422: {"description": "It cannot be scored, or something is missing; nothing was stored."},
    429: {"description": "A quota leaves no room."},
}
_FILE = {"type": "string", "format": "binary"}
_FIELDS = SubmissionFields.model_json_schema()["properties"]
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A file in a form, or alone with the fields in the address.",
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
    }
}
"""How an output comes: the routes read their bodies themselves, as they come."""


class NewDeclaration(BaseModel):
    """What a team says about a submission; what is left out stays as it is."""

    kind: DeclaredKind | None = None
    constrained: bool | None = None
    """null, when given: nothing is said."""
    description: str | None = Field(default=None, max_length=5000)


Number = Annotated[int, Path(ge=1, lt=2**63)]


@router.post("/campaigns/{name}/submissions", status_code=201, openapi_extra=BODY, responses=ANSWERS)
@takes_upload
async def submit_output(
    request: Request,
    response: Response,
    name: str,
    principal: Asking,
    incoming: Receiving,
    idempotency_key: Annotated[str | None, Header(max_length=LONGEST_KEY)] = None,
) -> HandedIn:
    """Hand in the output of a system.

    It comes as a file in a form, or as the body alone (then the fields stand in the address).
    It is read and looked at at once, in any format that is read here, packed with gzip or as the only file of a zip
    archive or not at all; then stored and queued in one transaction with the rules of the phase and the quotas. Sent
    again with the same `Idempotency-Key` nothing is done again. The very same output again costs nothing.
    """
    state = state_of(request)
    done = await hand_in(state, principal, name, incoming, key=idempotency_key)
    shown = await run_in_threadpool(_read, state, principal, done.submitted.submission)
    if not done.submitted.stored:
        response.status_code = 200
    response.headers["Location"] = f"/api/v1/submissions/{shown.id}"
    return HandedIn(
        **shown.model_dump(),
        stored=done.submitted.stored,
        queued=done.submitted.queued,
        quotas=[shown_quota(each) for each in done.submitted.standings],
    )


@router.post("/campaigns/{name}/diagnosis", openapi_extra=BODY)
@takes_upload
async def look_at_output(request: Request, name: str, principal: Asking, incoming: Receiving) -> Examined:
    """What would be noticed about an output. Nothing is stored, and no quota is used."""
    found = await examine(state_of(request), principal, name, incoming)
    return Examined(
        findings=[shown_finding(each) for each in found], fatal=any(each.severity == "fatal" for each in found)
    )


@router.get("/campaigns/{name}/submissions")
def list_of_campaign(
    request: Request,
    name: str,
    principal: Asking,
    team: str = "",
    test_set: str = "",
    kind: Literal["", "primary", "contrastive", "late", "withdrawn"] = "",
    limit: Limit = 50,
    after: After = "",
) -> Paged[Submission]:
    """Submissions of one's own teams in a campaign, the newest first; organisers see all."""
    state = state_of(request)
    with reading(state.engine) as connection:
        sight = read_sight(connection, principal, name)
        listed = list_submissions(
            connection,
            sight,
            Wanted(team=team, test_set=test_set, kind=kind, limit=limit, after=id_after(after)),
            state.settings.silent_seconds,
        )
    following = None if listed.next is None else str(listed.next)
    return Paged(items=[shown_submission(sight, each) for each in listed.items], next=following)


@router.get("/submissions/{submission}", response_model=SubmissionWithScores)
def read_submission(request: Request, principal: Asking, submission: Number) -> Response:
    """A submission of one's team: how far it is, what was noticed, and of its scores what the phase lets be told.

    The answer has an ETag: sent back as If-None-Match, it is 304 until something changes.
    """
    state = state_of(request)
    with reading(state.engine) as connection:
        sight, seen = find_submission(connection, principal, submission, state.settings.silent_seconds)
    told = read_told(state.engine, sight, [seen.id])[seen.id]
    shown = SubmissionWithScores(**shown_submission(sight, seen).model_dump(), told=[shown_told(each) for each in told])
    content = shown.model_dump_json().encode()
    tag = tag_of(content)
    return unchanged(request, tag) or Response(content, headers={"ETag": tag}, media_type="application/json")


@router.patch("/submissions/{submission}")
def change_declaration(request: Request, principal: Asking, submission: Number, new: NewDeclaration) -> Submission:
    """Say whether it is primary, contrastive, constrained, and what it is. Until the deadline; organisers always."""
    said = new.model_fields_set
    saying = Saying(
        kind=new.kind,
        constrained=new.constrained,
        unsaid="constrained" in said and new.constrained is None,
        description=new.description,
    )
    state = state_of(request)
    with writing(state.engine) as connection:
        declare(connection, principal, submission, saying)
    return _read(state, principal, submission)


@router.post("/submissions/{submission}/withdraw")
def withdraw_submission(request: Request, principal: Asking, submission: Number) -> Submission:
    """Take it off all boards; it counts against quotas all the same. Until the deadline it can be taken back."""
    state = state_of(request)
    with writing(state.engine) as connection:
        withdraw(connection, principal, submission)
    return _read(state, principal, submission)


@router.delete("/submissions/{submission}")
def delete_submission(request: Request, principal: Asking, submission: Number) -> Submission:
    """The same as `withdraw`: nothing that was handed in is ever lost."""
    return withdraw_submission(request, principal, submission)


@router.post("/submissions/{submission}/reinstate")
def reinstate_submission(request: Request, principal: Asking, submission: Number) -> Submission:
    """Let a submission stand again that was withdrawn."""
    state = state_of(request)
    with writing(state.engine) as connection:
        reinstate(connection, state.settings, principal, submission)
    return _read(state, principal, submission)


@router.get(
    "/submissions/{submission}/output",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def download_output(request: Request, principal: Asking, submission: Number) -> Response:
    """The text as it was handed in, one segment per line: that of one's team, or any once they are published."""
    return output_of(state_of(request), principal, submission)


def _read(state: State, principal: Asking, submission: int) -> Submission:
    with reading(state.engine) as connection:
        return shown_submission(*find_submission(connection, principal, submission, state.settings.silent_seconds))
