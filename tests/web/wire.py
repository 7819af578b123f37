"""The app behind a real server, and bytes sent to it as no client library would."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import uvicorn

START_SECONDS = 120.0
PATIENCE_SECONDS = 120.0


@contextlib.contextmanager
def served(app: Any, port: int = 0, **options: Any) -> Iterator[int]:
    """Serves it on a port of this machine, by default any that is free; `options` are those of uvicorn."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        given = {"log_config": None, "access_log": False, "ws": "none", "proxy_headers": False, **options}
        config = uvicorn.Config(app, timeout_graceful_shutdown=1, **given)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not server.started:
            if time.monotonic() > deadline or not thread.is_alive():
                raise RuntimeError("the server did not start")
            time.sleep(0.01)
        try:
            yield int(listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(START_SECONDS)


class Wire:
    """A connection on which anything may be sent."""

    def __init__(self, port: int, source: tuple[str, int] | None = None) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS, source)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *parts: str | bytes) -> None:
        """Lines of a request, or bytes."""
        for part in parts:
            self.socket.sendall(part.encode() if isinstance(part, str) else part)

    def hear(self, end: bytes) -> bytes:
        """What comes up to these bytes, or until the connection is closed."""
        received = b""
        while end not in received and (piece := self.socket.recv(65536)):
            received += piece
        return received

    def answer(self) -> tuple[int, str]:
        """The status of the answer, and all that came until the connection was closed; (0, "") for none."""
        received = b""
        with contextlib.suppress(ConnectionError):
            while piece := self.socket.recv(65536):
                received += piece
        return (int(received.split(b" ", 2)[1]) if received else 0), received.decode("utf-8", "replace")
