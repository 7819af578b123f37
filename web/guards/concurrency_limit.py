"""Limit on concurrent requests: more would only slow each other down, or hold memory."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from campaigns.accounts.throttle import network_of
from campaigns.errors import TooMany, Unavailable
from web.guards.refusing import refuse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

RETRY_SECONDS = 1.0
SHARE = 2
"""One address may have 1 / SHARE of the places, so that none can take all."""


class ConcurrencyLimit:
    """Middleware that refuses requests beyond the limit: 503 for all, 429 for a single address."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app = app
        self.most = most
        # Only used in the thread of the event loop.
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        whose = network_of((scope.get("client") or ("",))[0])
        if self._under_way.total() >= self.most:
            busy = Unavailable("The server is busy. Try again in a moment.", retry_seconds=RETRY_SECONDS)
            await refuse(scope, receive, send, busy, close=True)
            return
        if self._under_way[whose] >= max(1, self.most // SHARE):
            crowd = TooMany(
                "Too many concurrent requests from your address. Wait for some to finish.",
                retry_seconds=RETRY_SECONDS,
            )
            await refuse(scope, receive, send, crowd, close=True)
            return
        self._under_way[whose] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._under_way[whose] -= 1
            if not self._under_way[whose]:
                del self._under_way[whose]
