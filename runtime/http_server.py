"""Metrics and health over HTTP: /metrics, /health/live and /health/ready.

Threads of a process whose pool is forked now and then: the pool's processes close the socket that they inherit, and use
nothing else of it.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOL_SOCKET
from typing import Any

from runtime.errors import AddressTaken
from runtime.health import Health, ProcessStatus, run_checks

log = logging.getLogger(__name__)

IDLE_SECONDS = 5.0
"""How long somebody may take to say what he wants."""

MOST_REQUESTS = 8
"""Requests at the same time; whoever comes then is told to come again."""


class HealthServer:
    """Serves from `start` to `stop`; who comes before has to wait.

    Raises
    ------
    AddressTaken
        If the address cannot be bound.
    """

    def __init__(self, host: str, port: int, outlook: ProcessStatus) -> None:
        try:
            self._server = _Server(host, port, outlook)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise AddressTaken(
                f"Health and metrics cannot be served on {host}:{port}: {reason}. "
                "Choose another address by --http or STEELYARD_HTTP_PORT."
            ) from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="http", daemon=True)

    @property
    def port(self) -> int:
        """The port, also where it was left to the system."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin to answer."""
        if self._thread.ident is None:
            self._thread.start()

    def stop(self) -> None:
        """Answer no more."""
        if self._thread.ident is not None:
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def drop(self) -> None:
        """In a process that was forked from ours: give up the socket, which would keep the port from others."""
        self._server.socket.close()


@contextmanager
def serve_status(host: str, port: int | None, outlook: Callable[[], ProcessStatus]) -> Iterator[HealthServer | None]:
    """A server that is bound and not started, and stopped at the end; none without a port.

    Raises
    ------
    AddressTaken
        If the address cannot be bound.
    """
    if port is None:
        yield None
        return
    server = HealthServer(host, port, outlook())
    _bound.add(server)
    try:
        yield server
    finally:
        _bound.remove(server)
        server.stop()


_bound: set[HealthServer] = set()


def _drop_in_child() -> None:
    for server in _bound:
        server.drop()


os.register_at_fork(after_in_child=_drop_in_child)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Only waits for threads that do not end by themselves.
    block_on_close = False
    request_queue_size = 16

    def __init__(self, host: str, port: int, outlook: ProcessStatus) -> None:
        self.address_family = AF_INET6 if ":" in host else AF_INET
        self.outlook = outlook
        self.places = threading.BoundedSemaphore(MOST_REQUESTS)
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        # The library would look up the name of the host, which can take long.
        self.socket.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        log.debug("A request for health or metrics was not ended", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = IDLE_SECONDS
    server_version = "steelyard"
    sys_version = ""

    def do_GET(self) -> None:
        if not self.server.places.acquire(blocking=False):
            self._answer(503, "text/plain; charset=utf-8", b"Too many requests at once.\n")
            return
        try:
            self._answer(*self._found())
        finally:
            self.server.places.release()

    do_HEAD = do_GET  # noqa: N815 - the library wants it so

    def _found(self) -> tuple[int, str, bytes]:
        outlook = self.server.outlook
        answers: dict[str, Callable[[], tuple[int, str, bytes]]] = {
            "/health/live": lambda: self._health(run_checks(outlook.live)),
            "/health/ready": lambda: self._health(run_checks(outlook.ready)),
            "/metrics": self._metrics,
        }
        answer = answers.get(self.path.partition("?")[0])
        if answer is None:
            return 404, "text/plain; charset=utf-8", f"There are: {', '.join(answers)}.\n".encode()
        try:
            return answer()
        except Exception:
            log.exception("What was asked for cannot be told: %s", self.path.partition("?")[0])
            return 500, "text/plain; charset=utf-8", b"This cannot be told; the log says why.\n"

    def _health(self, health: Health) -> tuple[int, str, bytes]:
        body = {"role": self.server.outlook.role, **health.as_json()}
        return 200 if health.ok else 503, "application/json", json.dumps(body).encode() + b"\n"

    def _metrics(self) -> tuple[int, str, bytes]:
        from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

        from runtime.telemetry import exposition

        return 200, CONTENT_TYPE_PLAIN_0_0_4, exposition(self.server.outlook.collectors)

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        log.debug(format, *arguments)
