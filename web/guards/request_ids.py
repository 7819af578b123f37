"""A number for each request: it stands in the answer, and with every line that is logged meanwhile."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

from runtime.logs import about

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "X-Request-ID"


class NumberedRequests:
    """Gives the numbers. One that a client brings is not taken: it could pretend to be another."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number = secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = number

        async def with_number(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = number
            await send(message)

        with about(request=number):
            await self.app(scope, receive, with_number)
