"""The web service as a supervised child process of another command: started, restarted and stopped with it.

It is spawned, not forked: the parent also forks a worker pool, and neither may inherit the other's open files.
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

KILL_SECONDS = 5.0
"""Seconds beyond `stop_seconds` in which it may still end by itself."""

RESTART_SECONDS = 5.0
"""Delay before a restart after a crash."""

HEALTH_TIMEOUT_SECONDS = 10.0
"""Timeout of a health request."""

START_FAILED_STATUS = 1
"""Exit status of a failed start; the reason is on stderr."""


class WebStartFailed(Exception):
    """Pages cannot be served; the reason is above."""


class SupervisedWeb:
    """Supervises the process: call `start`, `poll` regularly, then `stop`. `begun` is called with its address."""

    def __init__(self, settings: WebSettings, begun: Callable[[Address], None]) -> None:
        # The parent reports its health.
        port = None if settings.http_port is None else 0
        self._settings = settings.model_copy(update={"http_port": port, "http_host": "127.0.0.1"})
        self._begun = begun
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._served = False
        self._health_port: int | None = None
        self._next_start = 0.0

    def start(self) -> None:
        """Start the process; it serves about a second later."""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe(duplex=False)
        # Not a daemon process, which could have no children. It stops by itself when its parent is gone.
        self._process = context.Process(target=_run, args=(self._settings, theirs, os.getpid()), name="web")
        self._process.start()
        theirs.close()

    def poll(self) -> None:
        """Receive its address, and restart it if it died.

        Raises
        ------
        WebStartFailed
            If it never served.
        """
        if self._process is None:
            if time.monotonic() >= self._next_start:
                self.start()
            return
        self._receive_address()
        if self._process.is_alive():
            return
        status = self._process.exitcode
        self._clear()
        if not self._served:
            raise WebStartFailed(f"{WebStartFailed.__doc__} (exit status {status})")
        log.error("The web service ended with status %s; restarting in %g s", status, RESTART_SECONDS)
        self._next_start = time.monotonic() + RESTART_SECONDS

    def stop(self) -> None:
        """Stop it gracefully; kill it if it does not stop in time."""
        process = self._process
        if process is None:
            return
        try:
            process.terminate()
            process.join(self._settings.stop_seconds + KILL_SECONDS)
        finally:
            if process.is_alive():
                process.kill()
                process.join()
            self._clear()

    def check(self) -> Check:
        """Its readiness, from its own health endpoint."""
        found = self._ask("/health/ready")
        if found is None:
            return Check("web", False, "no response")
        checks = json.loads(found)["checks"]
        wrong = [f"{name}: {each['reason']}" for name, each in checks.items() if not each["ok"]]
        return Check("web", not wrong, "; ".join(wrong) or "serves")

    def collect(self) -> Iterable[Metric]:
        """Its metrics, as a collector of `prometheus_client`."""
        from prometheus_client.parser import text_string_to_metric_families

        found = self._ask("/metrics")
        for family in text_string_to_metric_families("" if found is None else found.decode()):
            # Process metrics (`process_*`) are the parent's own.
            if family.name.startswith("steelyard_"):
                yield family

    def _ask(self, path: str) -> bytes | None:
        if self._health_port is None:
            return None
        connection = HTTPConnection("127.0.0.1", self._health_port, timeout=HEALTH_TIMEOUT_SECONDS)
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        except (OSError, HTTPException):
            return None
        finally:
            connection.close()

    def _receive_address(self) -> None:
        with suppress(EOFError, OSError):
            if self._pipe is not None and self._pipe.poll():
                address, self._health_port = self._pipe.recv()
                if not self._served:
                    self._begun(address)
                self._served = True

    def _clear(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        self._process, self._pipe, self._health_port = None, None, None


def _run(settings: WebSettings, pipe: Any, parent: int) -> None:
    """Main function of the child process."""
    import sys

    from runtime.errors import ProcessError
    from runtime.logs import set_up_logs
    from runtime.tracing import set_up_traces
    from scheduler.errors import SchedulerError
    from web.serving import serve
    from worker.errors import WorkerError

    # Ctrl-C reaches the whole process group; the parent decides when to stop this process.
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_up_logs(settings.log_format, settings.log_level, role="web")
    set_up_traces(settings.traces_url, "web")

    def begun(address: Address, health_port: int | None) -> None:
        with suppress(OSError):
            pipe.send((address, health_port))

    try:
        serve(settings, begun, parent=parent)
    except (ProcessError, SchedulerError, WorkerError) as error:
        print(f"steelyard: {error}", file=sys.stderr)
        sys.exit(START_FAILED_STATUS)
