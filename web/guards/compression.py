"""Compression of responses, where their length tells nobody a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LEVEL = 6
PUBLIC = ("/static/", "/docs/")
"""Below these are the same files for everybody."""


class Compression:
    """Middleware that compresses responses with gzip, unless the request has a cookie.

    Other sites can make a browser ask for addresses of their choice, with its cookies. Compressed, the length of such a
    response would tell how much of the address the page repeats, hidden fields of its forms included (BREACH). They
    cannot make it send a token, and of files that all get alike there is nothing to find out. Event streams and what is
    compressed already are left as they are.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.compressed = GZipMiddleware(app, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or ("cookie" in Headers(scope=scope) and not scope["path"].startswith(PUBLIC)):
            await self.app(scope, receive, send)
        else:
            await self.compressed(scope, receive, send)
