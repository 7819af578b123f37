"""Live parts of pages: what a browser shows of one, and whether the page would look otherwise by now.

A look asks the app for the page with the session of its reader, as the browser would, and keeps no more than a digest
of the live part. So a stream knows nothing that its reader may not see, and every look checks the permissions again.
Readers without an account who watch the same page share the looks, and few looks run at once.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.types import ASGIApp

LIVE = re.compile(r"<!--live-->(.*?)<!--/live-->", re.DOTALL)
"""What the macro `live` of the components encloses."""
VOLATILE = re.compile(r' data-now="[^"]*">[^<]*<|name="csrf_token" value="[^"]*"')
"""What differs each time: countdowns, which scripts and readers continue by themselves, and tokens of forms."""
SINCE = 'data-since=""'
LOOK_SECONDS = 3.0
"""Between two looks at a page."""
SHARE = 4
"""A page that takes long is looked at less often: the looks at it take at most a part of the time."""
LOOKS_AT_ONCE = 2
GONE = frozenset({302, 303, 307, 401, 403, 404})
"""Statuses of a page that its reader may not see any more, or not before they sign in again."""


def live_version(html: str) -> str:
    """Return a digest of the live part of a page; "" where it has none."""
    parts = LIVE.findall(html)
    if not parts:
        return ""
    return hashlib.sha256(VOLATILE.sub("", "".join(parts)).encode()).hexdigest()[:16]


def with_version(html: str) -> str:
    """Write the version into a page, from which its script begins to watch."""
    return html.replace(SINCE, f'data-since="{live_version(html)}"', 1) if SINCE in html else html


@dataclass(frozen=True, slots=True)
class PageOf:
    """A page as one reader sees it."""

    reader: str
    """The secret of the session or token; "" without one."""
    url: str


@dataclass
class _Seen:
    """What was seen at the last look."""

    watchers: int = 0
    version: str | None = None
    due: float = float("-inf")
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class LivePages:
    """The watched pages. One for each app, used in the thread of the event loop alone."""

    def __init__(self) -> None:
        self._pages: dict[PageOf, _Seen] = {}
        self._at_once = asyncio.Semaphore(LOOKS_AT_ONCE)

    @contextmanager
    def watched(self, page: PageOf) -> Iterator[None]:
        """Remember what was seen of a page while somebody watches it."""
        seen = self._pages.setdefault(page, _Seen())
        seen.watchers += 1
        try:
            yield
        finally:
            seen.watchers -= 1
            if not seen.watchers:
                del self._pages[page]

    def due_in(self, page: PageOf) -> float:
        """In how many seconds the next look at a watched page is due."""
        return self._pages[page].due - time.monotonic()

    async def version(
        self, page: PageOf, app: ASGIApp, headers: Mapping[str, str], client: tuple[str, int]
    ) -> str | None:
        """Return the version of a watched page, at most a few seconds old.

        It is "" where nothing is live any more, and None where the page cannot be seen.
        """
        seen = self._pages[page]
        async with seen.lock:
            if time.monotonic() >= seen.due:
                async with self._at_once:
                    began = time.monotonic()
                    status, html = await _load(page.url, app, headers, client)
                seen.due = began + max(LOOK_SECONDS, SHARE * (time.monotonic() - began))
                # What else there is, such as too many requests, passes.
                if status == 200:
                    seen.version = live_version(html)
                elif status in GONE:
                    seen.version = None
            return seen.version


async def _load(url: str, app: ASGIApp, headers: Mapping[str, str], client: tuple[str, int]) -> tuple[int, str]:
    """Ask the app for a page, as the browser would: its status and HTML."""
    import httpx

    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=client)
    answer = await transport.handle_async_request(httpx.Request("GET", url, headers={**headers, "Accept": "text/html"}))
    return answer.status_code, (await answer.aread()).decode()
