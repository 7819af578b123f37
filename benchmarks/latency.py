"""One submission on an idle system: how long from accepted to scored.

    python -m benchmarks.latency [DIR ...] [--reference LABEL] [--submissions 50]

BLEU, chrF and TER with 1,000 replicates, one system of some 2,000 segments, each time another text; the database's
clock from the row of the evaluation to its last score. Scheduler and worker processes run already and have nothing else
to do, on the embedded default and with a Redis and a PostgreSQL that are started for it, where their wheels are there.
"""

from __future__ import annotations

import os
import statistics
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchmarks.fairness import interactive
from benchmarks.harness.alone import alone, progress
from benchmarks.harness.campaign import Campaign, campaigns
from benchmarks.harness.evaluating import THREE
from benchmarks.harness.installation import Installation, installation
from benchmarks.overhead import resolved
from benchmarks.report.section import Section, Table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

FIRST = 5
"""Submissions that are not counted: what processes read once, and what they learn about costs."""


def waits(campaign: Campaign, submissions: int) -> list[float]:
    """Seconds of each submission, on what the environment names."""
    metrics = resolved(campaign, list(THREE))
    with installation(os.cpu_count() or 1) as place:

        def script() -> list[float]:
            return [one(place, number) for number in range(FIRST + submissions)][FIRST:]

        def one(place: Installation, number: int) -> float:
            # Not always at the same point of a loop that looks now and then.
            time.sleep(0.1 + 0.2 * (0.618 * number % 1))
            return interactive(place, campaign, metrics, number, copies=1)

        return place.during(script)


@contextmanager
def servers() -> Iterator[None]:
    """A Redis and a PostgreSQL that the environment names as long as this is open."""
    from benchmarks.harness.servers import running

    with running() as variables:
        os.environ.update(variables)
        try:
            yield
        finally:
            for name in variables:
                del os.environ[name]


def section(options: argparse.Namespace) -> Section:
    """A row for the embedded default, one for the servers."""
    campaign = campaigns(options)[0]
    submissions = 3 if options.quick else options.submissions
    found, left_out = {"embedded": waits(campaign, submissions)}, []
    try:
        with servers():
            found["servers"] = waits(campaign, submissions)
    except ImportError as error:
        left_out.append(f"Redis and PostgreSQL were left out: {error.name} is not installed.")
    rows, figures = [], {}
    for key, name in (("embedded", "embedded (SQLite)"), ("servers", "Redis and PostgreSQL")):
        if seconds := found.get(key):
            spread = {
                "median": statistics.median(seconds),
                "p95": statistics.quantiles(seconds, n=20, method="inclusive")[-1],
                "least": min(seconds),
                "most": max(seconds),
            }
            rows.append([name, *(f"{value:.3f}" for value in spread.values()), str(len(seconds))])
            figures |= {f"{key}.{what}": value for what, value in spread.items()}
            progress(f"{name}: median {spread['median']:.3f} s, p95 {spread['p95']:.3f} s")
    header = ["scheduler and workers", "median, s", "p95, s", "least, s", "most, s", "submissions"]
    caption = f"{campaign.name}, one system × {campaign.segments:,} segments, {os.cpu_count()} worker processes"
    return Section("latency", [Table(header, rows, caption), *left_out], figures)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of this benchmark alone."""
    parser.add_argument("--submissions", type=int, default=50)


if __name__ == "__main__":
    alone(__doc__, section, add_options)
