"""HEAD: what GET answers, without the content, for link checkers, monitors of uptime and previews of links."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

NO_SUCH_METHOD = 405


class AnswersHead:
    """Lets every route that answers GET answer HEAD, too; a route may have an answer of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
        elif not await self._answered(scope, receive, send):
            await self._answered({**scope, "method": "GET"}, receive, send, whatever=True)

    async def _answered(self, scope: Scope, receive: Receive, send: Send, *, whatever: bool = False) -> bool:
        """Send what the app answers without its content; unless `whatever`, not where it knows no such method."""
        answered = ended = False

        async def heard() -> Message:
            # A stream of events would go on for as long as somebody listens.
            return {"type": "http.disconnect"} if ended else await receive()

        async def send_head(message: Message) -> None:
            nonlocal answered, ended
            if message["type"] == "http.response.start":
                answered = whatever or message["status"] != NO_SUCH_METHOD
                if answered:
                    await send(message)
            elif not ended:
                ended = True
                if answered:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})

        await self.app(scope, heard, send_head)
        return answered
