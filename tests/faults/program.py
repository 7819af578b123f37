"""The processes of a fault test: `python -m tests.faults.program worker|scheduler|twice|embedded`.

Settings come from the environment, as for the real commands.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
from pathlib import Path

from models.progress import Progress
from scheduler import dispatch, loop
from scheduler.embedded import Embedded
from tests.faults.troubled import register
from tests.scheduler.jobs import queue_job
from worker.app import run_worker
from worker.settings import Settings


def schedule() -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    loop.run(Settings(), stop)


def schedule_twice(log: Path) -> None:
    """Send every hint twice, and say so in a file."""
    send = dispatch._send

    def send_twice(engine, app, hints):  # type: ignore[no-untyped-def]
        with log.open("a") as file:
            file.writelines(f"{hint.task} {hint.key}\n" for hint in hints)
        send(engine, app, hints)
        return send(engine, app, list(reversed(hints)))

    dispatch._send = send_twice
    schedule()


def embed(segments: int, metric: str) -> None:
    """Queue a job and work on it, as a command does."""

    def show(progress: Progress) -> None:
        print(progress.shards_done, flush=True)

    with Embedded(Settings()) as embedded:
        job = queue_job(embedded.engine, Settings(), segments=segments, metrics=[metric])
        embedded.run_until_done(job.all_evaluations, show)


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    register()
    if sys.argv[1] == "worker":
        sys.exit(run_worker(Settings()))
    elif sys.argv[1] == "scheduler":
        schedule()
    elif sys.argv[1] == "twice":
        schedule_twice(Path(sys.argv[2]))
    else:
        embed(int(sys.argv[2]), sys.argv[3])
