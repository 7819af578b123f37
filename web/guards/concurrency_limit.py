"""How many requests are under way at once: more would only slow down each other, or hold memory for nothing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from campaigns.accounts.throttle import network_of
from campaigns.errors import TooMany, Unavailable
from web.guards.refusing import refuse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

AGAIN_SECONDS = 1.0
SHARE = 2
"""One address has at most one of so many places, so that none can take all."""


class BoundedCrowds:
    """Refuses what comes while there are enough: 503 for all, 429 for a single address."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app = app
        self.most = most
        # All in the thread of the event loop.
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        whose = network_of((scope.get("client") or ("",))[0])
        if self._under_way.total() >= self.most:
            busy = Unavailable("The server has all hands full. Try again in a moment.", retry_seconds=AGAIN_SECONDS)
            await refuse(scope, receive, send, busy, close=True)
            return
        if self._under_way[whose] >= max(1, self.most // SHARE):
            crowd = TooMany(
                "Too many requests from your address are under way at once. Let some end first.",
                retry_seconds=AGAIN_SECONDS,
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
