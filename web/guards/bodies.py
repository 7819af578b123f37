"""Bodies of requests: counted and timed while they arrive, whatever they announce."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request

from campaigns.errors import BadRequest, NotSignedIn, TooLarge, TooSlow, WebError
from metrics.text.wording import number_of
from web.dependencies import read_principal
from web.guards.refusing import refuse
from web.uploads.large_bodies import is_upload

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from runtime.service_settings import WebSettings


class BoundedBodies:
    """Cuts off what is too large (413) or comes too slowly (408)."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _Body(scope, receive, send, self.settings)
        try:
            await self.app(scope, body.receive, body.send)
        except Exception:
            if body.wrong is None:
                raise
        if body.wrong is not None and not body.answered:
            await refuse(scope, receive, send, body.wrong, close=True)


class _BrokenOff(Exception):
    """The body of a request is not read any further."""


class _Body:
    """One body on its way in, and what is said of it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, settings: WebSettings) -> None:
        self.wrong: WebError | None = None
        self.answered = False
        self._scope = scope
        self._receive = receive
        self._send = send
        self._settings = settings
        self._until: float | None = None
        self._seconds = settings.body_seconds
        self._limit = 0
        self._larger: WebError | None = None
        """What is said of one that is larger, where it is not that alone."""
        self._received = 0
        self._ended = False

    async def receive(self) -> Message:
        """What comes next. Raises _BrokenOff, which only `BoundedBodies` understands."""
        if self._ended:
            # From here on it is only asked whether the client is still there.
            return await self._receive()
        if self._until is None:
            await self._begin()
        assert self._until is not None
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            raise self._break(
                TooSlow(f"The request took longer than {self._seconds:g} s to arrive. Pack it with gzip.")
            ) from None
        if message["type"] == "http.request":
            self._received += len(message.get("body", b""))
            if self._received > self._limit:
                raise self._break(self._too_large())
            self._ended = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """What the app answers; nothing where it only found that the body was broken off."""
        if self.wrong is not None and not self.answered:
            return
        self.answered = True
        await self._send(message)

    async def _begin(self) -> None:
        # By now the route is known.
        self._until = time.monotonic() + self._seconds
        self._limit = self._settings.form_bytes
        if is_upload(self._scope.get("endpoint")):
            await self._let_in()
        announced = Headers(scope=self._scope).get("content-length")
        if announced is None:
            return
        if not announced.isascii() or not announced.isdigit():
            raise self._break(BadRequest("The header Content-Length is no number."))
        if len(announced) > 18 or int(announced) > self._limit:
            raise self._break(self._too_large())

    async def _let_in(self) -> None:
        """Take a whole upload from those who are signed in: of others no more is read than of any form."""
        try:
            # It is remembered with the request, and not looked up again.
            principal = await run_in_threadpool(read_principal, Request(self._scope))
        except WebError as error:
            raise self._break(error) from None
        if principal.signed_in:
            self._limit += self._settings.upload_bytes
            self._until = time.monotonic() + self._settings.upload_seconds
            self._seconds = self._settings.upload_seconds
        else:
            self._larger = NotSignedIn()

    def _too_large(self) -> WebError:
        if self._larger is not None:
            return self._larger
        return TooLarge(f"The request is larger than {number_of(self._limit, 'byte')}, the limit at this address.")

    def _break(self, error: WebError) -> _BrokenOff:
        self.wrong, self._ended = error, True
        return _BrokenOff(str(error))
