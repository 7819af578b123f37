"""By which names this server may be asked: links in mails follow them, and a page elsewhere must not borrow them."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from campaigns.errors import WebError
from web.guards.refusing import refuse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from runtime.service_settings import WebSettings

OWN = frozenset({"localhost"})


class UnknownHost(WebError):
    """The server is not known by that name. Whoever runs it says by STEELYARD_PUBLIC_URL what it is called."""

    code = "unknown_host"


class KnownHosts:
    """Refuses requests for any other name than that of the public address, this machine's own, or that it listens on.

    Else a name of somebody else that is made to point at us would let their pages read ours.
    """

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self.app = app
        own = settings.web_host
        named = urlsplit(settings.public_url or "").hostname, _host_of(f"[{own}]" if ":" in own else own)
        self.known = OWN | {name for name in named if name}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "http" and not self._knows(scope):
            await refuse(scope, receive, send, UnknownHost())
            return
        await self.app(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        given = Headers(scope=scope).getlist("host")
        if len(given) != 1:
            # HTTP/1.0 may have none; two are an attempt to have it both ways.
            return not given
        host = _host_of(given[0])
        if host in self.known or host == (scope.get("server") or ("",))[0]:
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def _host_of(given: str) -> str:
    """The name without a port, as the resolver would see it; "" for what is none."""
    try:
        parts = urlsplit(f"//{given}")
        if parts.username is not None or parts.path or parts.query or parts.fragment:
            return ""
        return (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""
