"""The learned worker of a command with embedded workers: a process of its own, started when something waits for it."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from contextlib import suppress

from sqlalchemy import Engine, exists, select

from models.database.session import autocommit_reading
from models.schema.learned import LearnedShard
from models.schema.states import LeaseState
from runtime.settings import Settings

log = logging.getLogger(__name__)

RESTART_SECONDS = 5.0
"""Seconds between two starts of a worker that ends by itself."""
END_SECONDS = 5.0
"""Seconds that it may take to release its work, beyond those in which running work may finish."""

_WAITING = select(exists().where(LearnedShard.state == LeaseState.PENDING))


class LearnedProcess:
    """A learned worker from the first `look` that finds work until `stop`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._next_start = 0.0

    def look(self, engine: Engine) -> None:
        """Start the worker if something waits for one and none is running."""
        if self._process is not None and self._process.poll() is None:
            return
        if time.monotonic() < self._next_start:
            return
        with autocommit_reading(engine) as connection:
            if not connection.scalar(_WAITING):
                return
        if self._process is not None:
            log.warning(
                "The worker of learned metrics has ended (exit status %s): another begins", self._process.poll()
            )
        self._start()

    def stop(self) -> None:
        """End the worker, which releases what it was doing."""
        process = self._process
        if process is None:
            return
        process.terminate()
        # A second signal: what it computed is stored, and a command that ends need not wait for the rest.
        time.sleep(0.05)
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._process = None

    def _start(self) -> None:
        self._next_start = time.monotonic() + RESTART_SECONDS
        # -P: modules in the current folder must not take the place of ours.
        command = [sys.executable, "-P", "-m", "worker.learned.child"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE)  # noqa: S603 - our own program
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(self._settings.model_dump_json().encode())
            self._process.stdin.close()
