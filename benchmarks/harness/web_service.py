"""A web service of its own, as `steelyard serve` starts it: clients must not take its time."""

from __future__ import annotations

import socket
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchmarks.harness.processes import start
from tests.servers import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 60.0


@contextmanager
def served(database_url: str) -> Iterator[tuple[str, int]]:
    """The address of the pages of a database, and the number of the process behind them."""
    port = free_port()
    environment = {
        "STEELYARD_DATABASE_URL": database_url,
        "STEELYARD_WEB_PORT": str(port),
        "STEELYARD_REQUESTS_PER_MINUTE": str(10**9),
    }
    server = start("web", [sys.executable, "-m", "cli.main", "serve"], environment, quiet=True)
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}", server.process.pid
    finally:
        server.stop()


def _wait_for(port: int) -> None:
    """Until it takes connections."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("The server did not start.")
