"""The web service as a process that belongs to another command: it starts with it, is looked after, and ends with it.

A process of its own from the very start, not a fork: whoever starts it forks a pool, and neither must get what the
other has open.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Any

from runtime.health import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from prometheus_client import Metric

    from runtime.service_settings import WebSettings
    from web.serving import Address

log = logging.getLogger(__name__)

AGAIN_SECONDS = 5.0
"""Wait before a new start after it died."""

ASK_SECONDS = 10.0
"""How long its health may take to be told."""

NOT_STARTED = 1
"""How it ends when it cannot begin, and has said why."""


class WebDidNotStart(Exception):
    """Pages cannot be served; why, was said above."""


class AttachedWeb:
    """The process: `start`, then `tend` now and then, then `stop`. `begun` hears the address when it serves."""

    def __init__(self, settings: WebSettings, begun: Callable[[Address], None]) -> None:
        # Its health is told by the one that it belongs to.
        port = None if settings.http_port is None else 0
        self._settings = settings.model_copy(update={"http_port": port, "http_host": "127.0.0.1"})
        self._begun = begun
        self._process: SpawnProcess | None = None
        self._news: Connection | None = None
        self._served = False
        self._health_port: int | None = None
        self._next_start = 0.0

    def start(self) -> None:
        """Start it; it begins to serve about a second later."""
        context = multiprocessing.get_context("spawn")
        self._news, theirs = context.Pipe(duplex=False)
        # Not a daemon, which could have no processes of its own. It ends by itself when its parent is gone.
        self._process = context.Process(target=_run, args=(self._settings, theirs, os.getpid()), name="web")
        self._process.start()
        theirs.close()

    def tend(self) -> None:
        """Hear whether it serves, and start it anew where it died. Raises WebDidNotStart where it never served."""
        if self._process is None:
            if time.monotonic() >= self._next_start:
                self.start()
            return
        self._hear()
        if self._process.is_alive():
            return
        status = self._process.exitcode
        self._forget()
        if not self._served:
            raise WebDidNotStart(f"{WebDidNotStart.__doc__} (exit status {status})")
        log.error("The web service ended with status %s; it is started again in %g s", status, AGAIN_SECONDS)
        self._next_start = time.monotonic() + AGAIN_SECONDS

    def stop(self) -> None:
        """Let it answer what it was asked, and end."""
        process = self._process
        if process is None:
            return
        try:
            process.terminate()
            process.join(self._settings.stop_seconds + 5)
        finally:
            if process.is_alive():
                process.kill()
                process.join()
            self._forget()

    def check(self) -> Check:
        """Whether it is ready, by its own words."""
        found = self._ask("/health/ready")
        if found is None:
            return Check("web", False, "it does not answer")
        checks = json.loads(found)["checks"]
        wrong = [f"{name}: {each['reason']}" for name, each in checks.items() if not each["ok"]]
        return Check("web", not wrong, "; ".join(wrong) or "serves")

    def collect(self) -> Iterable[Metric]:
        """Its numbers, as a collector of `prometheus_client`."""
        from prometheus_client.parser import text_string_to_metric_families

        found = self._ask("/metrics")
        for family in text_string_to_metric_families("" if found is None else found.decode()):
            # Those of the process are told of the one that it belongs to.
            if family.name.startswith("steelyard_"):
                yield family

    def _ask(self, path: str) -> bytes | None:
        if self._health_port is None:
            return None
        connection = HTTPConnection("127.0.0.1", self._health_port, timeout=ASK_SECONDS)
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        except (OSError, HTTPException):
            return None
        finally:
            connection.close()

    def _hear(self) -> None:
        with suppress(EOFError, OSError):
            if self._news is not None and self._news.poll():
                address, self._health_port = self._news.recv()
                if not self._served:
                    self._begun(address)
                self._served = True

    def _forget(self) -> None:
        if self._news is not None:
            self._news.close()
        self._process, self._news, self._health_port = None, None, None


def _run(settings: WebSettings, news: Any, parent: int) -> None:
    """What the process does."""
    import sys

    from runtime.errors import ProcessError
    from runtime.logs import set_up_logs
    from scheduler.errors import SchedulerError
    from web.serving import serve
    from worker.errors import WorkerError

    # Ctrl-C on a terminal reaches all of a group: the one that we belong to tells us when.
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_up_logs(settings.log_format, settings.log_level, role="web")

    def begun(address: Address, health_port: int | None) -> None:
        with suppress(OSError):
            news.send((address, health_port))

    try:
        serve(settings, begun, parent=parent)
    except (ProcessError, SchedulerError, WorkerError) as error:
        print(f"steelyard: {error}", file=sys.stderr)
        sys.exit(NOT_STARTED)
