"""HEAD requests: the response of GET without its content, for link checkers, uptime monitors and link previews."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHOD_NOT_ALLOWED = 405


class HeadRequests:
    """Middleware that answers HEAD on every GET route; a route may define its own HEAD."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
        elif not await self._answered(scope, receive, send):
            await self._answered({**scope, "method": "GET"}, receive, send, whatever=True)

    async def _answered(self, scope: Scope, receive: Receive, send: Send, *, whatever: bool = False) -> bool:
        """Send the app's response without content. Unless `whatever`, a 405 is not sent, and False is returned."""
        answered = ended = False

        async def receive_head() -> Message:
            # A disconnect ends event streams, which have no end of their own.
            return {"type": "http.disconnect"} if ended else await receive()

        async def send_head(message: Message) -> None:
            nonlocal answered, ended
            if message["type"] == "http.response.start":
                answered = whatever or message["status"] != METHOD_NOT_ALLOWED
                if answered:
                    await send(message)
            elif not ended:
                ended = True
                if answered:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})

        await self.app(scope, receive_head, send_head)
        return answered
