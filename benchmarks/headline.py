"""Whole campaigns from start to report, in wall time: beside the sacreBLEU command, and a hundred systems.

    python -m benchmarks.headline [DIR ...] [--reference LABEL] [--rounds 5]

`steelyard evaluate` with BLEU, chrF and TER, 1,000 replicates, intervals, tests of all pairs, queue, database and
report; and `sacrebleu -m bleu chrf ter --paired-bs`, which tests each system against the first, in turn with it. Then
100 generated systems of 2,000 segments without a peer.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.alone import alone, progress
from benchmarks.campaign import Campaign, campaigns
from benchmarks.evaluating import THREE, Evaluated, evaluate
from benchmarks.generated import write_campaign
from benchmarks.pairs import shown
from benchmarks.sacre import printed_scores
from benchmarks.section import Chart, Line, Section, Table
from benchmarks.timing import Finished, Pair, turns, whole_process

if TYPE_CHECKING:
    import argparse

DIGITS = 9
HUNDRED = (100, 2000)
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


def section(options: argparse.Namespace) -> Section:
    """One table, and a chart of where the seconds go."""
    campaign = campaigns(options)[0]
    rounds = 1 if options.quick else options.rounds
    ours, theirs = beside_sacrebleu(campaign, rounds)
    walls = Pair([run.wall for run in ours], [run.wall for run in theirs])
    systems, segments = (5, 200) if options.quick else HUNDRED
    with tempfile.TemporaryDirectory() as folder:
        many = write_campaign(Path(folder) / "many", systems, segments)
        hundred = [evaluate(many) for _ in turns(min(rounds, 3), ENOUGH)]
    progress(f"{systems} systems: {min(run.wall for run in hundred):.2f} s")
    spread = f"**{shown(walls.ratio)}×** ({shown(min(walls.ratios))} to {shown(max(walls.ratios))})"
    size = campaign.segments * len(campaign.systems)
    rows = [
        row(f"{campaign.name}, {len(campaign.systems)} systems × {campaign.segments:,}", ours, size, spread),
        row("the same by the sacreBLEU command", theirs, size),
        row(f"generated, {systems} systems × {segments:,}", hundred, systems * segments),
    ]
    header = ["campaign", "wall s", "CPU s", "queued to scored, s", "peak MiB", "segments/s", "ratio of wall", "turns"]
    caption = f"{campaign.title}; scores are equal to sacreBLEU's to 1e-{DIGITS}"
    parts = {
        "start, reading, storing, report": [run[0].wall - run[0].work for run in (ours, hundred)],
        "queued to scored": [run[0].work for run in (ours, hundred)],
    }
    names = [f"{len(campaign.systems)} systems", f"{systems} systems"]
    chart = Chart(
        "stacked", "headline", "Where the seconds of `steelyard evaluate` go", ["wall s"],
        [Line(name, names, values) for name, values in parts.items()],
    )  # fmt: skip
    figures = {
        "evaluate.ratio": walls.ratio,
        "evaluate.wall": statistics.median(walls.ours),
        "evaluate.sacrebleu": statistics.median(walls.theirs),
        "evaluate.cpu": statistics.median(run.cpu for run in ours),
        "evaluate.peak": max(run.peak for run in ours),
        "hundred.wall": statistics.median(run.wall for run in hundred),
        "hundred.cpu": statistics.median(run.cpu for run in hundred),
        "hundred.peak": max(run.peak for run in hundred),
    }
    return Section("headline", [Table(header, rows, caption), chart], figures)


if __name__ == "__main__":
    alone(__doc__, section)
