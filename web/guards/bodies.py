"""Limits on request bodies, enforced while they arrive, whatever Content-Length says."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request

from campaigns.errors import BadRequest, CampaignsError, NotSignedIn, TooLarge, TooMany, TooSlow, Unavailable
from steelyard.text.wording import number_of
from web.dependencies import read_principal
from web.guards.refusing import refuse
from web.uploads.large_bodies import is_upload

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from runtime.service_settings import WebSettings

RETRY_SECONDS = 10.0


class BodyLimit:
    """Middleware that refuses bodies that are too large (413) or too slow (408)."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self.app = app
        self.settings = settings
        self._pending = PendingUploads(settings.pending_upload_bytes_each, settings.pending_upload_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _Body(scope, receive, send, self.settings, self._pending)
        try:
            await self.app(scope, body.receive, body.send)
        except Exception:
            if body.wrong is None:
                raise
        finally:
            body.release()
        if body.wrong is not None and not body.answered:
            await refuse(scope, receive, send, body.wrong, close=True)


class PendingUploads:
    """Bytes of uploads that arrive, wait or are read: they lie on the disk meanwhile. Only for the event loop's thread.

    What has the size of a form is not counted: an ordinary output always has room.
    """

    def __init__(self, most_each: int, most: int) -> None:
        self._most_each, self._most = most_each, most
        self._held: Counter[int] = Counter()

    def add(self, account_id: int, size: int) -> None:
        """Count more bytes of an account. Raises TooMany and Unavailable; they are counted all the same."""
        self._held[account_id] += size
        if self._held[account_id] > self._most_each:
            raise TooMany(
                f"Your uploads under way have more than {number_of(self._most_each, 'byte')}. Send this one when the "
                "others are done.",
                retry_seconds=RETRY_SECONDS,
            )
        if self._held.total() > self._most:
            raise Unavailable(
                "The uploads of all under way are too large together. Send this one later.", retry_seconds=RETRY_SECONDS
            )

    def remove(self, account_id: int, size: int) -> None:
        """Count them no longer."""
        self._held[account_id] -= size
        if not self._held[account_id]:
            del self._held[account_id]


class _BrokenOff(Exception):
    """Reading the body was aborted."""


class _Body:
    """One incoming body, and the error it is refused with, if any."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, settings: WebSettings, pending: PendingUploads
    ) -> None:
        self.wrong: CampaignsError | None = None
        self.answered = False
        self._scope = scope
        self._receive = receive
        self._send = send
        self._settings = settings
        self._pending = pending
        self._account_id: int | None = None
        """Whose upload it is; None for other requests."""
        self._held = 0
        """Bytes that count as pending."""
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
            if self._account_id is not None:
                self._hold(self._account_id)
            self._ended = not message.get("more_body", False)
        return message

    def _hold(self, account_id: int) -> None:
        more = max(0, self._received - self._settings.form_bytes) - self._held
        self._held += more
        try:
            self._pending.add(account_id, more)
        except CampaignsError as error:
            raise self._break(error) from None

    def release(self) -> None:
        """Say that nothing of it is held any more."""
        if self._account_id is not None:
            self._pending.remove(self._account_id, self._held)

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
            self._account_id = principal.account_id
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
