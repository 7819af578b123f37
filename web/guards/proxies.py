"""Client address and scheme from trusted proxies, named in the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

if TYPE_CHECKING:
    from collections.abc import Container

    from starlette.types import ASGIApp, Receive, Scope, Send


class TrustedProxies:
    """Middleware that takes the client's address and scheme from X-Forwarded-For and -Proto of trusted proxies."""

    def __init__(self, app: ASGIApp, proxies: str) -> None:
        trusted = _named(proxies)
        self.app = ProxyHeadersMiddleware(app, trusted) if trusted else app  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        await self.app(scope, receive, send)  # type: ignore[arg-type]


def trusted_addresses(proxies: str) -> Container[str]:
    """The addresses of trusted proxies; each is shared by many clients."""
    trusted = _named(proxies)
    return cast("Container[str]", ProxyHeadersMiddleware(_nowhere, trusted).trusted_hosts) if trusted else ()


def _named(proxies: str) -> list[str]:
    return [each.strip() for each in proxies.split(",") if each.strip()]


async def _nowhere(*_: object) -> None:
    """An app without responses."""
