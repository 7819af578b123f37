"""Whole campaigns from start to report, in wall time: beside the sacreBLEU command, and a hundred systems.

    python -m benchmarks.headline [DIR ...] [--reference LABEL] [--rounds 5]

`steelyard evaluate` with BLEU, chrF and TER, 1,000 replicates, intervals, tests of all pairs, queue, database and
report; and `sacrebleu -m bleu chrf ter --paired-bs`, which tests each system against the first, in turn with it. Then
ours again and again in one process; 100 generated systems of 2,000 segments, and one of a million, without a peer.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness.alone import alone, progress
from benchmarks.harness.campaign import Campaign, campaigns
from benchmarks.harness.evaluating import THREE, Evaluated, evaluate, evaluate_again
from benchmarks.harness.generated import write_campaign
from benchmarks.harness.timing import Finished, Pair, turns, whole_process
from benchmarks.peers.sacre import printed_scores
from benchmarks.report.pairs import shown
from benchmarks.report.section import Chart, Line, Section, Table

if TYPE_CHECKING:
    import argparse

DIGITS = 9
HUNDRED = (100, 2000)
MILLION = (1, 1_000_000)
"""Systems and segments."""
ENOUGH = 60.0
"""Seconds after which there is no further turn."""


def beside_sacrebleu(campaign: Campaign, rounds: int) -> tuple[list[Evaluated], list[Finished]]:
    """Both commands in turn; their scores must be equal."""
    command = [str(Path(sys.executable).parent / "sacrebleu"), str(campaign.reference), "-i"]
    command += [*map(str, campaign.systems), "-m", *THREE, "--paired-bs", "-f", "text", "-w", str(DIGITS)]

    def mine() -> Evaluated:
        return evaluate(campaign.folder, reference=campaign.reference.stem)

    ours, theirs = [], []
    mine()
    for turn in turns(rounds, ENOUGH):
        for first in (True, False):
            if first == (turn % 2 == 0):
                ours.append(mine())
            else:
                theirs.append(whole_process(command))
        progress(f"{campaign.name}: {ours[-1].wall:.2f} s, sacreBLEU {theirs[-1].wall:.1f} s")
    expected = iter(printed_scores(theirs[-1].output))
    for system in campaign.systems:
        for metric in THREE:
            a, b = ours[-1].scores[system.stem, metric], next(expected)
            assert abs(a - b) < 2 * 10**-DIGITS, f"{system.stem}, {metric}: {a} is not the {b} of sacreBLEU"
    return ours, theirs


def row(what: str, runs: list[Evaluated] | list[Finished], segments: int, ratio: str = "") -> list[str]:
    """Of the table: medians."""
    wall, cpu = (statistics.median(getattr(run, name) for run in runs) for name in ("wall", "cpu"))
    work = [run.work for run in runs if isinstance(run, Evaluated)]
    return [
        what, f"{wall:.2f}", f"{cpu:.2f}", f"{statistics.median(work):.2f}" if work else "",
        f"{max(run.peak for run in runs):.0f}", f"{segments / wall:,.0f}", ratio, str(len(runs)),
    ]  # fmt: skip


def generated(systems: int, segments: int, rounds: int) -> list[Evaluated]:
    """One generated campaign, so many times."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = write_campaign(Path(folder) / "generated", systems, segments)
        runs = [evaluate(campaign) for _ in turns(rounds, ENOUGH)]
    progress(f"{systems} x {segments:,}: {min(run.wall for run in runs):.2f} s, {runs[0].peak:.0f} MiB")
    return runs


def section(options: argparse.Namespace) -> Section:
    """One table, and a chart of where the seconds go."""
    campaign = campaigns(options)[0]
    rounds = 1 if options.quick else options.rounds
    ours, theirs = beside_sacrebleu(campaign, rounds)
    walls = Pair([run.wall for run in ours], [run.wall for run in theirs])
    again = statistics.median(evaluate_again(campaign.folder, rounds, reference=campaign.reference.stem))
    progress(f"{campaign.name}: {again:.2f} s in a process that has done it before")
    sizes = {"hundred": (5, 200) if options.quick else HUNDRED, "million": (1, 5000) if options.quick else MILLION}
    without_peer = {
        key: generated(*size, rounds=min(rounds, 3 if key == "hundred" else 1)) for key, size in sizes.items()
    }
    size = campaign.segments * len(campaign.systems)
    spread = f"**{shown(walls.ratio)}×** ({shown(min(walls.ratios))} to {shown(max(walls.ratios))})"
    rows = [
        row(f"{campaign.name}, {len(campaign.systems)} × {campaign.segments:,}", ours, size, spread),
        [
            "the same in a process that has done it before",
            f"{again:.2f}",
            "",
            "",
            "",
            f"{size / again:,.0f}",
            f"{shown(statistics.median(walls.theirs) / again)}×",
            str(rounds),
        ],
        row("the same by the sacreBLEU command", theirs, size),
        *(row(f"generated, {n} × {m:,}", without_peer[key], n * m) for key, (n, m) in sizes.items()),
    ]
    header = [
        *("systems × segments", "wall s", "CPU s", "queued to scored, s", "peak MiB", "segments/s"),
        *("ratio of wall", "turns"),
    ]
    caption = f"{campaign.title}; scores are equal to sacreBLEU's to 1e-{DIGITS}"
    figures = {"evaluate.ratio": walls.ratio, "evaluate.sacrebleu": statistics.median(walls.theirs)}
    figures |= {"again.wall": again, "again.ratio": statistics.median(walls.theirs) / again}
    for key, runs in {"evaluate": ours, **without_peer}.items():
        figures |= {f"{key}.{what}": statistics.median(getattr(run, what) for run in runs) for what in ("wall", "cpu")}
        figures[f"{key}.peak"] = max(run.peak for run in runs)
    names = [f"{len(campaign.systems)} systems", f"{sizes['hundred'][0]} systems"]
    chart = where_the_seconds_go(dict(zip(names, (ours[0], without_peer["hundred"][0]), strict=True)))
    return Section("headline", [Table(header, rows, caption), chart], figures)


def where_the_seconds_go(runs: dict[str, Evaluated]) -> Chart:
    """One run of each campaign of usual size, by name."""
    parts = {
        "queued to scored": [run.work for run in runs.values()],
        "start, reading, storing, report": [run.wall - run.work for run in runs.values()],
    }
    lines = [Line(name, [*runs], values) for name, values in parts.items()]
    return Chart("stacked", "headline", "Where the seconds of `steelyard evaluate` go", ["wall s"], lines)


if __name__ == "__main__":
    alone(__doc__, section)
