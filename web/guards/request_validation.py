"""Addresses and headers of a sane size, without characters that no name has."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from campaigns.errors import WebError
from web.guards.refusing import refuse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LONGEST_ADDRESS = 8192
"""Bytes of path and query together."""
LARGEST_HEADERS = 32768
"""Bytes of all headers together."""


class LongAddress(WebError):
    """The address is longer than 8,192 bytes. Send what it holds in the body of the request."""

    status, code = 414, "address_too_long"


class LargeHeaders(WebError):
    """The headers have more than 32,768 bytes together. Delete the cookies of this site, and try again."""

    status, code = 431, "headers_too_large"


class OddAddress(WebError):
    """The address has a character that nothing is called by, or is not in UTF-8."""

    code = "odd_address"


class SaneShapes:
    """Refuses what no browser and no program sends by itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        wrong = _fault_of(scope) if scope["type"] == "http" else None
        if wrong is None:
            await self.app(scope, receive, send)
        else:
            await refuse(scope, receive, send, wrong, close=True)


def _fault_of(scope: Scope) -> WebError | None:
    path: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    query: bytes = scope["query_string"]
    if len(path) + len(query) > LONGEST_ADDRESS:
        return LongAddress()
    if sum(len(name) + len(value) for name, value in scope["headers"]) > LARGEST_HEADERS:
        return LargeHeaders()
    for part in (path, query):
        plain = unquote_to_bytes(part)
        # A NUL ends strings in C, and PostgreSQL stores none.
        if b"\0" in plain:
            return OddAddress()
        try:
            plain.decode()
        except UnicodeDecodeError:
            return OddAddress()
    return None
