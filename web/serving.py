"""The app over HTTP, by uvicorn in this process, until it is told to stop.

One process with threads: what it remembers (boards, rates, who watches) is remembered once. For more, several of them
stand behind a proxy.
"""

from __future__ import annotations

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

from models.database.compatibility import read_trouble
from models.database.migrate import REVISION
from models.database.session import make_engine, reading
from runtime.errors import AddressTaken
from runtime.health import Check, Pulse
from runtime.http_server import Outlook, bound
from scheduler.errors import OtherTables
from web.access_log import Watched
from web.app import create_app
from web.guards.connections import guarded_protocol
from worker.health_checks import check_database

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.service_settings import WebSettings
    from web.state import State

log = logging.getLogger(__name__)

WAITING_CONNECTIONS = 512
"""Clients that the system lets wait until we look at them: all of a rush."""

LOOK_SECONDS = 5.0
"""How often it is looked whether the tables are still those of a release that ours can work with."""

KEEP_ALIVE_SECONDS = 10
"""Longer than the pause between two requests of a browser, shorter than what proxies keep open."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where we serve."""

    host: str
    port: int
    public_url: str
    """How people reach it, without a slash at its end."""


def serve(
    settings: WebSettings, begun: Callable[[Address, int | None], None] | None = None, *, parent: int | None = None
) -> None:
    """Serve until SIGTERM or SIGINT; requests that are under way are answered first, for `stop_seconds` at most.

    `begun` hears of the address, and of the port where health and metrics are, once both answer. With `parent` it also
    stops when the process of that number is not its parent any more. Raises AddressTaken, and OtherTables when the
    tables become those of a release with which this one cannot work.
    """
    # Ours say what is to be said.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    # Twice as many lines, which say when something was counted first.
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
    with listen(settings.web_host, settings.web_port) as listening:
        app = create_app(settings)
        watched = Watched(app)
        server = _Server(watched, app.state.steelyard, parent)
        with bound(settings.http_host, settings.http_port, lambda: outlook(settings, server)) as health:

            def on_start() -> None:
                address = address_of(settings, listening)
                log.info("Serving at %s", address.public_url)
                if begun is not None:
                    begun(address, None if health is None else health.port)

            if health is not None:
                health.start()
            server.on_start = on_start
            looking = threading.Thread(target=server.look_at_tables, name="tables", daemon=True)
            looking.start()
            # The first who submits should not wait for what is loaded then.
            threading.Thread(target=app.state.steelyard.sandbox.start, name="warming", daemon=True).start()
            try:
                server.run(sockets=[listening])
            finally:
                app.state.steelyard.stopping.set()
                looking.join()
    log.info("Stopped serving")
    if server.trouble is not None:
        raise OtherTables(server.trouble)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises AddressTaken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=WAITING_CONNECTIONS)
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise AddressTaken(
            f"Pages cannot be served on {host}:{port}: {reason}. Choose another address by --host and --port, or by "
            "STEELYARD_WEB_HOST and STEELYARD_WEB_PORT."
        ) from error


def address_of(settings: WebSettings, listening: socket.socket) -> Address:
    """Where it listens, also where the port was left to the system."""
    port = int(listening.getsockname()[1])
    host = f"[{settings.web_host}]" if ":" in settings.web_host else settings.web_host
    return Address(settings.web_host, port, (settings.public_url or f"http://{host}:{port}").rstrip("/"))


def outlook(settings: WebSettings, server: _Server) -> Outlook:
    """What the process shows of itself, on a port of its own."""
    return Outlook(
        "web",
        live=(server.pulse.turns,),
        ready=(
            lambda: check_database(settings.database_url),
            lambda: server.pulse.succeeds(settings.stale_seconds),
            server.check_stopping,
        ),
        collectors=server.watched.collectors,
    )


class _Server(uvicorn.Server):
    """Uvicorn's, which tells how it is."""

    def __init__(self, watched: Watched, state: State, parent: int | None) -> None:
        settings = state.settings
        super().__init__(
            uvicorn.Config(
                watched,
                http=guarded_protocol(settings),
                lifespan="on",
                log_config=None,
                access_log=False,
                ws="none",
                # Which proxies are believed is for the guards to say, in every way of serving.
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=max(1, round(settings.stop_seconds)),
            )
        )
        self.watched = watched
        self.pulse = Pulse("loop")
        self.on_start: Callable[[], None] = lambda: None
        self.trouble: str | None = None
        """Why it cannot go on."""
        self._state = state
        self._parent = parent

    def check_stopping(self) -> Check:
        """Whether it takes new requests."""
        reason = "none are taken any more: it stops" if self.should_exit else "taken"
        return Check("requests", not self.should_exit, reason)

    def look_at_tables(self) -> None:
        """Until it stops, in a thread of its own: stop when the tables have become those of another release."""
        engine = make_engine(self._state.settings.database_url, pooled=False)
        while not self._state.stopping.wait(LOOK_SECONDS):
            # A database that is away is told by others, and comes back.
            with suppress(DBAPIError), reading(engine) as connection:
                self.trouble = read_trouble(connection, REVISION)
            if self.trouble is not None:
                self.should_exit = True
                return

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        current_default_thread_limiter().total_tokens = self._state.settings.web_threads
        await super().startup(sockets)
        self.pulse.done()
        self.on_start()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: whether to stop."""
        self.pulse.done()
        if self._parent is not None and os.getppid() != self._parent:
            log.warning("The process that this one belongs to is gone")
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what was asked, and end."""
        # Streams would go on for as long as somebody watches, and a text may take long to be read.
        self._state.stopping.set()
        self._state.sandbox.close()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: object) -> None:  # noqa: ARG002 - what it is called with
        """A signal to stop: leave in order, with nothing said of the signal. The second one ends it at once."""
        self.force_exit = self.should_exit
        self.should_exit = True
