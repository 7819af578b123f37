"""Validation of URLs and headers: size limits, and no invalid characters."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from campaigns.errors import CampaignsError
from web.guards.refusing import refuse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

MAX_URL_BYTES = 8192
"""Bytes of path and query together."""
MAX_HEADER_BYTES = 32768
"""Bytes of all headers together."""


class LongAddress(CampaignsError):
    """The address is longer than 8,192 bytes. Send what it holds in the body of the request."""

    status, code = 414, "address_too_long"


class LargeHeaders(CampaignsError):
    """The headers have more than 32,768 bytes together. Delete the cookies of this site, and try again."""

    status, code = 431, "headers_too_large"


class OddAddress(CampaignsError):
    """The URL contains NUL, or is not UTF-8."""

    code = "odd_address"


class RequestValidation:
    """Middleware that refuses malformed URLs and oversized headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        wrong = _find_fault(scope) if scope["type"] == "http" else None
        if wrong is None:
            await self.app(scope, receive, send)
        else:
            await refuse(scope, receive, send, wrong, close=True)


def _find_fault(scope: Scope) -> CampaignsError | None:
    path: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    query: bytes = scope["query_string"]
    if len(path) + len(query) > MAX_URL_BYTES:
        return LongAddress()
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADER_BYTES:
        return LargeHeaders()
    for part in (path, query):
        plain = unquote_to_bytes(part)
        # NUL ends strings in C, and PostgreSQL stores none.
        if b"\0" in plain:
            return OddAddress()
        try:
            plain.decode()
        except UnicodeDecodeError:
            return OddAddress()
    return None
