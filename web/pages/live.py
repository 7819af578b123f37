"""Streams that tell a browser when the live part of its page has changed; its script then loads the page again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from campaigns.accounts.throttle import network_of
from campaigns.errors import NotFound
from web.dependencies import CurrentPrincipal, address_of, app_state, credential_of
from web.live import PageOf
from web.streams import LONGEST_STREAM_SECONDS, TICK_SECONDS

router = APIRouter()

PAGES = frozenset(
    {
        *("queue", "campaigns/*", "campaigns/*/leaderboard", "campaigns/*/submissions", "campaigns/*/manage/live"),
        *("campaigns/*/compare", "campaigns/*/metrics", "campaigns/*/metrics-task"),
    }
)
"""The addresses of pages that have live parts."""
NOTHING = "Nothing on this page is live."


@dataclass(frozen=True, slots=True)
class WatchedPage:
    """A page that a browser watches."""

    request: Request
    page: PageOf
    last: str
    """The version that the browser shows."""

    async def look(self) -> str | None:
        """Return the version of the page now; see `LivePages.version`."""
        names = {"session": "Cookie", "token": "Authorization", "none": ""}
        kept = "Host", names[credential_of(self.request).kind]
        headers = {name: self.request.headers[name] for name in kept if name in self.request.headers}
        live = app_state(self.request).live
        return await live.version(self.page, self.request.app, headers, (address_of(self.request), 0))


async def find_watched_page(
    request: Request,
    principal: CurrentPrincipal,
    page: Annotated[str, Query(max_length=2000)],
    since: Annotated[str, Query(max_length=100)] = "",
    last_event_id: Annotated[str | None, Header(max_length=100)] = None,
) -> AsyncIterator[WatchedPage]:
    """Check that the reader sees a live part there, and count the stream meanwhile. Raises NotFound and TooMany."""
    parts = page.partition("?")[0].split("/")
    if parts[0] or "/".join("*" if place == 1 else part for place, part in enumerate(parts[1:])) not in PAGES:
        raise NotFound(NOTHING)
    state = app_state(request)
    of_reader = PageOf(credential_of(request).secret, f"{request.url.scheme}://{request.url.netloc}{page}")
    owner = str(principal.account_id) if principal.signed_in else network_of(address_of(request))
    with state.streams.counted(owner), state.live.watched(of_reader):
        watched = WatchedPage(request, of_reader, last_event_id or since)
        if not await watched.look():
            raise NotFound(NOTHING)
        yield watched


@router.get("/live", response_class=EventSourceResponse)
async def watch_page(watched: Annotated[WatchedPage, Depends(find_watched_page)]) -> AsyncIterable[ServerSentEvent]:
    """Send `changed` whenever the live part of a page looks different, and `gone` when it cannot be seen any more."""
    state, last = app_state(watched.request), watched.last
    until = time.monotonic() + LONGEST_STREAM_SECONDS
    while not state.stopping.is_set():
        version = await watched.look()
        if version is None:
            yield ServerSentEvent(data={}, event="gone")
            return
        if version != last:
            last = version
            yield ServerSentEvent(data={}, event="changed", id=version or "none")
        if not version or time.monotonic() >= until:
            return
        while time.monotonic() < until and state.live.due_in(watched.page) > 0 and not state.stopping.is_set():
            await asyncio.sleep(TICK_SECONDS)
