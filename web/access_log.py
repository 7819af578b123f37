"""Access log and Prometheus metrics of requests."""

from __future__ import annotations

import logging
import re
import time
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

from runtime.logs import fields
from steelyard.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

LONGEST_PATH = 200
_SECRET = re.compile(r"[A-Za-z0-9_-]{32,}")
"""Possible secrets in paths, of invitations and of links sent by mail."""

API = "/api/v1"
NO_ROUTE = "none"
"""The route label of unknown paths: labels must not come from clients."""


class AccessLog:
    """ASGI middleware that counts, times and logs requests. Query strings and secrets in paths are not logged."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        # Not in the library's global registry: an app owns its metrics.
        self._requests = Counter(
            "steelyard_web_requests", "Requests that were answered.", ("method", "route", "status"), registry=None
        )
        self._seconds = Histogram(
            "steelyard_web_request_seconds",
            "Time until the answer began.",
            ("route",),
            buckets=SECONDS,
            registry=None,
        )
        self._received = Counter("steelyard_web_received_bytes", "Bytes of bodies of requests.", registry=None)
        self._running = Gauge("steelyard_web_requests_running", "Requests under way, streams included.", registry=None)

    @property
    def collectors(self) -> Sequence[object]:
        """Its collectors for `prometheus_client`."""
        return self._requests, self._seconds, self._received, self._running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, answered, status, received = time.monotonic(), None, 0, 0

        async def counted_receive() -> Message:
            nonlocal received
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
            return message

        async def watched_send(message: Message) -> None:
            nonlocal answered, status
            if message["type"] == "http.response.start":
                answered, status = time.monotonic(), message["status"]
            await send(message)

        path = scope["path"]
        self._running.inc()
        try:
            await self.app(scope, counted_receive, watched_send)
        finally:
            self._running.dec()
            self._record(scope, path, status, begun, answered, received)

    def _record(
        self, scope: Scope, path: str, status: int, begun: float, answered: float | None, received: int
    ) -> None:
        route = route_of(scope)
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._requests.labels(method, route, status or "none").inc()
        self._received.inc(received)
        if answered is not None:
            self._seconds.labels(route).observe(answered - begun)
        # Set by the app while it handled the request.
        known = scope.get("state", {})
        client = scope.get("client")
        log.log(
            logging.DEBUG if route == "/static" else logging.INFO,
            "%s %s: %s",
            method,
            shown_path(path),
            status or "no answer",
            extra=fields(
                route=route,
                status=status,
                seconds=round(time.monotonic() - begun, 4),
                received=received or None,
                address=client[0] if client else None,
                account=getattr(known.get("principal"), "account_id", None),
                trace_id=known.get("request_id"),
            ),
        )


def route_of(scope: Scope) -> str:
    """The path template of the matched route, as the app declares it."""
    found = getattr(scope.get("route"), "path", None)
    if found is None:
        return "/static" if scope["path"].startswith("/static/") else NO_ROUTE
    # Whether it includes the prefix depends on the version of the framework.
    return f"{API}{found}" if scope["path"].startswith(f"{API}/") and not found.startswith(API) else found


def shown_path(path: str) -> str:
    """A path for the log, shortened and without secrets."""
    shown = _SECRET.sub("***", printable(path[: 4 * LONGEST_PATH]))
    return shown if len(shown) <= LONGEST_PATH else f"{shown[:LONGEST_PATH]}..."
