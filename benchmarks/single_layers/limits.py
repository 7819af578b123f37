"""What this machine can do at most, each measured by the least program that does nothing else; and layers beside it."""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

LARGE = 1 << 27
"""Bytes that no cache holds."""
SECONDS = 0.4
"""For which anything is done again and again."""
TABLE = 1 << 18
"""Numbers of 4 bytes in a table that fits in a core's own cache."""


@dataclass(frozen=True)
class Limit:
    """How much of something is done in a second."""

    name: str
    rate: float
    unit: str

    @property
    def shown(self) -> str:
        """With its unit."""
        return shown_rate(self.rate, self.unit)


def shown_rate(rate: float, unit: str) -> str:
    """A rate with three digits: bytes and operations in billions or millions."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.3g} {letter}{unit}/s"
    return f"{rate:.3g} {unit}/s"


@dataclass(frozen=True)
class Layer:
    """How long it takes for a whole campaign, and how much it does in that time."""

    name: str
    seconds: float
    amount: float = 0.0
    unit: str = ""
    limit: str = ""
    """A key of the limits; nothing where none is known."""
    what: str = ""
    """That is counted."""

    def distance(self, limits: dict[str, Limit]) -> float:
        """How many times longer it takes than its limit."""
        return limits[self.limit].rate / (self.amount / self.seconds)

    def row(self, limits: dict[str, Limit]) -> list[str]:
        """Of the table."""
        row = [self.name, f"{1000 * self.seconds:.2f}"]
        if not self.amount:
            return [*row, "", "", "", ""]
        row += [f"{self.amount:,.0f} {self.what}", shown_rate(self.amount / self.seconds, self.unit)]
        if not self.limit:
            return [*row, "", ""]
        return [*row, f"{limits[self.limit].name}: {limits[self.limit].shown}", f"{self.distance(limits):.1f}×"]


def fastest(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of the fastest of as many runs as there is time for, three at least."""
    best, begun, runs = float("inf"), time.perf_counter(), 0
    while runs < 3 or time.perf_counter() - begun < SECONDS:
        start = clock()
        work()
        best = min(best, clock() - start)
        runs += 1
    return best


def measured_limits(texts: Sequence[bytes], folder: Path) -> dict[str, Limit]:
    """All of them, by key; texts are decoded and compressed, files are made in the folder."""
    return {**_memory(), **_products(), **_texts(b"\n".join(texts)), **_disk(folder)}


def _memory() -> dict[str, Limit]:
    source = np.ones(LARGE // 8, np.uint64)
    target = np.empty_like(source)
    draws = np.random.default_rng(1)
    places = draws.integers(0, TABLE, 1 << 20).astype(np.int32)
    table = np.arange(TABLE, dtype=np.int32)
    found = np.empty_like(places)
    philox = np.random.Philox(1)
    return {
        "copy": Limit("memory copied", LARGE / fastest(lambda: np.copyto(target, source)), "B"),
        "read": Limit("memory read", LARGE / fastest(lambda: np.bitwise_or.reduce(source)), "B"),
        "look-ups": Limit(
            "look-ups in a table in the cache",
            len(places) / fastest(lambda: table.take(places, out=found, mode="wrap")),
            "",
        ),
        "random": Limit("random bytes (Philox)", 8 * (1 << 20) / fastest(lambda: philox.random_raw(1 << 20)), "B"),
    }


def _products() -> dict[str, Limit]:
    limits = {}
    for key, kind in (("sgemm", np.float32), ("dgemm", np.float64)):
        square = np.ones((1024, 1024), kind)
        rate = 2 * 1024**3 / fastest(lambda square=square: square @ square)
        limits[key] = Limit(f"matrix product, {np.dtype(kind)}", rate, "flop")
    return limits


def _texts(text: bytes) -> dict[str, Limit]:
    return {
        "decode": Limit("UTF-8 decoded by Python", len(text) / fastest(text.decode), "B"),
        "scan": Limit("line ends counted by memchr", len(text) / fastest(lambda: text.count(b"\n")), "B"),
        "compress": Limit("zlib, level 1, of text", len(text) / fastest(lambda: zlib.compress(text, 1)), "B"),
    }


def _disk(folder: Path) -> dict[str, Limit]:
    content = os.urandom(1 << 24)

    def write() -> None:
        with (folder / "written").open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    connection = sqlite3.connect(folder / "commits.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE numbers (number INTEGER)")

    def commit() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO numbers VALUES (1)")
        connection.execute("COMMIT")

    try:
        return {
            "disk": Limit("a file written, with fsync", len(content) / fastest(write, time.perf_counter), "B"),
            "commit": Limit("SQLite's commits, with fsync", 1 / fastest(commit, time.perf_counter), ""),
            **_postgres(),
        }
    finally:
        connection.close()


def _postgres() -> dict[str, Limit]:
    """Where the environment names one."""
    url = os.environ.get("STEELYARD_DATABASE_URL", "")
    if not url.startswith("postgresql"):
        return {}
    import psycopg

    with psycopg.connect(url.replace("postgresql+psycopg", "postgresql"), autocommit=True) as connection:
        # It goes into the log alone, and the commit waits for the disk.
        statement = "SELECT pg_logical_emit_message(true, 'benchmark', 'x')"
        rate = 1 / fastest(lambda: connection.execute(statement), time.perf_counter)
    return {"postgres": Limit("PostgreSQL's commits, with fsync", rate, "")}
