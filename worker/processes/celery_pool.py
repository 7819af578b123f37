"""Processes of Celery's pool: they begin as those of the embedded one do, and end when their parent tells them to."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from billiard import current_process
from celery import signals

from worker.context import WorkerContext
from worker.processes.start import TASKS_PER_PROCESS, begin, resident_limit


@contextmanager
def prepared(app: Any, context: WorkerContext) -> Iterator[None]:
    """Let the processes of pools that are forked meanwhile do so."""
    app.conf.worker_max_tasks_per_child = TASKS_PER_PROCESS
    if most := resident_limit(context):
        app.conf.worker_max_memory_per_child = most // 1024

    def on_start(**_: object) -> None:
        # systemd and shells tell all processes of a group, and billiard's would break off in the middle. The parent
        # hears the same, and sees to it that they end: by a message where they are idle, by SIGKILL where they take
        # too long.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        begin(context, current_process().index)

    def on_end(**_: object) -> None:
        # One that has nothing left to do waits a second for its parent to end it so.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    signals.worker_process_init.connect(on_start, weak=False)
    signals.worker_process_shutdown.connect(on_end, weak=False)
    try:
        yield
    finally:
        signals.worker_process_init.disconnect(on_start)
        signals.worker_process_shutdown.disconnect(on_end)
