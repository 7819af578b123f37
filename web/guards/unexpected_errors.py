"""Faults of our own: answered and logged here, so that these answers have the headers of all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request
from starlette.requests import ClientDisconnect

from web.exception_handlers import answer_failure

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Failures:
    """Turns what nobody has caught into an answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. Raises what came when the answer had begun: the connection breaks off then, as it should."""
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except ClientDisconnect:
            # Whoever went away hears no answer, and it is no fault of ours.
            return
        except Exception as error:
            if scope["type"] != "http" or begun:
                raise
            await answer_failure(Request(scope), error)(scope, receive, send)
