"""A receiver of webhooks, as somebody else would write it."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver(ThreadingHTTPServer):
    """Answers with one status after the other, the last one for ever, and keeps what it was sent."""

    daemon_threads = True

    def __init__(self, statuses: Sequence[int], location: str = "", silent: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.statuses, self.location, self.silent = list(statuses), location, silent
        self.messages: list[tuple[dict[str, str], bytes]] = []
        self.paths: list[str] = []
        self.stopped = threading.Event()
        self.dripped = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.messages.append((dict(self.headers), body))
        self.server.paths.append(self.path)
        if self.server.silent:
            self.drip()
            return
        statuses = self.server.statuses
        self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def drip(self) -> None:
        """A little of the answer now and then, so that no single wait is long."""
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not self.server.stopped.wait(0.02):
                self.wfile.write(b"X: y\r\n")
                self.server.dripped += 1
        except OSError:
            pass
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def receiver(*statuses: int, location: str = "", silent: bool = False) -> Iterator[Receiver]:
    """A receiver that listens."""
    server = Receiver(statuses or (200,), location, silent)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


def genuine(secret: str, header: str, body: bytes, tolerance: float = 300.0) -> bool:
    """The check that docs/reference/regressions.md gives to receivers."""
    parts = dict(part.split("=", 1) for part in header.split(","))
    expected = hmac.new(secret.encode(), parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
    recent = abs(time.time() - int(parts["t"])) <= tolerance
    return recent and hmac.compare_digest(expected, parts["v1"])
