"""A collector of OpenTelemetry's spans, which come over HTTP."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, slots=True)
class Received:
    """A span as it came."""

    name: str
    service: str
    trace_id: str
    span_id: str
    parent: str
    attributes: dict[str, Any]
    error: str


class Collector:
    """Keeps what comes, from `with` to its end."""

    def __init__(self) -> None:
        self.received: list[ExportTraceServiceRequest] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.received.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/traces"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def spans(self) -> list[Received]:
        """All spans so far."""
        return [
            Received(
                each.name,
                next(one.value.string_value for one in part.resource.attributes if one.key == "service.name"),
                each.trace_id.hex(),
                each.span_id.hex(),
                each.parent_span_id.hex(),
                {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in each.attributes},
                each.status.message,
            )
            for request in list(self.received)
            for part in request.resource_spans
            for scope in part.scope_spans
            for each in scope.spans
        ]
