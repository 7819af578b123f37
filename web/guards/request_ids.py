"""Request ids: in the response, and in every log line of the request and of the work that it causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

from runtime.tracing import span, trace_id
from web.access_log import METHODS, route_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "X-Request-ID"


class RequestIds:
    """Middleware that begins a trace, whose id is the request's.

    A client's own is ignored, as it could imitate another request.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        with span(method, kind="server") as request:
            request_id = str(trace_id(request.trace))
            scope.setdefault("state", {})["request_id"] = request_id

            async def with_request_id(message: Message) -> None:
                if message["type"] == "http.response.start":
                    MutableHeaders(scope=message)[HEADER] = request_id
                    request.describe(**{"http.response.status_code": message["status"]})
                await send(message)

            await self.app(scope, receive, with_request_id)
            route = route_of(scope)
            request.describe(f"{method} {route}", **{"http.request.method": method, "http.route": route})
