"""Submissions: handed in, looked at, declared, withdrawn, watched while they are measured."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, Field

from models.awaited import Awaited
from models.roles import DeclaredKind
from models.session import reading, writing
from models.states import EvaluationState
from scheduler.quotas import Standing
from scheduler.submitting import LONGEST_KEY
from web.api.paging import After, Limit, Paged, id_after
from web.asking import Asking, state_of
from web.boards.feedback import Told, ToldScore, read_told
from web.boards.versions import tag_of, unchanged
from web.large_bodies import takes_upload
from web.life.declaring import Saying, declare, reinstate, withdraw
from web.life.sight import Sight, read_sight
from web.state import State
from web.submissions.fields import SubmissionFields
from web.submissions.handing_in import examine, hand_in
from web.submissions.output import output_of
from web.submissions.receiving import Receiving
from web.submissions.seen import SeenSubmission, Wanted, find_submission, list_submissions

if TYPE_CHECKING:
    from web.diagnosis.finding import Finding as FoundFinding

router = APIRouter(tags=["submissions"])

LONGEST_STREAM_SECONDS = 600.0
"""Then a client asks anew, and it is looked again whether it may."""
TICK_SECONDS = 0.25
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
        "description": "A file in a form, or alone with the fields in the address; or the id of a finished upload.",
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"file": _FILE, **_FIELDS},
                    "required": ["system", "file"],
                }
            },
            "application/json": {"schema": {"type": "object", "properties": _FIELDS, "required": ["system", "upload"]}},
            "text/plain": {"schema": {"type": "string"}},
            "application/octet-stream": {"schema": _FILE},
        },
    }
}
"""How an output comes: the routes read their bodies themselves, as they come."""


class Finding(BaseModel):
    """Something that was noticed about an output."""

    code: str
    severity: str
    message: str
    segments: list[int]
    """The first segments that it is about, from 1."""
    count: int
    """How many it is about; 0 for the whole."""


class Evaluation(BaseModel):
    """One way in which a submission is measured."""

    id: int
    references: list[str]
    metrics: list[str]
    state: EvaluationState
    reason: str | None


class Score(BaseModel):
    """What the team is told of a score."""

    metric: str
    title: str
    signature: str
    higher_is_better: bool
    told: bool
    """Whether anything is told; then null is undefined."""
    score: float | None
    low: float | None
    """Lower end of the interval at 95 %."""
    high: float | None
    improved: bool | None
    """By the Ladder rule: whether it beat the team's best."""


class ToldEvaluation(BaseModel):
    """The scores by one protocol, as the phase lets them be told."""

    evaluation: int
    references: list[str]
    feedback: str
    words: str
    """How the numbers were made coarse; "" where they were not."""
    scores: list[Score]


class Progress(BaseModel):
    """How far a submission is."""

    state: EvaluationState
    shards: int
    shards_done: int
    ahead: int | None
    """Other submissions that were queued before; teams take turns, so it is not strictly waited for them."""
    seconds_left: float | None
    """Roughly; null where it is not known."""
    ended: bool


class Quota(BaseModel):
    """How the team stands against a limit."""

    kind: str
    amount: int | None
    """The limit; null for none."""
    used: int
    of_what: str
    free_at: float | None
    """When there is room again, where the calendar says it; seconds since 1970."""


class Submission(BaseModel):
    """An output of a system for a test set."""

    id: int
    campaign: str
    team: str
    system: str
    run: str
    test_set: str
    """NAME@VERSION."""
    segments: int
    created_at: float
    kind: DeclaredKind
    constrained: bool | None
    description: str
    phase: str
    late_seconds: float
    withdrawn_at: float | None
    progress: Progress
    evaluations: list[Evaluation]
    findings: list[Finding]


class SubmissionWithScores(Submission):
    """A submission and what is told of its scores."""

    told: list[ToldEvaluation]


class HandedIn(Submission):
    """A submission that has just been handed in."""

    stored: bool
    """False where the very same one was there already."""
    queued: bool
    quotas: list[Quota]


class Examined(BaseModel):
    """What was noticed about an output that was not handed in."""

    findings: list[Finding]
    fatal: bool


class NewDeclaration(BaseModel):
    """What a team says about a submission; what is left out stays as it is."""

    kind: DeclaredKind | None = None
    constrained: bool | None = None
    """null, when given: nothing is said."""
    description: str | None = Field(default=None, max_length=5000)


Number = Annotated[int, Path(ge=1, lt=2**63)]


@router.post("/campaigns/{name}/submissions", status_code=201, openapi_extra=BODY, responses=ANSWERS)
@takes_upload
def submit_output(
    request: Request,
    response: Response,
    name: str,
    principal: Asking,
    incoming: Receiving,
    idempotency_key: Annotated[str | None, Header(max_length=LONGEST_KEY)] = None,
) -> HandedIn:
    """Hand in the output of a system.

    It comes as a file in a form, as the body alone (then the fields stand in the address), or by the id of an upload.
    It is read and looked at at once, in any format that is read here, packed with gzip or as the only file of a zip
    archive or not at all; then stored and queued in one transaction with the rules of the phase and the quotas. Sent
    again with the same `Idempotency-Key` nothing is done again. The very same output again costs nothing.
    """
    state = state_of(request)
    done = hand_in(state, principal, name, incoming, key=idempotency_key)
    with reading(state.engine) as connection:
        sight, seen = find_submission(connection, principal, done.submitted.submission, state.settings.silent_seconds)
    if not done.submitted.stored:
        response.status_code = 200
    response.headers["Location"] = f"/api/v1/submissions/{seen.id}"
    return HandedIn(
        **_shown(sight, seen).model_dump(),
        stored=done.submitted.stored,
        queued=done.submitted.queued,
        quotas=[quota(each) for each in done.submitted.standings],
    )


@router.post("/campaigns/{name}/diagnosis", openapi_extra=BODY)
@takes_upload
def look_at_output(request: Request, name: str, principal: Asking, incoming: Receiving) -> Examined:
    """What would be noticed about an output. Nothing is stored, and no quota is used."""
    found = examine(state_of(request), principal, name, incoming)
    return Examined(findings=[_finding(each) for each in found], fatal=any(each.severity == "fatal" for each in found))


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
    return Paged(items=[_shown(sight, each) for each in listed.items], next=following)


@router.get("/submissions/{submission}", response_model=SubmissionWithScores)
def read_submission(request: Request, principal: Asking, submission: Number) -> Response:
    """A submission of one's team: how far it is, what was noticed, and of its scores what the phase lets be told.

    The answer has an ETag: sent back as If-None-Match, it is 304 until something changes.
    """
    state = state_of(request)
    with reading(state.engine) as connection:
        sight, seen = find_submission(connection, principal, submission, state.settings.silent_seconds)
    told = read_told(state.engine, sight, [seen.id])[seen.id]
    shown = SubmissionWithScores(**_shown(sight, seen).model_dump(), told=[_told(each) for each in told])
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


@dataclass(frozen=True, slots=True)
class Followed:
    """A submission that a client watches."""

    state: State
    submission: int
    last: str
    """The event that the client has seen already."""


async def follow(
    request: Request,
    principal: Asking,
    submission: Number,
    last_event_id: Annotated[str | None, Header(max_length=100)] = None,
) -> AsyncIterator[Followed]:
    """A submission that may be watched, as long as the client does. Raises NotThere and TooMany."""
    state = state_of(request)

    def find() -> None:
        with reading(state.engine) as connection:
            find_submission(connection, principal, submission, state.settings.silent_seconds)

    await run_in_threadpool(find)
    with ExitStack() as stack:
        stack.enter_context(state.watching.watched(submission, principal.account_id or 0))
        yield Followed(state, submission, last_event_id or "")


@router.get("/submissions/{submission}/events", response_class=EventSourceResponse)
async def watch_submission(followed: Annotated[Followed, Depends(follow)]) -> AsyncIterable[ServerSentEvent]:
    """Server-sent events `progress` each time something changes, and `end` with the last one.

    A client that comes again with `Last-Event-ID` is not told what it knows.
    """
    state, last = followed.state, followed.last
    until = time.monotonic() + LONGEST_STREAM_SECONDS
    while time.monotonic() < until and not state.stopping.is_set():
        if state.watching.is_stale(followed.submission):
            seen = await run_in_threadpool(state.watching.look, followed.submission)
        else:
            seen = state.watching.look(followed.submission)
        if seen is not None:
            shown = progress(seen)
            number = _digest(shown)
            if seen.ended:
                yield ServerSentEvent(data=shown, event="end", id=number)
                return
            if number != last:
                last = number
                yield ServerSentEvent(data=shown, event="progress", id=number)
        await asyncio.sleep(TICK_SECONDS)


def progress(seen: Awaited) -> Progress:
    """As programs read it."""
    left = None if seen.seconds_left is None else round(seen.seconds_left, 1)
    return Progress(
        state=seen.state,
        shards=seen.shards,
        shards_done=seen.shards_done,
        ahead=seen.ahead,
        seconds_left=left,
        ended=seen.ended,
    )


def quota(standing: Standing) -> Quota:
    """As programs read it."""
    return Quota(
        kind=standing.kind,
        amount=standing.amount,
        used=standing.used,
        of_what=standing.of_what,
        free_at=standing.free_at,
    )


def _digest(shown: Progress) -> str:
    return hashlib.sha256(json.dumps(shown.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()[:16]


def _read(state: State, principal: Asking, submission: int) -> Submission:
    with reading(state.engine) as connection:
        return _shown(*find_submission(connection, principal, submission, state.settings.silent_seconds))


def _shown(sight: Sight, seen: SeenSubmission) -> Submission:
    assert seen.awaited is not None
    return Submission(
        id=seen.id,
        campaign=sight.name,
        team=seen.team,
        system=seen.system,
        run=seen.run,
        test_set=f"{seen.test_set.name}@{seen.test_set.version}",
        segments=seen.test_set.segments,
        created_at=seen.created_at,
        kind=seen.kind,
        constrained=seen.constrained,
        description=seen.description,
        phase=seen.phase,
        late_seconds=seen.late_seconds,
        withdrawn_at=seen.withdrawn_at,
        progress=progress(seen.awaited),
        evaluations=[
            Evaluation(
                id=each.id,
                references=list(each.references),
                metrics=list(each.metrics),
                state=each.state,
                reason=each.reason,
            )
            for each in seen.evaluations
        ],
        findings=[_finding(each) for each in seen.findings],
    )


def _finding(finding: FoundFinding) -> Finding:
    return Finding(**finding.as_row())


def _told(told: Told) -> ToldEvaluation:
    return ToldEvaluation(
        evaluation=told.evaluation_id,
        references=list(told.references),
        feedback=told.feedback,
        words=told.words,
        scores=[_score(each) for each in told.scores],
    )


def _score(score: ToldScore) -> Score:
    return Score(
        metric=score.metric,
        title=score.title,
        signature=score.signature,
        higher_is_better=score.higher_is_better,
        told=score.told,
        score=score.score,
        low=score.low,
        high=score.high,
        improved=score.improved,
    )
