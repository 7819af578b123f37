"""What PostgreSQL and the scheduler spend on a shard where 800 processes work beside a million finished shards.

    python -m benchmarks.crowd [--workers 100] [--processes 8] [--rate 200] [--small] [--finished 1000000] [--pgbouncer]

Starts Redis and PostgreSQL, fills the tables, and lets two schedulers and processes that compute nothing work
(`benchmarks.crowd.clients`) while retention deletes half of what is finished. Then the leading scheduler is frozen.
In the end every shard must have been counted once. PostgreSQL's own log says which statements took over 10 ms.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from benchmarks.crowd.tables import METRICS, fill
from benchmarks.harness.machine import load
from benchmarks.harness.processes import cpu_seconds, start
from benchmarks.harness.servers import running
from models.database import migrate
from models.database.session import make_engine
from runtime.settings import Settings
from scheduler.dispatch import _window
from tests.pooler import pooled
from worker.tasks import MOST_TOGETHER

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.processes import Watched

PROGRAM = (sys.executable, "-m", "cli.main")
AT_ONCE = 25
"""Workers of one process of clients: threads of one process wait for each other."""
SLOW_MS = 10
SMALL_SECONDS = 0.02
"""That a small shard is estimated to take."""
WARM_SHARDS = 15
SERVER = ("max_connections=2000", "logging_collector=on", "log_directory=log", f"log_min_duration_statement={SLOW_MS}",
          "log_line_prefix=", "shared_buffers=1GB", "pg_stat_statements.track_planning=on")  # fmt: skip
SETTLE_SECONDS = 600.0
STATEMENTS = """
SELECT r.rolname, s.calls, s.total_exec_time, s.total_plan_time, s.query
FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid ORDER BY s.total_exec_time + s.total_plan_time DESC
"""
LOST_OR_DOUBLE = """
SELECT
  (SELECT count(*) FROM evaluation e WHERE state IN ('queued', 'running') AND remaining <> (
     SELECT count(*) FROM shard_evaluation x JOIN shard s ON s.id = x.shard_id
     WHERE x.evaluation_id = e.id AND s.state <> 'done')),
  (SELECT count(*) FROM evaluation e WHERE finished_at > %(begun)s AND (
     SELECT count(*) FROM score WHERE evaluation_id = e.id) <> %(metrics)s),
  (SELECT count(*) FROM shard WHERE state = 'failed')
"""


class Crowd:
    """What has been started, and what it has used so far."""

    def __init__(self, database: psycopg.Connection[Any], postgres: int, schedulers: list[Watched]) -> None:
        self.database, self.postgres, self.schedulers = database, postgres, schedulers
        self.log = Path(self._value("SHOW data_directory")) / "log"

    def _value(self, query: str, **values: object) -> Any:
        row = self.database.execute(query, values).fetchone()
        assert row is not None
        return row[0]

    def done(self) -> int:
        """Shards that have ended in the last minutes, those that retention deleted aside."""
        return int(self._value("SELECT count(*) FROM shard WHERE ended_at > %(begun)s", begun=self.begun))

    begun = 0.0

    def kept(self) -> int:
        """All shards of the tables."""
        return int(self._value("SELECT count(*) FROM shard"))

    def slow(self) -> list[str]:
        """The lines of PostgreSQL's log that begin a slow statement."""
        lines = [line for file in sorted(self.log.iterdir()) for line in file.read_text(errors="replace").splitlines()]
        return [line for line in lines if "duration:" in line]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--processes", type=int, default=8, help="of each worker")
    parser.add_argument("--rate", type=float, default=200, help="shards a second to aim at: each is held accordingly")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--finished", type=int, default=1_000_000)
    parser.add_argument("--waiting", type=int, default=60_000)
    parser.add_argument("--small", action="store_true", help="small shards, which travel together")
    parser.add_argument("--pgbouncer", action="store_true", help="in transaction mode before PostgreSQL")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with running(*SERVER) as variables:
        url = variables["STEELYARD_DATABASE_URL"]
        if not options.pgbouncer:
            measure(options, variables)
            return
        with pooled(url) as through:
            measure(options, variables | {"STEELYARD_DATABASE_URL": through, "STEELYARD_LISTEN_URL": url}, url)


def measure(options: argparse.Namespace, variables: dict[str, str], direct: str | None = None) -> None:
    """Fill the tables, start everything, and watch it."""
    url = direct or variables["STEELYARD_DATABASE_URL"]
    os.environ |= variables | {"STEELYARD_TOGETHER_SECONDS": "0.25" if options.small else "0"}
    migrate.upgrade(url)
    engine = make_engine(url, relaxed=True)
    fill(engine, Settings(), options.finished, options.waiting, SMALL_SECONDS if options.small else 1.0)
    engine.dispose()
    pool = options.workers * options.processes
    size = MOST_TOGETHER if options.small else 1
    # As many processes work as there are messages in a full window.
    window = _window(Settings(), pool, Settings().together_seconds).open_places(0.0)
    hold = min(pool, window / size) / options.rate
    with psycopg.connect(f"{url.rpartition('/')[0]}/postgres", autocommit=True) as administrator:
        administrator.execute("CREATE ROLE scheduler LOGIN SUPERUSER")
        postmaster = Path(administrator.execute("SHOW data_directory").fetchone()[0]) / "postmaster.pid"  # type: ignore[index]
        postgres = int(postmaster.read_text().split()[0])
        own = variables | {
            "STEELYARD_DATABASE_URL": variables["STEELYARD_DATABASE_URL"].replace("//steelyard@", "//scheduler@")
        }
        schedulers = [start("scheduler", [*PROGRAM, "scheduler"], own, quiet=True)]
        time.sleep(5)
        schedulers.append(start("standby", [*PROGRAM, "scheduler"], own, quiet=True))
        arguments = ["--workers", str(options.workers), "--processes", str(options.processes), "--hold", str(hold)]
        arguments += ["--sizes", *map(str, range(1, size + 1))]
        clients = start("clients", [sys.executable, "-m", "benchmarks.crowd.clients", *arguments], variables)
        try:
            with psycopg.connect(url, autocommit=True) as database:
                crowd = Crowd(database, postgres, schedulers)
                crowd.begun = time.time()
                # By then each connection has planned what it repeats, if it may keep plans.
                _await(lambda: crowd.done() > WARM_SHARDS * pool, "all processes to have done some shards", clients)
                report(crowd, administrator, options, clients)
                freeze(crowd, size * hold)
        finally:
            for each in schedulers:
                each.process.send_signal(signal.SIGCONT)
            if clients.process.returncode is None:
                print("\n" + clients.stop())
            for each in schedulers:
                each.stop()
        with psycopg.connect(url, autocommit=True) as database:
            found = database.execute(LOST_OR_DOUBLE, {"begun": crowd.begun, "metrics": len(METRICS)}).fetchone()
        print(f"\nevaluations whose counter is wrong, finished ones without all scores, failed shards: {found}")


def report(crowd: Crowd, administrator: psycopg.Connection[Any], options: argparse.Namespace, clients: Watched) -> None:
    """Watch for a while; print what a shard took."""
    administrator.execute("SELECT pg_stat_statements_reset()")
    slow = len(crowd.slow())
    before = crowd.done(), crowd.kept(), cpu_seconds(crowd.postgres), _cpu(crowd.schedulers), time.monotonic()
    of_clients = _cpu([clients])
    time.sleep(options.seconds)
    took = time.monotonic() - before[4]
    postgres, scheduler = cpu_seconds(crowd.postgres) - before[2], _cpu(crowd.schedulers) - before[3]
    rows = administrator.execute(STATEMENTS).fetchall()
    shards, deleted = crowd.done() - before[0], before[1] - crowd.kept()
    calls = sum(row[1] for row in rows)
    lines = crowd.slow()[slow:]
    print(f"{options.workers} x {options.processes} processes, {options.finished:,} finished shards, load {load()}")
    print(f"{shards / took:.0f} shards a second, {deleted / took:.0f} old ones deleted a second, {took:.0f} s")
    print(f"PostgreSQL's CPU: {1000 * postgres / shards:.2f} ms a shard")
    print(f"the schedulers' CPU: {1000 * scheduler / shards:.2f} ms a shard")
    print(f"the clients' CPU, which computes nothing: {1000 * (_cpu([clients]) - of_clients) / shards:.2f} ms a shard")
    share = f"{len(lines)} of {calls} ({len(lines) / calls:.3%})"
    print(f"statements: {calls / shards:.1f} a shard; over {SLOW_MS} ms: {share}")
    print(f"planning: {sum(row[3] for row in rows) / shards:.2f} ms a shard")
    print("\n| role | calls a shard | ms a shard | of planning | ms a call | statement |\n|---|---|---|---|---|---|")
    for role, count, total, plan, query in rows[:24]:
        shown = " ".join(query.split())[:150]
        figures = f"{count / shards:.2f} | {total / shards:.3f} | {plan / shards:.3f} | {total / count:.3f}"
        print(f"| {role} | {figures} | `{shown}` |")
    print("\nslow statements:")
    for line in sorted(lines, key=lambda line: -float(line.partition("duration: ")[2].split()[0]))[:8]:
        print(f"  {line[:200]}")


def freeze(crowd: Crowd, hold: float) -> None:
    """Freeze the leading scheduler; print how long no shard was sent, and go on until all is as before."""
    leader, standby = crowd.schedulers
    used = cpu_seconds(standby.process.pid)
    leader.process.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    query = "SELECT holder FROM leader"
    holder = crowd.database.execute(query).fetchone()
    while crowd.database.execute(query).fetchone() == holder and time.monotonic() < begun + 60:
        time.sleep(0.1)
    took = time.monotonic() - begun
    time.sleep(2 * hold + 5)
    leader.process.send_signal(signal.SIGCONT)
    before = crowd.done()
    time.sleep(10)
    print(f"\nscheduler frozen: the other leads after {took:.1f} s; {(crowd.done() - before) / 10:.0f} shards a second "
          f"afterwards (the standby used {cpu_seconds(standby.process.pid) - used:.1f} s of CPU)")  # fmt: skip


def _await(condition: Callable[[], bool], what: str, clients: Watched) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while not condition():
        if clients.process.poll() is not None:
            raise RuntimeError(clients.process.communicate()[0].decode())
        if time.monotonic() > deadline:
            raise RuntimeError(f"Waited {SETTLE_SECONDS:.0f} s for {what}.")
        time.sleep(1)


def _cpu(programs: list[Watched]) -> float:
    return sum(cpu_seconds(each.process.pid) for each in programs)


if __name__ == "__main__":
    main()
