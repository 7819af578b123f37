"""Threads of the embedded pool: they look as often as billiard's do, and rest only until they are told to end."""

import os
import signal
import time
from io import BytesIO
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from billiard.exceptions import RestartFreqExceeded
from billiard.pool import CLOSE, RUN
from sqlalchemy import Connection

from models.queue_status.progress import Progress, read_progress
from scheduler.embedded import pool as embedded_pool
from scheduler.embedded.pool import BURST, _Keeper, _Limits, _WholeMessages
from scheduler.embedded.processes import Embedded
from tests.scheduler.jobs import one_block_shards, queue_job

HOUR = 3600.0
ENOUGH = 30.0


@pytest.mark.parametrize("dying", [1, 4])
def test_what_a_process_takes_to_its_grave_before_it_says_so_is_done_by_others(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dying: int
) -> None:
    """Twice as many as there are processes would leave none at work."""
    marks, parent, read = tmp_path / "marks", os.getpid(), _WholeMessages._recv_bytes

    def read_and_die(self: _WholeMessages, maxsize: int | None = None) -> BytesIO:
        message = read(self, maxsize)
        if os.getpid() != parent:
            with marks.open("ab") as file:
                file.write(b"x")
                file.flush()
                if file.tell() <= dying:
                    os.kill(os.getpid(), signal.SIGKILL)
        return message

    monkeypatch.setattr(_WholeMessages, "_recv_bytes", read_and_die)
    settings = one_block_shards(sqlite_url, hint_seconds=1.0, concurrency=2)
    deadline = time.monotonic() + 60.0

    def progress(connection: Connection) -> Progress:
        assert time.monotonic() < deadline, "nobody works any more"
        return read_progress(connection, job.all_evaluations)

    with Embedded(settings) as embedded:
        job = queue_job(embedded.engine, settings, segments=256 * 9, systems=2)
        assert embedded.run_until(progress).done == 2
    assert marks.stat().st_size > dying


def pool_that(maintain: Any) -> SimpleNamespace:
    """What a keeper sees of a pool."""
    return SimpleNamespace(_state=RUN, _processes=2, restart_state="usual", _maintain_pool=maintain)


@pytest.mark.parametrize("end", ["close", "terminate"])
def test_they_end_when_told_to(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_pool, "_rests", lambda: repeat(HOUR))
    monkeypatch.setattr(embedded_pool, "LIMITS_SECONDS", HOUR)
    for thread in (_Keeper(pool_that(lambda: None)), _Limits([], {}, None, None)):
        thread.start()
        getattr(thread, end)()
        thread.join(ENOUGH)
        assert not thread.is_alive()


def test_more_processes_may_die_just_after_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_pool, "_rests", lambda: repeat(0.0))
    states = []

    def maintain() -> None:
        states.append(pool.restart_state)
        if len(states) == BURST + 2:
            pool._state = CLOSE

    pool = pool_that(maintain)
    _Keeper(pool).body()
    assert [state == "usual" for state in states] == [False] * BURST + [True] * 2
    assert states[0].maxR == 20


def test_a_pool_whose_processes_die_all_the_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_pool, "_rests", lambda: repeat(0.0))

    def maintain() -> None:
        raise RestartFreqExceeded

    pool = pool_that(maintain)
    ended: list[str] = []
    pool.close, pool.join = lambda: ended.append("closed"), lambda: ended.append("joined")
    with pytest.raises(RestartFreqExceeded):
        _Keeper(pool).body()
    assert ended == ["closed", "joined"]
