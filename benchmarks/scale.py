"""Generated campaigns of any size through the whole pipeline: time, CPU, peak memory, rows, bytes, messages.

    python -m benchmarks.scale --systems 100 --segments 2000
    python -m benchmarks.scale --systems 1 --segments 1000000

Runs `steelyard evaluate` on the embedded default. Where STEELYARD_BROKER_URL and STEELYARD_DATABASE_URL name a Redis
and an empty PostgreSQL (`python -m benchmarks.harness.servers` starts both), it starts a scheduler and a worker, too.
How times grow is measured by benchmarks.growth.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select, text

from benchmarks.harness.generated import write_campaign
from benchmarks.harness.processes import Watched, start
from models.database import migrate
from models.database.session import make_engine, reading
from models.schema.base import Base
from models.schema.queue import CorpusCount, Evaluation, Shard, Trials, Worker
from runtime.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

PROGRAM = [sys.executable, "-m", "cli.main"]
MIB = 2**20


@dataclass
class Run:
    """What one campaign took. Times are in seconds, from the start of the command."""

    systems: int
    segments: int
    wall: float
    cpu: float
    queued: float
    scored: float
    peak: float
    """MiB of the largest process."""
    stored: float
    """MiB of all tables with their indexes."""
    messages: int
    shards: int


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=100)
    parser.add_argument("--segments", type=int, default=2000)
    parser.add_argument("--metrics", nargs="+", default=["bleu", "chrf", "ter"])
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # Whoever ends it must not leave its processes behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    evaluate(options, options.systems, options.segments)


def evaluate(options: argparse.Namespace, systems: int, segments: int) -> None:
    """Generate a campaign, evaluate it and print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        campaign = write_campaign(home / "campaign", systems, segments, options.seed)
        size = sum(file.stat().st_size for file in campaign.rglob("*.txt")) / MIB
        settings = Settings()
        url = f"sqlite:///{home / 'steelyard.db'}" if settings.embedded else settings.database_url
        environment = {"STEELYARD_DATABASE_URL": url, "STEELYARD_MOST_BYTES": str(2**40)}
        migrate.upgrade(url)
        engine = make_engine(url)
        sent = redis_pushes(settings)
        others = [] if settings.embedded else list(start_others(engine, environment, options.processes))
        begun = time.time()
        arguments = ["evaluate", str(campaign), "-m", *options.metrics, "--processes", str(options.processes)]
        command = start("command", [*PROGRAM, *arguments, "--output", str(home / "report")], environment)
        command.wait()
        for other in others:
            other.stop()
        watched = [command, *others]
        with reading(engine) as connection:
            queued = connection.scalar(select(func.max(Shard.created_at))) or math.nan
            scored = connection.scalar(select(func.max(Evaluation.finished_at))) or math.nan
            run = Run(
                systems,
                segments,
                wall=command.wall,
                cpu=sum(each.cpu for each in watched),
                queued=queued - begun,
                scored=scored - begun,
                peak=max(peak.resident for each in watched for peak in each.peaks.values()),
                stored=sum(size for _, _, size in table_sizes(connection)) / MIB,
                messages=(redis_pushes(settings) - sent) or sent_hints(connection),
                shards=connection.scalar(select(func.count()).select_from(Shard)) or 0,
            )
            print_run(run, watched, size, connection)
        report = sum(file.stat().st_size for file in (home / "report").iterdir()) / MIB
        print(f"\nReport: {report:.1f} MiB")
        engine.dispose()


def start_others(engine: Engine, environment: dict[str, str], processes: int) -> Iterator[Watched]:
    """A scheduler and a worker, once the worker beats."""
    yield start("scheduler", [*PROGRAM, "scheduler"], environment, quiet=True)
    yield start("worker", [*PROGRAM, "worker", "--concurrency", str(processes)], environment, quiet=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with reading(engine) as connection:
            if connection.scalar(select(func.count()).select_from(Worker)):
                return
        time.sleep(0.05)
    raise RuntimeError("The worker did not start within 60 s.")


def redis_pushes(settings: Settings) -> int:
    """Messages that the broker was given so far; 0 where there is none to ask."""
    if not settings.broker_url.startswith("redis"):
        return 0
    import redis

    with redis.Redis.from_url(settings.broker_url) as client:
        return int(client.info("commandstats").get("cmdstat_lpush", {}).get("calls", 0))


def sent_hints(connection: Connection) -> int:
    """Rows that were sent: with the broker in memory, nobody else counts them."""
    counts = [
        connection.scalar(select(func.count()).select_from(table).where(table.enqueued_at.is_not(None))) or 0
        for table in (Shard, CorpusCount, Trials)
    ]
    return sum(counts)


def table_sizes(connection: Connection) -> list[tuple[str, int, int]]:
    """(name, rows, bytes with indexes) of every table that has rows."""
    found = []
    for table in Base.metadata.sorted_tables:
        rows = connection.scalar(select(func.count()).select_from(table)) or 0
        if connection.dialect.name == "postgresql":
            size = connection.scalar(text("SELECT pg_total_relation_size(:name)"), {"name": f'"{table.name}"'})
        else:
            automatic = [f"sqlite_autoindex_{table.name}_{number}" for number in (1, 2, 3)]
            names = {table.name, *(str(index.name) for index in table.indexes), *automatic}
            pages = connection.execute(text("SELECT name, sum(pgsize) FROM dbstat GROUP BY name")).all()
            size = sum(bytes_of for name, bytes_of in pages if name in names)
        if rows:
            found.append((table.name, rows, int(size or 0)))
    return found


def print_run(run: Run, watched: list[Watched], size: float, connection: Connection) -> None:
    """Everything that is known of one campaign."""
    print(f"{run.systems} x {run.segments:,} segments, {size:.0f} MiB of text, on {connection.dialect.name}\n")
    print(f"wall {run.wall:.1f} s, CPU {run.cpu:.1f} s; stored and queued after {run.queued:.1f} s, ", end="")
    print(f"last score after {run.scored:.1f} s; {run.shards} shards, {run.messages} messages\n")
    print("| process | peak MiB (VmHWM) | unshared MiB (Pss) |\n|---|---|---|")
    for each in watched:
        for peak in sorted(each.peaks.values(), key=lambda peak: (len(peak.role), -peak.resident)):
            print(f"| {peak.role} | {peak.resident:.0f} | {peak.proportional:.0f} |")
    print("\n| table | rows | MiB | rows per evaluation | KiB per evaluation |\n|---|---|---|---|---|")
    evaluations = connection.scalar(select(func.count()).select_from(Evaluation)) or 1
    for name, rows, size_of in sorted(table_sizes(connection), key=lambda row: -row[2]):
        of_each = f"{rows / evaluations:.1f} | {size_of / 1024 / evaluations:.1f}"
        print(f"| {name} | {rows:,} | {size_of / MIB:.2f} | {of_each} |")
    print(f"| all | | {run.stored:.1f} | | {run.stored * 1024 / evaluations:.1f} |")


if __name__ == "__main__":
    main()
