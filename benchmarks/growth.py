"""Time and memory against segments, systems, metrics, replicates and worker processes, with fitted exponents.

    python -m benchmarks.growth [--rounds 5] [--only segments systems metrics replicates workers]

Generated campaigns through `steelyard evaluate` on the embedded default, the least of two runs (of one with --rounds
1). An exponent is the slope in log-log by least squares: 1 is proportional. Start-up, which does not grow, lowers it,
so that of the last step alone is given, too. Metrics differ in what they cost, so theirs is against the sum of what
they state to cost (`Metric.cost`). What one campaign takes in each process and table, also with Redis and PostgreSQL,
is shown by benchmarks.scale.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness.alone import alone, progress
from benchmarks.harness.evaluating import THREE, Evaluated, evaluate
from benchmarks.harness.generated import write_campaign
from benchmarks.overhead import METRICS
from benchmarks.report.fit import power
from benchmarks.report.section import Chart, Line, Section, Table
from steelyard.metrics.registry import parse_metric

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

FIGURES = ("wall", "cpu", "work", "peak")
SYSTEMS, SEGMENTS = 10, 2000
BY_COST = tuple(sorted(METRICS, key=lambda name: parse_metric(name).cost))
LARGE = 16_000
"""Segments of the campaign that is shared by workers, with all metrics: large enough that start-up hardly counts."""


@dataclass(frozen=True)
class Point:
    """One campaign to evaluate."""

    amount: float
    """Along the axis."""
    shown: str
    systems: int = SYSTEMS
    segments: int = SEGMENTS
    metrics: Sequence[str] = THREE
    replicates: int = 1000
    processes: int | None = None


def points(axis: str, *, quick: bool) -> list[Point]:
    """What is evaluated along an axis."""
    if axis == "segments":
        return [Point(n, f"{n:,}", segments=n) for n in ((200, 400) if quick else (2000, 4000, 8000, 16_000, 32_000))]
    if axis == "systems":
        return [Point(n, str(n), systems=n, segments=200 if quick else SEGMENTS) for n in doubled(10, quick)]
    small = {"systems": 2, "segments": 200} if quick else {}
    if axis == "metrics":
        counts = (1, 2) if quick else (1, 2, 4, 6, 8, 9, 10, 11, 12)
        costs = [sum(parse_metric(name).cost for name in BY_COST[:n]) for n in counts]
        return [
            Point(cost, f"{n} ({cost:.1f} µs)", metrics=BY_COST[:n], **small)
            for n, cost in zip(counts, costs, strict=True)
        ]
    if axis == "replicates":
        return [Point(n, f"{n:,}", replicates=n, **small) for n in doubled(500, quick)]
    processes = [n for n in (1, 2, 4, 8, 16) if n <= len(os.sched_getaffinity(0))]
    large = small or {"segments": LARGE}
    return [Point(n, str(n), metrics=BY_COST, processes=n, **large) for n in processes]


AXES = ("segments", "systems", "metrics", "replicates", "workers")


def doubled(first: int, quick: bool) -> list[int]:
    """Five amounts, or two, each twice the one before."""
    return [first << power for power in range(2 if quick else 5)]


def least(point: Point, rounds: int) -> Evaluated:
    """Each figure's least of so many runs."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = write_campaign(Path(folder) / "generated", point.systems, point.segments)
        runs = [
            evaluate(campaign, point.metrics, replicates=point.replicates, processes=point.processes)
            for _ in range(rounds)
        ]
    return Evaluated(*(min(getattr(run, name) for run in runs) for name in FIGURES[:2]), runs[0].peak, min(
        run.work for run in runs), {})  # fmt: skip


def section(options: argparse.Namespace) -> Section:
    """A table for each axis; a chart for those that grow."""
    parts: list[str | Table | Chart] = []
    figures: dict[str, float] = {}
    rounds = 1 if options.quick else min(options.rounds, 2)
    for axis in options.only:
        measured = []
        for point in points(axis, quick=options.quick):
            measured.append((point, least(point, rounds)))
            progress(f"{point.shown} {axis}: {measured[-1][1].wall:.2f} s")
        found, chart = workers(measured) if axis == "workers" else exponents(axis, measured)
        figures |= {f"{axis}.{key}": value for key, value in found.items()}
        parts += [table(axis, measured, found), *([chart] if chart else [])]
    return Section("growth", parts, figures)


def table(axis: str, measured: list[tuple[Point, Evaluated]], found: dict[str, float]) -> Table:
    """What was measured, and below it the exponents or, of workers, the speed-up."""
    first = measured[0][0]
    rows = [
        [point.shown, f"{run.wall:.2f}", f"{run.cpu:.2f}", f"{run.work:.2f}", f"{run.peak:.0f}"]
        for point, run in measured
    ]
    if axis == "workers":
        rows.append(["**speed-up**", f"{found['wall']:.2f}×", "", f"**{found['speedup']:.2f}×**", ""])
    else:
        rows.append(["**exponent**", *(f"**{found[name]:.2f}**" for name in FIGURES)])
        rows.append(["of the last step", *(f"{found[f'{name}.last']:.2f}" for name in FIGURES)])
    size = {
        "segments": f"{first.systems} systems, {len(first.metrics)} metrics, {first.replicates:,} replicates",
        "systems": f"{first.segments:,} segments, {len(first.metrics)} metrics, {first.replicates:,} replicates",
        "metrics": f"{first.systems} systems × {first.segments:,} segments, {first.replicates:,} replicates",
        "replicates": f"{first.systems} systems × {first.segments:,} segments, {len(first.metrics)} metrics",
        "workers": f"{first.systems} systems × {first.segments:,} segments, {len(first.metrics)} metrics",
    }[axis]
    header = [axis if axis != "workers" else "worker processes", "wall s", "CPU s", "work s", "peak MiB"]
    return Table(header, rows, f"Growth in {axis}: {size}.")


def exponents(axis: str, measured: list[tuple[Point, Evaluated]]) -> tuple[dict[str, float], Chart]:
    """Of each figure."""
    amounts = [point.amount for point, _ in measured]
    found = {}
    for name in FIGURES:
        values = [getattr(run, name) for _, run in measured]
        found[name], found[f"{name}.last"] = (power(amounts[at:], values[at:])[0] for at in (0, -2))
        found[f"{name}.larger"] = max(found[name], found[f"{name}.last"])
    names = {"wall": "wall", "cpu": "CPU", "work": "queued to scored"}
    lines = [Line(shown, amounts, [getattr(run, name) for _, run in measured]) for name, shown in names.items()]
    across = "sum of stated costs, µs a segment" if axis == "metrics" else axis
    return found, Chart("growth", f"growth-{axis}", f"Growth in {axis}", [across, "seconds"], lines)


def workers(measured: list[tuple[Point, Evaluated]]) -> tuple[dict[str, float], None]:
    """How many times as fast two processes are as one; all there are, where it is one alone."""
    one, two = measured[0][1], measured[min(1, len(measured) - 1)][1]
    return {"speedup": one.work / two.work, "wall": one.wall / two.wall}, None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of this benchmark alone."""
    parser.add_argument("--only", nargs="+", choices=AXES, default=AXES)


if __name__ == "__main__":
    alone(__doc__, section, add_options)
