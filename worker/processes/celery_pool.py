"""Celery's pool processes: they start like embedded ones, and exit when their parent tells them to."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from billiard import current_process
from celery import signals

from runtime.tracing import flush_traces
from worker.context import WorkerContext
from worker.processes.start import TASKS_PER_PROCESS, begin, resident_limit


@contextmanager
def prepared(app: Any, context: WorkerContext) -> Iterator[None]:
    """Initialize pool processes that are forked within this context."""
    app.conf.worker_pool = "worker.processes.prefork:TaskPool"
    app.conf.worker_max_tasks_per_child = TASKS_PER_PROCESS
    if most := resident_limit(context):
        app.conf.worker_max_memory_per_child = most // 1024

    def on_start(**_: object) -> None:
        # systemd and shells signal all processes of a group, and billiard's would exit in mid-task. The parent receives
        # the same signal and ends them: by a message if idle, by SIGKILL if they take too long.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        begin(context, current_process().index)

    def on_end(**_: object) -> None:
        # An idle process waits a second for its parent to end it this way.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        flush_traces()

    signals.worker_process_init.connect(on_start, weak=False)
    signals.worker_process_shutdown.connect(on_end, weak=False)
    try:
        yield
    finally:
        signals.worker_process_init.disconnect(on_start)
        signals.worker_process_shutdown.disconnect(on_end)
