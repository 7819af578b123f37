"""Check of the Host header: links in mails use it, and DNS rebinding must not give foreign pages access."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from campaigns.errors import CampaignsError
from web.guards.refusing import refuse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from runtime.service_settings import WebSettings

OWN = frozenset({"localhost"})


class UnknownHost(CampaignsError):
    """Unknown host name. The server's operator sets its name with STEELYARD_PUBLIC_URL."""

    code = "unknown_host"


class KnownHosts:
    """Middleware that accepts only the host names of the public URL, of the listening address, and local ones.

    Otherwise a foreign host name that resolves to this server (DNS rebinding) would let its pages read ours.
    """

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self.app = app
        own = settings.web_host
        named = urlsplit(settings.public_url or "").hostname, _host_name(f"[{own}]" if ":" in own else own)
        self.known = OWN | {name for name in named if name}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http" and not self._knows(scope):
            await refuse(scope, receive, send, UnknownHost())
            return
        await self.app(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        given = Headers(scope=scope).getlist("host")
        if len(given) != 1:
            # HTTP/1.0 allows none; two are an attempt at request smuggling.
            return not given
        host = _host_name(given[0])
        if host in self.known or host == (scope.get("server") or ("",))[0]:
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def _host_name(given: str) -> str:
    """The host name without port and trailing dot; "" for an invalid one."""
    try:
        parts = urlsplit(f"//{given}")
        if parts.username is not None or parts.path or parts.query or parts.fragment:
            return ""
        return (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""
