"""Progress of a submission as server-sent events."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.sse import EventSourceResponse, ServerSentEvent

from campaigns.accounts.throttle import network_of
from campaigns.submissions.documents import progress_response
from campaigns.submissions.views import find_submission
from models.database.session import reading
from steelyard_client.documents.submissions.submissions import ProgressResponse
from web.api.submissions.submissions import SubmissionId
from web.dependencies import CurrentPrincipal, address_of, app_state
from web.state import State
from web.streams import LONGEST_STREAM_SECONDS, TICK_SECONDS

router = APIRouter(tags=["submissions"])


@dataclass(frozen=True, slots=True)
class WatchedSubmission:
    """A submission whose progress a client watches."""

    state: State
    submission: int
    last: str
    """Id of the last event that the client received; "" for none."""


async def find_watched_submission(
    request: Request,
    principal: CurrentPrincipal,
    submission: SubmissionId,
    last_event_id: Annotated[str | None, Header(max_length=100)] = None,
) -> AsyncIterator[WatchedSubmission]:
    """Check that the principal may watch, and count the watcher meanwhile. Raises NotFound and TooMany."""
    state = app_state(request)

    def find() -> None:
        with reading(state.engine) as connection:
            find_submission(connection, principal, submission, state.settings.silent_seconds)

    await run_in_threadpool(find)
    with ExitStack() as stack:
        owner = str(principal.account_id) if principal.signed_in else network_of(address_of(request))
        stack.enter_context(state.streams.counted(owner))
        stack.enter_context(state.watching.watched(submission))
        yield WatchedSubmission(state, submission, last_event_id or "")


@router.get("/submissions/{submission}/events", response_class=EventSourceResponse)
async def watch_submission(
    followed: Annotated[WatchedSubmission, Depends(find_watched_submission)],
) -> AsyncIterable[ServerSentEvent]:
    """Server-sent events: `progress` at each change, then `end` with the final state.

    A client that reconnects with `Last-Event-ID` does not receive the same state again.
    """
    state, last = followed.state, followed.last
    until = time.monotonic() + LONGEST_STREAM_SECONDS
    while time.monotonic() < until and not state.stopping.is_set():
        if state.watching.is_stale(followed.submission):
            seen = await run_in_threadpool(state.watching.look, followed.submission)
        else:
            seen = state.watching.look(followed.submission)
        if seen is not None:
            shown = progress_response(seen)
            number = _digest(shown)
            if seen.ended:
                yield ServerSentEvent(data=shown, event="end", id=number)
                return
            if number != last:
                last = number
                yield ServerSentEvent(data=shown, event="progress", id=number)
        await asyncio.sleep(TICK_SECONDS)


def _digest(shown: ProgressResponse) -> str:
    return hashlib.sha256(json.dumps(shown.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()[:16]
