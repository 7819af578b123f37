"""What shards cost the servers, from nearly empty ones, and what 10, 100 and 1,000 worker processes would need.

    python -m benchmarks.harness.servers --file servers.env &
    . ./servers.env
    python -m benchmarks.capacity --shards 3000 --workers 4 --processes 8

Queues one evaluation (or --campaigns of them) of so many shards of one block each, which take next to no time to score,
and lets a scheduler and workers do them. Of PostgreSQL it asks pg_stat_statements and its processes' CPU, of Redis its
INFO; the scheduler has a role of its own there, whose statements are counted separately. Before, it watches the same
processes without work. What workers need for a shard, times shards a second, plus what all need without work, is the
model; a shard of a real campaign takes --seconds. The scheduler's own limit is measured by rounds that hand out shards.
"""

from __future__ import annotations

import argparse
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
import redis
from sqlalchemy import func, insert, make_url, select, update

from benchmarks.harness.processes import cpu_seconds, start
from benchmarks.scale import PROGRAM
from models.database import migrate
from models.database.session import make_engine, reading, writing
from models.queue_status.progress import read_progress
from models.schema.base import now
from models.schema.queue import Shard, Worker
from models.schema.states import LeaseState
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Engine

    from benchmarks.harness.processes import Watched

BLOCK = 256
ROLE = "steelyard_scheduler"


@dataclass
class Meter:
    """What the servers and our processes have used so far."""

    statements: float
    """Those of workers; the scheduler's are apart."""
    milliseconds: float
    """That these took in PostgreSQL."""
    scheduler_statements: float
    scheduler_milliseconds: float
    transactions: float
    log_bytes: float
    postgres_cpu: float
    commands: float
    redis_cpu: float
    redis_bytes: float
    messages: float
    scheduler_cpu: float
    workers_cpu: float

    def minus(self, other: Meter) -> Meter:
        """What was used between two looks."""
        return Meter(*(getattr(self, name) - getattr(other, name) for name in self.__dataclass_fields__))

    def times(self, factor: float) -> Meter:
        """Each figure times a factor."""
        return Meter(*(getattr(self, name) * factor for name in self.__dataclass_fields__))


def main() -> None:
    """Measure, then compute."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=3000, help="of all campaigns together")
    parser.add_argument("--campaigns", type=int, default=1)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--processes", type=int, default=8, help="of each worker")
    parser.add_argument("--seconds", type=float, default=1.0, help="that a shard of a real campaign takes")
    parser.add_argument("--idle", type=float, default=10.0, help="seconds without work to watch")
    options = parser.parse_args()
    # Whoever ends it must not leave its processes behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    settings = Settings()
    migrate.upgrade(settings.database_url)
    engine = make_engine(settings.database_url)
    address = own_role(settings)
    scheduler = start("scheduler", [*PROGRAM, "scheduler"], {"STEELYARD_DATABASE_URL": address}, quiet=True)
    command = [*PROGRAM, "worker", "--concurrency", str(options.processes)]
    workers = [start("worker", command, {}, quiet=True) for _ in range(options.workers)]
    try:
        until(lambda: beating(engine) >= options.workers, "the workers")
        time.sleep(2)
        before, began = look(settings, scheduler, workers), time.monotonic()
        time.sleep(options.idle)
        idle = look(settings, scheduler, workers).minus(before).times(1 / (time.monotonic() - began))
        evaluations = queue(engine, settings, options.shards, options.campaigns, f"shard{time.time_ns()}")
        before = look(settings, scheduler, workers)
        until(lambda: not open_ones(engine, evaluations), "the shards")
        used = look(settings, scheduler, workers).minus(before)
        with reading(engine) as connection:
            begin, end = connection.execute(select(func.min(Shard.claimed_at), func.max(Shard.ended_at))).one()
            connections = connection.connection.cursor().execute("SELECT count(*) FROM pg_stat_activity").fetchone()[0]
        print(
            f"{options.shards} shards of {options.campaigns} evaluation(s), {options.workers} x {options.processes} ",
            end="",
        )
        print(f"processes: {options.shards / (end - begin):.0f} shards a second, {connections} connections\n")
        shard = used.times(1 / options.shards)
        print_measured(shard, idle)
        print_statements(settings, options.shards)
        print_model(shard, idle, options)
    finally:
        for each in (*workers, scheduler):
            each.stop()
    print_rounds(engine, settings)
    engine.dispose()


def queue(engine: Engine, settings: Settings, shards: int, campaigns: int, word: str) -> list[int]:
    """Evaluations whose shards are one block each, of segments of this one word."""
    small = settings.model_copy(update={"shortest_shard_seconds": 1e-9, "shard_seconds": 1e-9})
    evaluations: list[int] = []
    for number in range(campaigns):
        reference = "\n".join([f"{word}{number}"] * (BLOCK * (shards // campaigns))).encode()
        intake = ingest_campaign(
            engine,
            small,
            campaign=f"{word} {number}",
            test_set=NewTestSet(f"{word} {number}", {"A": reference}),
            submissions=[NewSubmission("system", reference.upper())],
            protocols=[NewProtocol(["A"], [parse_metric("per")], replicates=0)],
        )
        evaluations += intake.all_evaluations
    return evaluations


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for it; raises RuntimeError after five minutes."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.05)
    raise RuntimeError(f"Waited five minutes for {what}.")


def own_role(settings: Settings) -> str:
    """The database's URL for a role of the scheduler's own, which is made."""
    address = make_url(settings.database_url).set(drivername="postgresql")
    with psycopg.connect(address.render_as_string(hide_password=False), autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone() is None:
            connection.execute(f"CREATE ROLE {ROLE} LOGIN SUPERUSER")
    return address.set(username=ROLE).render_as_string(hide_password=False)


def beating(engine: Engine) -> int:
    """How many workers there are."""
    with reading(engine) as connection:
        return connection.scalar(select(func.count()).select_from(Worker)) or 0


def open_ones(engine: Engine, evaluations: list[int]) -> int:
    """How many evaluations are not ended; asked rarely, so that asking costs next to nothing."""
    time.sleep(0.5)
    with reading(engine) as connection:
        return read_progress(connection, evaluations).open


def look(settings: Settings, scheduler: Watched, workers: list[Watched]) -> Meter:
    """What has been used so far."""
    address = make_url(settings.database_url).set(database="postgres", drivername="postgresql")
    with psycopg.connect(address.render_as_string(hide_password=False), autocommit=True) as connection:
        name = make_url(settings.database_url).database
        by_role = [
            connection.execute(
                "SELECT coalesce(sum(calls), 0), coalesce(sum(total_exec_time), 0) FROM pg_stat_statements s "
                "JOIN pg_database d ON d.oid = s.dbid JOIN pg_roles r ON r.oid = s.userid "
                "WHERE d.datname = %s AND (r.rolname = %s) = %s", [name, ROLE, scheduler_itself]
            ).fetchone()
            for scheduler_itself in (False, True)
        ]  # fmt: skip
        (transactions,) = connection.execute(
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = %s", [name]
        ).fetchone()
        (log_bytes,) = connection.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')").fetchone()
        (postmaster,) = connection.execute("SELECT pg_read_file('postmaster.pid')").fetchone()
    with redis.Redis.from_url(settings.broker_url) as client:
        information = client.info("all")
    pid = int(postmaster.splitlines()[0])
    return Meter(
        statements=float(by_role[0][0]),
        milliseconds=float(by_role[0][1]),
        scheduler_statements=float(by_role[1][0]),
        scheduler_milliseconds=float(by_role[1][1]),
        transactions=float(transactions),
        log_bytes=float(log_bytes),
        postgres_cpu=cpu_seconds(pid),
        commands=float(information["total_commands_processed"]),
        redis_cpu=information["used_cpu_user"] + information["used_cpu_sys"],
        redis_bytes=float(information["total_net_input_bytes"] + information["total_net_output_bytes"]),
        messages=float(information.get("cmdstat_lpush", {}).get("calls", 0)),
        scheduler_cpu=cpu_seconds(scheduler.process.pid),
        workers_cpu=sum(cpu_seconds(worker.process.pid) for worker in workers),
    )


def print_measured(shard: Meter, idle: Meter) -> None:
    """The two columns of the model."""
    print("| | a shard, all that went on meanwhile | a second without work |\n|---|---|---|")
    for what, name, factor, unit in (
        ("statements of workers", "statements", 1, ""),
        ("time in these", "milliseconds", 1, " ms"),
        ("statements of the scheduler", "scheduler_statements", 1, ""),
        ("time in these", "scheduler_milliseconds", 1, " ms"),
        ("transactions", "transactions", 1, ""),
        ("PostgreSQL's CPU", "postgres_cpu", 1000, " ms"),
        ("write-ahead log", "log_bytes", 1 / 1024, " KiB"),
        ("messages", "messages", 1, ""),
        ("Redis' commands", "commands", 1, ""),
        ("Redis' CPU", "redis_cpu", 1000, " ms"),
        ("Redis' traffic", "redis_bytes", 1 / 1024, " KiB"),
        ("the scheduler's CPU", "scheduler_cpu", 1000, " ms"),
        ("the workers' CPU", "workers_cpu", 1000, " ms"),
    ):
        print(f"| {what} | {getattr(shard, name) * factor:.2f}{unit} | {getattr(idle, name) * factor:.2f}{unit} |")


def print_statements(settings: Settings, shards: int) -> None:
    """The statements that take most time."""
    address = make_url(settings.database_url).set(database="postgres", drivername="postgresql")
    with psycopg.connect(address.render_as_string(hide_password=False), autocommit=True) as connection:
        rows = connection.execute(
            "SELECT s.calls, s.total_exec_time, s.mean_exec_time, regexp_replace(s.query, '\\s+', ' ', 'g') "
            "FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = %s "
            "ORDER BY s.total_exec_time DESC LIMIT 14", [make_url(settings.database_url).database]
        ).fetchall()  # fmt: skip
    print("\n| calls a shard | ms a shard | ms a call | statement |\n|---|---|---|---|")
    for calls, total, mean, query in rows:
        print(f"| {calls / shards:.2f} | {total / shards:.3f} | {mean:.3f} | `{query[:90]}` |")


def print_model(shard: Meter, idle: Meter, options: argparse.Namespace) -> None:
    """What so many processes need when each does a shard in --seconds.

    PostgreSQL's CPU is divided by the time that statements of workers and of the scheduler took.
    """
    ours = shard.milliseconds / (shard.milliseconds + shard.scheduler_milliseconds)
    print(f"\nShards of {options.seconds:g} s, workers of {options.processes} processes:\n")
    print("| processes | shards/s | statements/s of workers | PostgreSQL's cores | log MiB/s | connections | "
          "messages/s | Redis' cores | Redis' MiB/s |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    for processes in (10, 100, 1000):
        rate = processes / options.seconds
        mains = -(-processes // options.processes)
        beats = idle.statements * mains / options.workers
        cores = rate * shard.postgres_cpu * ours + idle.postgres_cpu
        print(
            f"| {processes:,} | {rate:,.0f} | {rate * shard.statements + beats:,.0f} | {cores:.2f} | "
            f"{rate * shard.log_bytes / 2**20:.2f} | {processes + mains + 2:,} | {rate:,.0f} | "
            f"{rate * shard.redis_cpu:.2f} | {rate * shard.redis_bytes / 2**20:.2f} |"
        )


def print_rounds(engine: Engine, settings: Settings) -> None:
    """How long rounds of the scheduler take: while the window is full, and when they hand out 64 shards."""
    from scheduler.dispatch import dispatch
    from steelyard.metrics.metric import EDITION
    from worker.app import Broker

    full = settings.model_copy(update={"window_factor": 1e-9, "smallest_window": 1})
    room = settings.model_copy(update={"window_factor": 1e-9, "smallest_window": 64})
    broker = Broker(full)
    waiting = 0
    print()
    with writing(engine) as connection:
        # Shards are handed out only while somebody is there.
        somebody = {"id": "benchmark", "host": "", "pid": 0, "version": "", "concurrency": 1, "beat_at": now() + 600}
        somebody["edition"] = EDITION
        connection.execute(insert(Worker).values(**somebody))
    for more in (500, 4_500):
        queue(engine, settings, more, 1, f"round{time.time_ns()}")
        waiting += more
        seconds: dict[str, list[float]] = {"full": [], "sending": []}
        for _ in range(20):
            for name, sizes in (("sending", room), ("full", full)):
                begin = time.perf_counter()
                assert dispatch(engine, broker, sizes) == (64 if sizes is room else 0)
                seconds[name].append(time.perf_counter() - begin)
            with writing(engine) as connection:
                connection.execute(
                    update(Shard).where(Shard.state == LeaseState.ENQUEUED).values(state=LeaseState.PENDING)
                )
        middle = {name: sorted(each)[10] for name, each in seconds.items()}
        print(
            f"With {waiting:,} shards that wait: a round with a full window {middle['full'] * 1000:.1f} ms, one that "
            f"hands out 64 {middle['sending'] * 1000:.1f} ms: at most {64 / middle['sending']:,.0f} shards a second."
        )


if __name__ == "__main__":
    main()
