"""Serves the app with uvicorn in this process until a signal stops it.

One process with threads, so that caches (leaderboards, rate limits, watchers) exist once. To scale, run several
processes behind a proxy.
"""

from __future__ import annotations

import gc
import logging
import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import prometheus_client
import uvicorn
from anyio.to_thread import current_default_thread_limiter
from sqlalchemy.exc import DBAPIError

from models.database.compatibility import SCHEMA_CHECK_SECONDS, read_schema_problem
from models.database.migrate import REVISION
from models.database.session import autocommit_reading, make_steady_engine
from runtime.errors import AddressTaken
from runtime.health import Check, Liveness, ProcessStatus
from runtime.http_server import serve_status
from scheduler.errors import OtherTables
from web.access_log import AccessLog
from web.app import create_app, prepare_routes
from web.guards.connections import guarded_protocol
from worker.health_checks import check_database

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.service_settings import WebSettings
    from web.state import State

log = logging.getLogger(__name__)

RARE_COLLECTIONS = (5_000, 10, 50)
"""Thresholds of the garbage collector's generations; Python's are 700, 10 and 10."""

WAITING_CONNECTIONS = 512
"""Backlog of the listening socket: enough for a rush of clients."""

KEEP_ALIVE_SECONDS = 10
"""Longer than the pause between two requests of a browser, shorter than the timeout of proxies."""


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a serving process."""

    host: str
    port: int
    public_url: str
    """Public URL, without a trailing slash."""


def serve(
    settings: WebSettings, begun: Callable[[Address, int | None], None] | None = None, *, parent: int | None = None
) -> None:
    """Serve until SIGTERM or SIGINT; running requests get up to `stop_seconds` to finish.

    Parameters
    ----------
    settings
        Settings of the web service.
    begun
        Called with the address and the port of health and metrics (None if disabled) once both accept requests.
    parent
        If given, also stop once the process with this id is no longer the parent.

    Raises
    ------
    AddressTaken
        The address cannot be bound.
    OtherTables
        The database schema became that of an incompatible release.
    """
    # The access log and our own messages replace uvicorn's.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    # They would double the number of series without use.
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
    with listen(settings.web_host, settings.web_port) as listening:
        app = create_app(settings)
        prepare_routes(app)
        watched = AccessLog(app)
        server = _Server(watched, app.state.steelyard, parent)
        with serve_status(settings.http_host, settings.http_port, lambda: process_status(settings, server)) as health:

            def on_start() -> None:
                address = address_of(settings, listening)
                log.info("Serving at %s", address.public_url)
                if begun is not None:
                    begun(address, None if health is None else health.port)

            if health is not None:
                health.start()
            server.on_start = on_start
            watcher = threading.Thread(target=server.watch_schema, name="schema", daemon=True)
            watcher.start()
            # Warm up, so that the first upload does not wait for imports.
            threading.Thread(target=app.state.steelyard.sandbox.start, name="warmup", daemon=True).start()
            try:
                server.run(sockets=[listening])
            finally:
                app.state.steelyard.stopping.set()
                # It may wait for a database that does not answer.
                watcher.join(1.0)
    log.info("Stopped serving")
    if server.problem is not None:
        raise OtherTables(server.problem)


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket.

    Raises
    ------
    AddressTaken
        If the address is in use or cannot be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=WAITING_CONNECTIONS)
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise AddressTaken(
            f"Pages cannot be served on {host}:{port}: {reason}. Choose another address by --host and --port, or by "
            "STEELYARD_WEB_HOST and STEELYARD_WEB_PORT."
        ) from error
    # Connections inherit it. asyncio sets it only where a socket names its protocol, which this one does not. Without
    # it the body of an answer waits until its headers are acknowledged, which clients delay by 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def address_of(settings: WebSettings, listening: socket.socket) -> Address:
    """The address of a listening socket, including a port chosen by the system."""
    port = int(listening.getsockname()[1])
    host = f"[{settings.web_host}]" if ":" in settings.web_host else settings.web_host
    return Address(settings.web_host, port, (settings.public_url or f"http://{host}:{port}").rstrip("/"))


def process_status(settings: WebSettings, server: _Server) -> ProcessStatus:
    """Health checks and metrics of the process, served on a port of their own."""
    return ProcessStatus(
        "web",
        live=(server.pulse.alive,),
        ready=(
            lambda: check_database(settings.database_url),
            lambda: server.pulse.succeeds(settings.stale_seconds),
            server.check_stopping,
        ),
        collectors=server.watched.collectors,
    )


class _Server(uvicorn.Server):
    """Uvicorn's server with health checks, a schema check and a parent check."""

    def __init__(self, watched: AccessLog, state: State, parent: int | None) -> None:
        settings = state.settings
        super().__init__(
            uvicorn.Config(
                watched,
                http=guarded_protocol(settings),
                lifespan="on",
                log_config=None,
                access_log=False,
                ws="none",
                # `web.guards.proxies` decides which proxies are trusted, however the app is served.
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=max(1, round(settings.stop_seconds)),
            )
        )
        self.watched = watched
        self.pulse = Liveness("loop")
        self.on_start: Callable[[], None] = lambda: None
        self.problem: str | None = None
        """Why the server had to stop; None otherwise."""
        self._state = state
        self._parent = parent

    def check_stopping(self) -> Check:
        """Readiness check: whether it accepts new requests."""
        reason = "shutting down" if self.should_exit else "accepted"
        return Check("requests", not self.should_exit, reason)

    def watch_schema(self) -> None:
        """Until shutdown, in a thread of its own: stop the server when the schema becomes incompatible."""
        engine = make_steady_engine(self._state.settings.database_url)
        while not self._state.stopping.wait(SCHEMA_CHECK_SECONDS):
            # An unreachable database is reported elsewhere, and comes back.
            with suppress(DBAPIError), autocommit_reading(engine) as connection:
                self.problem = read_schema_problem(connection, REVISION)
            if self.problem is not None:
                self.should_exit = True
                break
        engine.dispose()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept requests."""
        current_default_thread_limiter().total_tokens = self._state.settings.web_threads
        # Modules and routes live as long as the process: 0.3 million objects, which a full collection need not visit
        # while a page waits. Kept leaderboards are as many again, and of what a full collection looks at nearly
        # nothing is garbage: it took 0.3 s every three to nine seconds of a busy server.
        gc.freeze()
        gc.set_threshold(*RARE_COLLECTIONS)
        await super().startup(sockets)
        self.pulse.done()
        self.on_start()

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second; returns whether to stop."""
        self.pulse.done()
        if self._parent is not None and os.getppid() != self._parent:
            log.warning("The parent process is gone; shutting down")
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish running requests, then stop."""
        # Event streams have no end of their own, and reading an upload may take long.
        self._state.stopping.set()
        self._state.segment_pages.close()
        self._state.sandbox.close()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: object) -> None:  # noqa: ARG002 - what it is called with
        """Handle a stop signal: the first one stops gracefully, the second one at once."""
        self.force_exit = self.should_exit
        self.should_exit = True
