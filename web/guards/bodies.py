"""Limits on request bodies, enforced while they arrive, whatever Content-Length says."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request

from campaigns.errors import BadRequest, CampaignsError, NotSignedIn, TooLarge, TooSlow
from metrics.text.wording import number_of
from web.dependencies import read_principal
from web.guards.refusing import refuse
from web.uploads.large_bodies import is_upload

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from runtime.service_settings import WebSettings


class BodyLimit:
    """Middleware that refuses bodies that are too large (413) or too slow (408)."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
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
    """Reading the body was aborted."""


class _Body:
    """One incoming body, and the error it is refused with, if any."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, settings: WebSettings) -> None:
        self.wrong: CampaignsError | None = None
        self.answered = False
        self._scope = scope
        self._receive = receive
        self._send = send
        self._settings = settings
        self._until: float | None = None
        self._seconds = settings.body_seconds
        self._limit = 0
        self._larger: CampaignsError | None = None
        """The error for a larger body, instead of TooLarge."""
        self._received = 0
        self._ended = False

    async def receive(self) -> Message:
        """The next message. Raises _BrokenOff, which `BodyLimit` catches."""
        if self._ended:
            # From here on the app only listens for a disconnect.
            return await self._receive()
        if self._until is None:
            await self._begin()
        assert self._until is not None
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            raise self._break(
                TooSlow(f"The request took longer than {self._seconds:g} s to arrive. Compress it with gzip.")
            ) from None
        if message["type"] == "http.request":
            self._received += len(message.get("body", b""))
            if self._received > self._limit:
                raise self._break(self._too_large())
            self._ended = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send the app's response, except one to an aborted body."""
        if self.wrong is not None and not self.answered:
            return
        self.answered = True
        await self._send(message)

    async def _begin(self) -> None:
        # The route is known only now.
        self._until = time.monotonic() + self._seconds
        self._limit = self._settings.form_bytes
        if is_upload(self._scope.get("endpoint")):
            await self._allow_upload()
        announced = Headers(scope=self._scope).get("content-length")
        if announced is None:
            return
        if not announced.isascii() or not announced.isdigit():
            raise self._break(BadRequest("The header Content-Length is no number."))
        if len(announced) > 18 or int(announced) > self._limit:
            raise self._break(self._too_large())

    async def _allow_upload(self) -> None:
        """Allow the full upload size for signed-in principals; for others the limit of forms stays."""
        try:
            # It is stored with the request, and not looked up again.
            principal = await run_in_threadpool(read_principal, Request(self._scope))
        except CampaignsError as error:
            raise self._break(error) from None
        if principal.signed_in:
            self._limit += self._settings.upload_bytes
            self._until = time.monotonic() + self._settings.upload_seconds
            self._seconds = self._settings.upload_seconds
        else:
            self._larger = NotSignedIn()

    def _too_large(self) -> CampaignsError:
        if self._larger is not None:
            return self._larger
        return TooLarge(f"The request is larger than {number_of(self._limit, 'byte')}, the limit at this address.")

    def _break(self, error: CampaignsError) -> _BrokenOff:
        self.wrong, self._ended = error, True
        return _BrokenOff(str(error))
