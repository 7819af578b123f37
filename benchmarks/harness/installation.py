"""Scheduler and workers for a benchmark: embedded, or beside a Redis and a PostgreSQL that the environment names."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import func, select

from benchmarks.harness.processes import start
from models.database import migrate
from models.database.session import make_engine, reading
from models.schema.queue import Worker
from runtime.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Engine

Result = TypeVar("Result")

DEADLINE = 60.0


@dataclass(frozen=True)
class Busy:
    """Whether the script still runs."""

    open: int


class Installation:
    """Settings and an engine for scripts, and how to run one while work is done."""

    def __init__(self, settings: Settings, engine: Engine, processes: int) -> None:
        self.settings = settings
        self.engine = engine
        self.processes = processes

    def during(self, script: Callable[[], Result]) -> Result:
        """Call the script while the workers work; what it returns."""
        if not self.settings.embedded:
            return script()
        from scheduler.embedded.processes import Embedded

        found: list[Result] = []
        thread = threading.Thread(target=lambda: found.append(script()), daemon=True)
        with Embedded(self.settings, self.processes) as embedded:
            thread.start()

            def read(_connection: Connection) -> Busy:
                return Busy(int(thread.is_alive()))

            embedded.run_until(read)
        if not found:
            raise RuntimeError("The script of the benchmark has failed; see above.")
        return found[0]


@contextmanager
def installation(processes: int) -> Iterator[Installation]:
    """An empty database, with a scheduler and a worker where the environment names a broker and a PostgreSQL."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings()
        if settings.embedded:
            settings = settings.model_copy(update={"database_url": f"sqlite:///{folder}/steelyard.db"})
        migrate.upgrade(settings.database_url)
        engine = make_engine(settings.database_url)
        others = []
        try:
            if not settings.embedded:
                program = [sys.executable, "-m", "cli.main"]
                others.append(start("scheduler", [*program, "scheduler"], {}, quiet=True))
                others.append(start("worker", [*program, "worker", "--concurrency", str(processes)], {}, quiet=True))
                _await_worker(engine)
            yield Installation(settings, engine, processes)
        finally:
            for other in others:
                other.stop()
            engine.dispose()


def _await_worker(engine: Engine) -> None:
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        with reading(engine) as connection:
            if connection.scalar(select(func.count()).select_from(Worker)):
                return
        time.sleep(0.05)
    raise RuntimeError(f"The worker did not start within {DEADLINE:.0f} s.")
