"""What an installation costs that has nothing to do: CPU of each process, and statements that PostgreSQL is asked.

    python -m benchmarks.idle [--seconds 60]

`steelyard up` on SQLite with its pages; then scheduler, worker, web service, Redis and PostgreSQL, where their wheels
are there. Scheduler, worker and web service have roles of their own in PostgreSQL, so that pg_stat_statements tells
their statements apart; what begins and ends transactions is not counted. CPU is that of processes and all below them.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from benchmarks.harness.alone import alone, progress
from benchmarks.harness.processes import cpu_seconds, start
from benchmarks.report.section import Section, Table
from models.database import migrate
from models.database.session import make_engine, reading
from models.schema.queue import Leader, Worker
from tests.servers import free_port

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from psycopg import Connection

    from benchmarks.harness.processes import Watched

PROGRAM = (sys.executable, "-m", "cli.main")
SETTLE_SECONDS = 45.0
"""Once all run: what they do when they start is not counted, also on a busy machine."""
START_SECONDS = 300.0
PROCESSES = 2
"""Of the worker's pool."""

STATEMENTS = r"""
SELECT role.rolname, statement.query, sum(statement.calls) AS calls
FROM pg_stat_statements statement JOIN pg_roles role ON role.oid = statement.userid
WHERE statement.query !~* '^\s*(BEGIN|COMMIT|ROLLBACK|START)'
GROUP BY role.rolname, statement.query ORDER BY calls DESC
"""


@dataclass(frozen=True)
class Idle:
    """What one part of an installation took for each second without work."""

    name: str
    cpu: float
    """Seconds."""
    statements: float | None = None
    """None for what asks PostgreSQL nothing."""

    def row(self) -> list[str]:
        """Of the table."""
        asked = "" if self.statements is None else f"{self.statements:.1f}"
        return [self.name, f"{1000 * self.cpu:.1f}", asked]


def embedded(seconds: float) -> list[Idle]:
    """`steelyard up` on SQLite: the command itself, and with its pool and its web service."""
    with tempfile.TemporaryDirectory() as folder:
        url, port = f"sqlite:///{folder}/steelyard.db", free_port()
        migrate.create(url)
        command = [*PROGRAM, "up", "--processes", str(PROCESSES), "--port", str(port)]
        up = start("up", command, {"STEELYARD_DATABASE_URL": url}, quiet=True)
        try:
            _await_all(url, port)
            return _watched({"the command": lambda: _own(up), "with pool and web service": lambda: _all(up)}, seconds)
        finally:
            up.stop()


def servers(seconds: float, statements: list[str]) -> list[Idle]:
    """Scheduler, a worker, the web service, PostgreSQL, Redis; `statements` gets what was asked, most often first."""
    import psycopg
    import redis

    from benchmarks.harness.servers import running

    with running() as variables:
        url, broker, port = variables["STEELYARD_DATABASE_URL"], variables["STEELYARD_BROKER_URL"], free_port()
        migrate.upgrade(url)
        parts = {
            "scheduler": ["scheduler"],
            "worker": ["worker", "--concurrency", str(PROCESSES)],
            "web": ["serve", "--port", str(port)],
        }
        # The database in which the benchmark's servers have the extension.
        with psycopg.connect(f"{url.rpartition(chr(47))[0]}/postgres", autocommit=True) as connection:
            for name in parts:
                connection.execute(f"CREATE ROLE {name} LOGIN SUPERUSER")  # type: ignore[arg-type]
            programs = {
                name: start(
                    name,
                    [*PROGRAM, *command],
                    variables | {"STEELYARD_DATABASE_URL": url.replace("//steelyard@", f"//{name}@")},
                    quiet=True,
                )
                for name, command in parts.items()
            }
            try:
                _await_all(url, port)
                server = Path(_one(connection, "SHOW data_directory")) / "postmaster.pid"
                postgres = int(server.read_text().split()[0])
                with redis.Redis.from_url(broker) as client:
                    valkey = int(client.info("server")["process_id"])
                connection.execute("SELECT pg_stat_statements_reset()")
                cpu = {name: lambda program=program: _all(program) for name, program in programs.items()}
                cpu |= {"PostgreSQL": lambda: cpu_seconds(postgres), "Redis": lambda: cpu_seconds(valkey)}
                found = _watched(cpu, seconds)
                asked: dict[str, float] = dict.fromkeys(programs, 0.0)
                for role, query, calls in connection.execute(STATEMENTS).fetchall():
                    if role in asked:
                        rate = float(calls) / seconds
                        asked[role] += rate
                        statements.append(f"{rate:6.2f} {role}: {' '.join(query.split())[:150]}")
            finally:
                for program in programs.values():
                    program.stop()
    return [Idle(each.name, each.cpu, asked.get(each.name)) for each in found]


def _watched(cpu: Mapping[str, Callable[[], float]], seconds: float) -> list[Idle]:
    before, begun = {name: read() for name, read in cpu.items()}, time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - begun
    return [Idle(name, (read() - before[name]) / took) for name, read in cpu.items()]


def _await_all(url: str, port: int) -> None:
    """Until a scheduler leads, a worker beats and pages are served, and a while longer."""
    engine = make_engine(url, pooled=False)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with reading(engine) as connection:
            led = connection.scalar(select(func.count()).select_from(Leader).where(Leader.expires_at > 0))
            works = connection.scalar(select(func.count()).select_from(Worker))
        with socket.socket() as client:
            if led and works and client.connect_ex(("127.0.0.1", port)) == 0:
                time.sleep(SETTLE_SECONDS)
                return
        time.sleep(0.1)
    raise RuntimeError(f"They did not start within {START_SECONDS:.0f} s.")


def _own(program: Watched) -> float:
    """CPU seconds of a process without those below it that are alive."""
    fields = Path(f"/proc/{program.process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _all(program: Watched) -> float:
    return cpu_seconds(program.process.pid)


def _one(connection: Connection[tuple[str]], query: str) -> str:
    row = connection.execute(query).fetchone()  # type: ignore[arg-type]
    assert row is not None
    return row[0]


def section(options: argparse.Namespace) -> Section:
    """A table for each way to run it."""
    seconds = 3.0 if options.quick else options.seconds
    statements: list[str] = []
    found: dict[str, Sequence[Idle]] = {"embedded": embedded(seconds)}
    left_out = []
    try:
        found["servers"] = servers(seconds, statements)
    except ImportError as error:
        left_out.append(f"Redis and PostgreSQL were left out: {error.name} is not installed.")
    for line in statements:
        progress(line)
    header = ["", "CPU, ms a second", "statements a second"]
    captions = {"embedded": "`steelyard up` (SQLite)", "servers": f"Redis and PostgreSQL, {PROCESSES} pool processes"}
    tables = [Table(header, [each.row() for each in rows], captions[key]) for key, rows in found.items()]
    figures = {f"{key}.{each.name}.cpu": each.cpu for key, rows in found.items() for each in rows}
    if "servers" in found:
        figures["servers.statements"] = sum(each.statements or 0.0 for each in found["servers"])
    return Section("idle", [*tables, *left_out], figures)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of this benchmark alone."""
    parser.add_argument("--seconds", type=float, default=60.0, help="for which each is watched")


if __name__ == "__main__":
    alone(__doc__, section, add_options)
