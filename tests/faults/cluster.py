"""Workers and schedulers as processes of their own, and what the database says of them."""

from __future__ import annotations

import atexit
import os
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Engine, func, select

from models.database.session import make_engine, reading
from models.queue_status.progress import read_progress
from models.schema.queue import Evaluation, Shard, Worker
from models.schema.results import Score
from models.schema.states import LeaseState
from runtime.settings import Settings
from tests.faults.nursery import Forked, Nursery
from tests.faults.troubled import MARKS

Result = TypeVar("Result")
REPOSITORY = Path(__file__).parents[2]
SHORT_TIMES = {
    "concurrency": 2,
    "silent_seconds": 6.0,
    "sweep_seconds": 0.2,
    "beat_seconds": 0.3,
    "resend_seconds": 2.0,
    "retry_seconds": 0.1,
    "task_seconds": 10.0,
    "lease_seconds": 12.0,
}
"""Settings with which what is lost is noticed within seconds."""
PATIENCE = 180.0


def until(condition: Callable[[], Result], what: str, seconds: float = PATIENCE) -> Result:
    """Wait for a condition; its first true value."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}"
        time.sleep(0.01)
    return found


def children(pid: int) -> list[int]:
    """The child processes of a process, whichever of its threads forked them."""
    found: list[int] = []
    for each in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # a thread that ends between the look and the reading has no children left
            found += [int(child) for child in each.read_text().split()]
    return found


@cache
def nursery() -> Nursery:
    """The nursery of this process, which ends with it."""
    folder = tempfile.TemporaryDirectory(prefix="steelyard-nursery-")
    made = Nursery(Path(folder.name), REPOSITORY)
    atexit.register(folder.cleanup)
    atexit.register(made.close)
    return made


class Cluster:
    """Processes that share a database and a broker; all are gone at the end of the context."""

    def __init__(self, folder: Path, database_url: str, broker_url: str, **settings: object) -> None:
        self.folder = folder
        self.engine: Engine = make_engine(database_url)
        self.processes: dict[str, Forked] = {}
        values: dict[str, Any] = {"database_url": database_url, "broker_url": broker_url, **settings}
        self.settings = Settings(**values)
        named = {f"STEELYARD_{name.upper()}": str(value) for name, value in values.items()}
        self.environment = {
            **os.environ,
            **named,
            MARKS: str(folder),
            "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY}/library:{REPOSITORY}/client",
        }

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *error: object) -> None:
        for name, process in self.processes.items():
            if process.poll() is None:
                self.kill(name)
        self.engine.dispose()

    def start(self, name: str, *arguments: str, **environment: str) -> Forked:
        """Start `tests.faults.program` with these arguments, in a process group of its own.

        `environment` has more variables for it.
        """
        # Its log is there as soon as it is.
        (self.folder / f"{name}.log").touch()
        process = nursery().fork([*arguments], {**self.environment, **environment}, self.folder / f"{name}.log")
        self.processes[name] = process
        return process

    def start_worker(self, name: str = "worker", kind: str = "worker", **environment: str) -> Forked:
        """Start a worker, or with `kind` "learned" a learned one, and wait until its row is there."""
        process = self.start(name, kind, **environment)

        def beats() -> bool:
            assert process.poll() is None, self.log(name)
            with reading(self.engine) as connection:
                return process.pid in set(connection.scalars(select(Worker.pid)))

        until(beats, "the worker's row")
        return process

    def kill(self, name: str) -> None:
        """SIGKILL for the process and all its children."""
        process = self.processes[name]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)

    def freeze(self, name: str) -> None:
        """SIGSTOP for the process and all its children."""
        os.killpg(self.processes[name].pid, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """SIGCONT for the process and all its children."""
        os.killpg(self.processes[name].pid, signal.SIGCONT)

    def in_transaction(self) -> int:
        """Connections to this PostgreSQL database that are in the middle of a transaction, but ours."""
        with reading(self.engine) as connection:
            counted = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid() AND state <> 'idle'"
            )
            return int(connection.exec_driver_sql(counted).scalar_one())

    def log(self, name: str) -> str:
        """What a process has written."""
        return (self.folder / f"{name}.log").read_text()

    def wait(self, evaluations: list[int], seconds: float = PATIENCE) -> None:
        """Wait until no evaluation is open."""

        def ended() -> bool:
            with reading(self.engine) as connection:
                return not read_progress(connection, evaluations).open

        until(ended, "the end of all evaluations", seconds)

    def wait_for_all(self) -> None:
        """Wait until no evaluation of the database is open."""
        with reading(self.engine) as connection:
            evaluations = list(connection.scalars(select(Evaluation.id)))
        self.wait(evaluations)

    def running(self) -> list[tuple[int, int]]:
        """Shards that run now: (id, attempts)."""
        with reading(self.engine) as connection:
            rows = connection.execute(select(Shard.id, Shard.attempts).where(Shard.state == LeaseState.RUNNING))
            return [(row.id, row.attempts) for row in rows]

    def shards(self, *states: LeaseState) -> int:
        """How many shards there are, or are in one of the states."""
        with reading(self.engine) as connection:
            counted = select(func.count()).select_from(Shard)
            return connection.execute(counted.where(Shard.state.in_(states)) if states else counted).scalar_one()

    def done(self) -> int:
        """How many shards are done."""
        return self.shards(LeaseState.DONE)

    def attempts(self, shard: int) -> int:
        """How often a shard was claimed."""
        with reading(self.engine) as connection:
            return connection.execute(select(Shard.attempts).where(Shard.id == shard)).scalar_one()


Scores = dict[tuple[int, int], tuple[str, float | None, bytes, bytes]]


def stored_scores(engine: Engine) -> Scores:
    """All scores, to the bit: (submission, metric) -> signature, score, sums, replicate scores."""
    with reading(engine) as connection:
        rows = connection.execute(
            select(Score, Evaluation.submission_id).join(Evaluation, Evaluation.id == Score.evaluation_id)
        ).all()
    return {(row.submission_id, row.metric): (row.signature, row.score, row.sums, row.replicate_scores) for row in rows}
