"""What each request of a shard takes PostgreSQL, on one connection: CPU, which no other load changes much.

python -m benchmarks.crowd.alone [--shards 500] [--finished 0]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

from sqlalchemy import make_url

from benchmarks.crowd.clients import Connection, replay
from benchmarks.crowd.recording import batch, recorded, shards_by_evaluation
from benchmarks.crowd.tables import fill
from benchmarks.crowd.wire import messages, query, read_bind, rows
from benchmarks.harness.machine import load
from benchmarks.harness.servers import running
from models.database import migrate
from models.database.session import make_engine
from runtime.settings import Settings

WARM = 60
"""Shards before those that count: PostgreSQL plans each statement some times before it keeps a plan."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=500)
    parser.add_argument("--together", type=int, default=1, help="shards of a message")
    parser.add_argument("--finished", type=int, default=0, help="shards that are done already")
    options = parser.parse_args()
    with ExitStack() as stack:
        variables = stack.enter_context(running("shared_buffers=1GB"))
        os.environ |= variables
        settings = Settings()
        migrate.upgrade(settings.database_url)
        engine = make_engine(settings.database_url, relaxed=True)
        fill(engine, settings, options.finished, options.shards + 1000 + 2 * WARM * options.together)
        size = options.together
        script = stack.enter_context(recorded(settings, (size,)))[size]
        evaluations = shards_by_evaluation(engine).values()
        # Those that are left in the end have no whole message.
        waiting = [
            batch(some[begin : begin + size]) for some in evaluations for begin in range(0, len(some) - size + 1, size)
        ]
        engine.dispose()
        address = make_url(settings.database_url)
        connection = Connection((address.host or "", address.port or 5432), script)
        (row,) = rows(connection.ask(query("SELECT pg_backend_pid()")))
        used = Path(f"/proc/{int(row[0] or b'')}/schedstat")
        texts = _texts(script.prepared)
        taken: defaultdict[str, list[float]] = defaultdict(list)
        for number, values in enumerate(waiting[: -(-options.shards // size) + WARM]):
            task = replay(script, values, 0.0)
            step = next(task)
            while True:
                try:
                    if isinstance(step, float):
                        step = task.send(b"")
                        continue
                    before = int(used.read_text().split()[0])
                    answer = connection.ask(step)
                    if number >= WARM:
                        taken[_name(step, texts)].append((int(used.read_text().split()[0]) - before) / 1e6)
                    step = task.send(answer)
                except StopIteration:
                    break
    shards = size * -(-options.shards // size)
    whole = sum(map(sum, taken.values())) / shards
    print(f"PostgreSQL's CPU: {whole:.2f} ms a shard, {sum(map(len, taken.values())) / shards:.1f} requests")
    print(f"{shards} shards, {size} a message, {options.finished:,} finished before")
    print(f"load {load()}, {time.strftime('%F')}\n")
    print("| a shard | ms a shard | median, ms | request |\n|---|---|---|---|")
    for name, some in sorted(taken.items(), key=lambda item: -sum(item[1])):
        figures = f"{len(some) / shards:.2f} | {sum(some) / shards:.3f} | {statistics.median(some):.3f}"
        print(f"| {figures} | `{name}` |")


def _texts(prepared: bytes) -> dict[str, str]:
    """The statements by the names under which they are prepared."""
    parsed = (body.decode(errors="replace").split("\0", 2) for _, body in messages(prepared))
    return {name: statement for name, statement, _ in parsed}


def _name(request: bytes, texts: dict[str, str]) -> str:
    """The beginning of a request's statement."""
    found = ""
    for kind, body in messages(request):
        if kind == ord("Q"):
            found = body[:-1].decode()
        elif kind == ord("P"):
            found = body.decode(errors="replace").split("\0", 2)[1]
        elif kind == ord("B") and not found:
            found = texts[read_bind(body).statement]
    return " ".join(found.split())[:110]


if __name__ == "__main__":
    main()
