"""What Celery's pool is told of the memory of its processes."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import pytest
from celery import signals

from runtime.settings import Settings
from worker.context import WorkerContext
from worker.processes import celery_pool
from worker.processes.celery_pool import prepared
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
        signals.worker_process_init.send(sender=None)
        assert (begun, handlers) == ([3], [(signal.SIGTERM, signal.SIG_IGN)])
        signals.worker_process_shutdown.send(sender=None)
        assert (flushed, handlers[1:]) == ([1], [(signal.SIGTERM, signal.SIG_DFL)])
    signals.worker_process_init.send(sender=None)
    assert begun == [3], "other pools of this process are none of its business"
    context.close()
