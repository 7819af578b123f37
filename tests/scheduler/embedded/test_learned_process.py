"""The learned worker beside an embedded pool: started where work waits, and gone when the command ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

import pytest
from sqlalchemy import Engine

from models.database.session import make_engine
from runtime.settings import Settings
from scheduler.embedded import learned
from scheduler.embedded.learned import LearnedProcess


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    return make_engine(sqlite_url)


def test_one_that_does_not_end_is_killed(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds a model in memory, and maybe a device."""
    monkeypatch.setattr(learned, "END_SECONDS", 0.1)
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
    with subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        worker = LearnedProcess(Settings(database_url=sqlite_url))
        worker._process = process
        worker.stop()
        status = process.poll()
        process.kill()
        assert status == -signal.SIGKILL
        worker.stop()


class Ended:
    """A process that ended by itself, or goes on."""

    def __init__(self, status: int | None) -> None:
        self.status = status

    def poll(self) -> int | None:
        return self.status


def test_it_is_started_once_and_again_where_it_ended(
    engine: Engine, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = LearnedProcess(Settings(database_url=sqlite_url))
    started, waits, now = list[int](), [False], [1000.0]

    def start() -> None:
        started.append(1)
        worker._next_start = now[0] + learned.RESTART_SECONDS
        worker._process = Ended(None)  # type: ignore[assignment]

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return now[0]

    class Waiting:
        def __enter__(self) -> Waiting:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def scalar(self, _statement: Any) -> bool:
            return waits[0]

    monkeypatch.setattr(worker, "_start", start)
    monkeypatch.setattr(learned, "time", Clock)
    monkeypatch.setattr(learned, "autocommit_reading", lambda _engine: Waiting())
    worker.look(engine)
    assert not started, "nothing waits for it"
    waits[0] = True
    worker.look(engine)
    worker.look(engine)
    assert len(started) == 1
    worker._process = Ended(1)  # type: ignore[assignment]
    worker.look(engine)
    assert len(started) == 1, "not at once: it may end again and again"
    now[0] += learned.RESTART_SECONDS
    worker.look(engine)
    assert len(started) == 2
