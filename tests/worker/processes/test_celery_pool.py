"""What Celery's pool is told of its processes, and which of them it watches."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace

import pytest
from celery import signals
from kombu.asynchronous import Hub
from kombu.utils.imports import symbol_by_name

from runtime.settings import Settings
from worker.context import WorkerContext
from worker.processes import celery_pool
from worker.processes.celery_pool import prepared
from worker.processes.prefork import Processes, TaskPool
from worker.processes.start import TASKS_PER_PROCESS


@pytest.mark.parametrize(("most", "expected"), [(300 * 2**20, 300 * 1024), (0, None)])
def test_processes_are_replaced_at_the_same_limits_as_embedded_ones(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, most: int, expected: int | None
) -> None:
    """Celery counts in KiB."""
    handlers, begun, flushed = list[tuple[int, object]](), list[int](), list[int]()
    monkeypatch.setattr(celery_pool, "resident_limit", lambda _context: most)
    monkeypatch.setattr(celery_pool, "begin", lambda _context, number: begun.append(number))
    monkeypatch.setattr(celery_pool, "current_process", lambda: SimpleNamespace(index=3))
    monkeypatch.setattr(celery_pool, "flush_traces", lambda: flushed.append(1))
    monkeypatch.setattr(signal, "signal", lambda number, handler: handlers.append((number, handler)))
    app = SimpleNamespace(conf=SimpleNamespace(worker_max_memory_per_child=None))
    context = WorkerContext(Settings(database_url=sqlite_url), 2)
    with prepared(app, context):
        assert app.conf.worker_max_memory_per_child == expected
        assert app.conf.worker_max_tasks_per_child == TASKS_PER_PROCESS
        assert symbol_by_name(app.conf.worker_pool) is TaskPool
        signals.worker_process_init.send(sender=None)
        assert (begun, handlers) == ([3], [(signal.SIGTERM, signal.SIG_IGN)])
        signals.worker_process_shutdown.send(sender=None)
        assert (flushed, handlers[1:]) == ([1], [(signal.SIGTERM, signal.SIG_DFL)])
    signals.worker_process_init.send(sender=None)
    assert begun == [3], "other pools of this process are none of its business"
    context.close()


def test_a_process_that_has_ended_is_not_watched_again_when_the_broker_is_back() -> None:
    """Celery watches all of its processes again then; without a descriptor its worker would end."""
    pool, hub = object.__new__(Processes), Hub()
    # Of a pipe that stays open; Celery watches a duplicate of it.
    reader, writer = os.pipe()
    process = SimpleNamespace(_popen=SimpleNamespace(sentinel=reader))
    pool._track_child_process(process, hub)
    watched = process._sentinel_poll
    assert list(hub.readers) == [watched]
    pool._track_child_process(process, hub)
    assert list(hub.readers) == [watched], "a process that goes on is watched"
    pool._untrack_child_process(process, hub)
    pool._track_child_process(process, hub)
    assert not hub.readers
    hub.close()
    os.close(reader)
    os.close(writer)
