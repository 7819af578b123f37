"""Security headers of all responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

from web.content_policy import CONTENT_POLICY, EMBEDDABLE

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from runtime.service_settings import WebSettings

HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
ONLY_HTTPS = "max-age=31536000"
"""Browsers use only HTTPS for this host for a year. Not for subdomains, which may belong to others."""


class SecureHeaders:
    """Middleware that adds the headers to every response, errors included."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self.app = app
        self.https = (settings.public_url or "").lower().startswith("https://")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                framed = headers.get("Content-Security-Policy") == EMBEDDABLE["Content-Security-Policy"]
                for name, value in HEADERS.items():
                    # Browsers obey it beside the content policy, and it cannot allow all sites.
                    if not (framed and name == "X-Frame-Options"):
                        headers.setdefault(name, value)
                # The content depends on the principal.
                headers.setdefault("Cache-Control", "private, no-cache")
                if self.https:
                    headers.setdefault("Strict-Transport-Security", ONLY_HTTPS)
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)
