"""Unexpected errors: handled inside the other middleware, so that their responses have all headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request
from starlette.requests import ClientDisconnect

from web.exception_handlers import failure_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class UnexpectedErrors:
    """Middleware that turns uncaught exceptions into an error response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request. Re-raises once the response has begun: the server then aborts the connection."""
        begun = False

        async def watched_send(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, watched_send)
        except ClientDisconnect:
            # The client is gone: no response, and no error of the server.
            return
        except Exception as error:
            if scope["type"] != "http" or begun:
                raise
            await failure_response(Request(scope), error)(scope, receive, send)
