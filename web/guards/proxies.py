"""Proxies before us say who asks and how; only those that the settings name are believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class TrustedProxies:
    """Takes the client's address and the scheme from X-Forwarded-For and X-Forwarded-Proto of trusted proxies."""

    def __init__(self, app: ASGIApp, proxies: str) -> None:
        trusted = [each.strip() for each in proxies.split(",") if each.strip()]
        self.app = ProxyHeadersMiddleware(app, trusted) if trusted else app  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await self.app(scope, receive, send)  # type: ignore[arg-type]
