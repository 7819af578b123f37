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
"""Time limit for receiving a request, in seconds."""

MOST_REQUESTS = 8
"""Maximum number of simultaneous requests; further ones get status 503."""


class HealthServer:
    """Serves health and metrics from `start` to `stop`; earlier connections wait.

    Raises
    ------
    AddressTaken
        If the address cannot be bound.
    """

    def __init__(self, host: str, port: int, status: ProcessStatus) -> None:
        try:
            self._server = _Server(host, port, status)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise AddressTaken(
                f"Health and metrics cannot be served on {host}:{port}: {reason}. "
                "Choose another address by --http or STEELYARD_HTTP_PORT."
            ) from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="http", daemon=True)

    @property
    def port(self) -> int:
        """The port, also if the system chose it."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Start to serve."""
        if self._thread.ident is None:
            self._thread.start()

    def stop(self) -> None:
        """Stop serving."""
        if self._thread.ident is not None:
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def close_inherited(self) -> None:
        """Close the socket in a forked process, where it would keep the port in use."""
        self._server.socket.close()


@contextmanager
def serve_status(host: str, port: int | None, status: Callable[[], ProcessStatus]) -> Iterator[HealthServer | None]:
    """A server that is bound but not started, and is stopped at the end; None without a port.

    Raises
    ------
    AddressTaken
        If the address cannot be bound.
    """
    if port is None:
        yield None
        return
    server = HealthServer(host, port, status())
    _open_servers.add(server)
    try:
        yield server
    finally:
        _open_servers.remove(server)
        server.stop()


_open_servers: set[HealthServer] = set()


def _close_inherited() -> None:
    for server in _open_servers:
        server.close_inherited()


os.register_at_fork(after_in_child=_close_inherited)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Its threads end by themselves.
    block_on_close = False
    request_queue_size = 16

    def __init__(self, host: str, port: int, status: ProcessStatus) -> None:
        self.address_family = AF_INET6 if ":" in host else AF_INET
        self.status = status
        self.places = threading.BoundedSemaphore(MOST_REQUESTS)
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        # The library would resolve the host name, which can take long.
        self.socket.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        log.debug("A request for health or metrics failed", exc_info=True)


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

    do_HEAD = do_GET  # noqa: N815 - the name that the library calls

    def _found(self) -> tuple[int, str, bytes]:
        status = self.server.status
        answers: dict[str, Callable[[], tuple[int, str, bytes]]] = {
            "/health/live": lambda: self._health(run_checks(status.live)),
            "/health/ready": lambda: self._health(run_checks(status.ready)),
            "/metrics": self._metrics,
        }
        answer = answers.get(self.path.partition("?")[0])
        if answer is None:
            return 404, "text/plain; charset=utf-8", f"There are: {', '.join(answers)}.\n".encode()
        try:
            return answer()
        except Exception:
            log.exception("The answer to %s failed", self.path.partition("?")[0])
            return 500, "text/plain; charset=utf-8", b"This failed; the log says why.\n"

    def _health(self, health: Health) -> tuple[int, str, bytes]:
        body = {"role": self.server.status.role, **health.as_json()}
        return 200 if health.ok else 503, "application/json", json.dumps(body).encode() + b"\n"

    def _metrics(self) -> tuple[int, str, bytes]:
        from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

        from runtime.telemetry import exposition

        return 200, CONTENT_TYPE_PLAIN_0_0_4, exposition(self.server.status.collectors)

    def _answer(self, code: int, kind: str, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        log.debug(format, *arguments)
