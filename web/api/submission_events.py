"""A submission watched while it is measured: server-sent events."""

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

from campaigns.submissions.views import find_submission
from models.database.session import reading
from web.api.submission_shapes import Progress, shown_progress
from web.api.submissions import Number
from web.dependencies import Asking, state_of
from web.state import State

router = APIRouter(tags=["submissions"])

LONGEST_STREAM_SECONDS = 600.0
"""Then a client asks anew, and it is looked again whether it may."""
TICK_SECONDS = 0.25


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
            shown = shown_progress(seen)
            number = _digest(shown)
            if seen.ended:
                yield ServerSentEvent(data=shown, event="end", id=number)
                return
            if number != last:
                last = number
                yield ServerSentEvent(data=shown, event="progress", id=number)
        await asyncio.sleep(TICK_SECONDS)


def _digest(shown: Progress) -> str:
    return hashlib.sha256(json.dumps(shown.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()[:16]
