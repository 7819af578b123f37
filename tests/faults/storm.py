"""A storm: jobs one after the other, and faults drawn from a seed, until the time is over.

`python -m tests.faults.storm --seed 7 --seconds 60` brings its own servers, says which faults it did, and fails when an
evaluation has not ended as it would have in calm weather, to the bit. Faults are the same for a seed; what they hit
depends on the machine.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from sqlalchemy import exists, func, select
from sqlalchemy.exc import DBAPIError

from models.database.session import make_engine, reading
from models.queue.lease import is_open
from models.queue_status.progress import read_comparison_progress
from models.schema.learned import LearnedColumn, LearnedShard
from models.schema.queue import Comparison, CorpusCount, Evaluation, Reduction, Shard, Trials, Worker
from models.schema.states import ColumnState, LeaseState, QueueClass
from tests.faults.campaigns import Job, Outcomes, Tests, compare, outcomes, randomizations
from tests.faults.cluster import Cluster, children, until
from tests.faults.servers.broker import Broker

Found = TypeVar("Found")

SEED, SECONDS = "STEELYARD_STORM_SEED", "STEELYARD_STORM_SECONDS"
"""Environment variables of the test."""

WORKERS = ("worker 1", "worker 2")
LEARNED = ("learned 1", "learned 2")
SCHEDULERS = ("scheduler 1", "scheduler 2")
GAP = (0.2, 1.2)
"""Seconds between two faults."""

WAITING = 40
"""A new job comes when fewer shards than this wait."""

LEASED = (Shard, Reduction, CorpusCount, Trials, LearnedShard)
"""Tables of what workers hold."""

SETTINGS = {
    "concurrency": 2,
    "silent_seconds": 3.0,
    "sweep_seconds": 0.2,
    "beat_seconds": 0.3,
    "resend_seconds": 5.0,
    "empty_seconds": 0.5,
    "retry_seconds": 0.05,
    "task_seconds": 20.0,
    "lease_seconds": 30.0,
    "lost_process_seconds": 0.3,
    # A text that makes trouble fails soon, and what is hit by a fault again and again does not.
    "max_attempts": 8,
}

KINDS: tuple[tuple[str, ...], ...] = (
    ("troubled:pause=0.05", "bleu"),
    ("careful:pause=0.05", "nist"),
    ("bleu", "chrf", "weary:pause=0.1"),
    ("troubled:pause=0.1", "careful:pause=0.02", "wer"),
    ("wer", "patient:pause=0.005"),
)
TROUBLED, PATIENT = 3, 4
"""Which of them has a text that cannot be scored, and which waits for learned workers."""


def draw_job(draw: random.Random, number: int, kind: int) -> Job:
    """A job of 8 to 30 shards."""
    return Job(
        seed=number,
        metrics=KINDS[kind],
        segments=draw.randrange(256 * 8, 256 * 30),
        systems=draw.randint(1, 3),
        team=draw.choice("abc"),
        queue_class=draw.choice(list(QueueClass)),
        trouble={0: b"RAISE "} if kind == TROUBLED else {},
    )


class Storm:
    """Faults for a cluster with its own broker."""

    def __init__(self, cluster: Cluster, broker: Broker, seed: int) -> None:
        self.draw = random.Random(seed)
        self.cluster = cluster
        self.broker = broker
        self.jobs: list[Job] = []
        self.compared: list[Job] = []
        self.done = Counter[str]()
        self._starts = 0
        self._later: list[tuple[float, Callable[[], object]]] = []
        self._away: set[str] = set()
        """Workers that are frozen, or killed and not yet started again."""
        self._faults: dict[str, Callable[[], str]] = {
            "pool processes are killed": self._kill_pool,
            "a worker is killed": self._kill_worker,
            "a worker is frozen": self._freeze,
            "a learned worker is killed": self._kill_learned,
            "a learned worker is frozen": self._freeze_learned,
            "the broker is emptied": self._empty,
            "the broker is killed": self._kill_broker,
            "the broker has no memory": self._starve,
            "the broker hangs": self._hang,
            "a scheduler is killed": self._kill_scheduler,
            "connections to the database are cut": self._cut,
        }

    def blow(self, seconds: float) -> None:
        """Begin, make trouble for so long, and let everything end. Raises AssertionError."""
        for scheduler in SCHEDULERS:
            self._start_scheduler(scheduler)
        for worker in WORKERS + LEARNED:
            self._start_worker(worker)
        self._queue()
        until(self.cluster.running, "a running shard")
        end = time.monotonic() + seconds
        pending = list(self._faults)
        while time.monotonic() < end or len(self.done) < len(self._faults):
            if self._waiting() < WAITING:
                self._queue()
            self._compare()
            if not pending:
                pending = list(self._faults)
            # Each once, in any order, before one comes again.
            name = pending.pop(self.draw.randrange(len(pending)))
            what = self._faults[name]()
            self.done[name] += 1
            print(f"{seconds - end + time.monotonic():6.1f} s  {name}: {what}", flush=True)
            self._wait(time.monotonic() + self.draw.uniform(*GAP))
        self._wait(max([time.monotonic(), *(due for due, _ in self._later)]))

    def check(self, calm: Outcomes, seconds: float) -> None:
        """Wait for the end, and compare. Raises AssertionError."""
        with reading(self.cluster.engine) as connection:
            evaluations = list(connection.scalars(select(Evaluation.id)))
        began = time.monotonic()
        self.cluster.wait(evaluations, seconds)
        until(lambda: self._columns() == {ColumnState.DONE}, "the end of all learned columns", seconds)
        print(f"{time.monotonic() - began:.1f} s until the last evaluation ended")
        found = outcomes(self.cluster.engine)
        assert found.keys() == calm.keys()
        wrong = [key for key in calm if found[key] != calm[key]]
        assert not wrong, f"these ended otherwise: {wrong}"
        with reading(self.cluster.engine) as connection:
            assert set(connection.scalars(select(Evaluation.remaining).where(Evaluation.state == "done"))) == {0}
            reasons = connection.scalars(select(Evaluation.reason).where(Evaluation.state == "failed")).all()
        # The storm may hit the last attempt, too.
        others = [reason for reason in reasons if "this text makes trouble" not in (reason or "")]
        assert all(reason and f"tried {SETTINGS['max_attempts']} times" in reason for reason in others), others
        print(f"{len(reasons)} failed as they must, {len(others)} of them hit by a fault at the last attempt: {others}")

    def check_tests(self, calm: Tests, seconds: float) -> None:
        """Wait for the end of all comparisons, and look at them. Raises AssertionError."""

        def ended() -> bool:
            with reading(self.cluster.engine) as connection:
                comparisons = list(connection.scalars(select(Comparison.id)))
                progress = read_comparison_progress(connection, comparisons)
                assert not progress.failures
                return not progress.open

        until(ended, "the end of all comparisons", seconds)
        assert randomizations(self.cluster.engine) == calm

    def claims(self) -> int:
        """How many claims came after the first of each row, which faults made necessary."""
        with reading(self.cluster.engine) as connection:
            return sum(
                connection.execute(
                    select(func.coalesce(func.sum(table.attempts - 1), 0)).where(table.attempts > 1)
                ).scalar_one()
                for table in LEASED
            )

    def _columns(self) -> set[str]:
        """The states of the learned columns."""
        with reading(self.cluster.engine) as connection:
            return set(connection.scalars(select(LearnedColumn.state)))

    def _wait(self, end: float) -> None:
        while True:
            for due, action in sorted(self._later, key=lambda entry: entry[0]):
                if due <= time.monotonic():
                    self._later.remove((due, action))
                    action()
            if time.monotonic() >= end:
                return
            time.sleep(0.02)

    def _soon(self, least: float, most: float, action: Callable[[], object]) -> float:
        seconds = self.draw.uniform(least, most)
        self._later.append((time.monotonic() + seconds, action))
        return seconds

    def _queue(self, kind: int | None = None) -> None:
        number = len(self.jobs) + 1
        job = draw_job(self.draw, number, number % len(KINDS) if kind is None else kind)
        self.jobs.append(job)
        # A command whose connection is cut stores nothing, and is given again.
        until(lambda: self._try(lambda: job.queue(self.cluster.engine)), "a job that is taken in")

    def _compare(self) -> None:
        """Ask for the tests of the first job that may be compared and is done."""
        for job in self.jobs:
            if "weary" not in job.metrics[-1] or job.systems < 2 or job in self.compared:
                continue
            states = until(lambda: self._try(lambda: outcomes(self.cluster.engine)), "an answer")
            if {state for (campaign, *_), (state, _) in states.items() if campaign == f"campaign {job.seed}"} == {
                "done"
            }:
                until(lambda job=job: self._try(lambda: compare(self.cluster.engine, job)), "a comparison")
                self.compared.append(job)
            return

    def _waiting(self) -> int:
        waits = (LeaseState.PENDING, LeaseState.ENQUEUED)
        return until(lambda: self._try(lambda: self.cluster.shards(*waits) + 1), "an answer") - 1

    def _try(self, action: Callable[[], Found]) -> Found | None:
        with suppress(DBAPIError):
            return action()
        return None

    def _start_worker(self, name: str) -> None:
        self.cluster.start(name, "learned" if name in LEARNED else "worker")
        self._away.discard(name)

    def _start_scheduler(self, name: str) -> None:
        self._starts += 1
        kind = self.draw.choice(("scheduler", "disorder", "lossy", "usurper"))
        log = str(self.cluster.folder / f"{kind} {self._starts}")
        arguments = {"scheduler": [], "lossy": [str(self.draw.randrange(1000))]}.get(kind, [log])
        self.cluster.start(name, kind, *arguments)

    def _holding(self, workers: Sequence[str]) -> list[str]:
        """Those of the workers that are not away and hold work. None may have ended by itself."""
        for name in workers:
            assert name in self._away or self.cluster.processes[name].poll() is None, self.cluster.log(name)
        with reading(self.cluster.engine) as connection:
            held = {
                worker
                for table in LEASED
                for worker in connection.scalars(select(table.worker).where(table.state == LeaseState.RUNNING))
            }
            pids = set(connection.scalars(select(Worker.pid).where(Worker.id.in_(held))))
        return [name for name in workers if self.cluster.processes[name].pid in pids and name not in self._away]

    def _catch(self, workers: Sequence[str]) -> str:
        """Freeze one of the workers that holds work; which it is."""

        def caught() -> str | None:
            # One that is frozen may be the only one that holds anything.
            self._wait(time.monotonic())
            holding = self._holding(workers)
            if not holding:
                self._keep_busy(workers)
                return None
            worker = holding[self.draw.randrange(2) % len(holding)]
            self.cluster.freeze(worker)
            if worker in self._holding(workers):
                return worker
            self.cluster.thaw(worker)
            return None

        return until(lambda: self._try(caught), "a worker that holds work")

    def _keep_busy(self, workers: Sequence[str]) -> None:
        """Give workers that have done everything more: shards may be done before one is caught."""
        table = LearnedShard if workers is LEARNED else Shard
        with reading(self.cluster.engine) as connection:
            busy = connection.scalar(select(exists().where(is_open(table))))
        if not busy:
            self._queue(PATIENT if workers is LEARNED else None)

    def _kill_pool(self) -> str:
        worker, number = self._catch(WORKERS), self.draw.randrange(3)
        pool = children(self.cluster.processes[worker].pid)
        # One of two, or both.
        victims = pool if number == 2 else pool[number : number + 1]
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
        self.cluster.thaw(worker)
        return f"{len(victims)} of {worker}"

    def _kill_worker(self, workers: Sequence[str] = WORKERS) -> str:
        worker = self._catch(workers)
        self._away.add(worker)
        self.cluster.kill(worker)
        self._soon(0.0, 0.5, lambda: self._start_worker(worker))
        return worker

    def _freeze(self, workers: Sequence[str] = WORKERS) -> str:
        worker = self._catch(workers)
        self._away.add(worker)
        seconds = self._soon(0.5, 5.0, lambda: self._thaw(worker))
        return f"{worker} for {seconds:.1f} s"

    def _kill_learned(self) -> str:
        return self._kill_worker(LEARNED)

    def _freeze_learned(self) -> str:
        return self._freeze(LEARNED)

    def _thaw(self, worker: str) -> None:
        self._away.discard(worker)
        self.cluster.thaw(worker)

    def _empty(self) -> str:
        lost = self.broker.messages()
        self.broker.client.flushall()
        return f"{lost} messages"

    def _kill_broker(self) -> str:
        self.broker.kill()
        seconds = self.draw.uniform(0.0, 1.0)
        time.sleep(seconds)
        self.broker.start()
        return f"for {seconds:.1f} s"

    def _starve(self) -> str:
        self.broker.starve()
        seconds = self.draw.uniform(0.2, 1.5)
        time.sleep(seconds)
        self.broker.feed()
        return f"for {seconds:.1f} s"

    def _hang(self) -> str:
        self.broker.freeze()
        seconds = self.draw.uniform(0.5, 3.0)
        time.sleep(seconds)
        self.broker.thaw()
        return f"for {seconds:.1f} s"

    def _kill_scheduler(self) -> str:
        scheduler = self.draw.choice(SCHEDULERS)
        self.cluster.kill(scheduler)
        self._start_scheduler(scheduler)
        return scheduler

    def _cut(self) -> str:
        half = (
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() "
            f"AND pid <> pg_backend_pid() AND mod(pid, 2) = {self.draw.randrange(2)}"
        )
        engine = make_engine(self.cluster.engine.url.render_as_string(hide_password=False), pooled=False)
        with reading(engine) as connection:
            cut = connection.exec_driver_sql(half).scalar_one()
        return f"{cut} of them"


def main() -> None:
    """Let the test do it, for it brings the servers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--seconds", type=float, default=60.0)
    chosen = parser.parse_args()
    os.environ[SEED], os.environ[SECONDS] = str(chosen.seed), str(chosen.seconds)
    test = Path(__file__).with_name("test_storm.py")
    os.execv(sys.executable, [sys.executable, "-m", "pytest", "-q", "-s", "-m", "long", str(test)])


if __name__ == "__main__":
    main()
