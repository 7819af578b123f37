"""What replicates cost: 1,000, 2,000 and 10,000 of them, for one system and for all, warm.

    python -m benchmarks.replicates [DIR ...] [--reference LABEL] [--rounds 5]

BLEU, chrF and TER from texts in memory to scores, replicates and, for several systems, p-values, and the same without
replicates, in turn; CPU seconds, the least of all rounds. The cost of a replicate is the slope of a line through all
amounts. Ours is measured with another seed each time, so that nothing is known, and with the same seed, as a worker has
it that measures more than one submission for a test set. sacreBLEU reads its files each time.
"""

from __future__ import annotations

import os
import time
from itertools import count
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.harness.alone import alone, progress
from benchmarks.harness.campaign import Campaign, campaigns
from benchmarks.harness.evaluating import THREE
from benchmarks.harness.timing import turns
from benchmarks.peers import libraries as peers
from benchmarks.peers.sacre import sacrebleu
from benchmarks.report.fit import line, power
from benchmarks.report.section import Chart, Line, Section, Table
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.paired import paired_bootstrap

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

AMOUNTS = (1000, 2000, 4000, 10_000)
PEERS = 2
"""Rounds of sacreBLEU at most."""


def ours(campaign: Campaign, systems: int, *, same_seed: bool) -> Callable[[int], object]:
    """From texts to p-values with so many replicates."""
    reference, *outputs = campaign.texts()
    metrics = [parse_metric(name) for name in THREE]
    seeds = count(1)

    def run(replicates: int) -> object:
        seed = 12345 if same_seed else next(seeds)
        found = score_systems(
            Segments(references=[reference], hypotheses=outputs[:systems]), metrics, replicates=replicates, seed=seed
        )
        return paired_bootstrap(found) if replicates and systems > 1 else found

    return run


def seconds(run: Callable[[int], object], amounts: tuple[int, ...], rounds: int) -> dict[int, float]:
    """CPU of each amount and of none, the least of all rounds after one that is not counted."""
    spent: dict[int, list[float]] = {amount: [] for amount in (0, *amounts)}
    run(amounts[0])
    for _ in turns(rounds):
        for amount, times in spent.items():
            begun = time.process_time()
            run(amount)
            times.append(time.process_time() - begun)
    return {amount: min(times) for amount, times in spent.items()}


def section(options: argparse.Namespace) -> Section:
    """A row for each way, and a chart of what replicates add."""
    campaign = campaigns(options)[0]
    amounts = (100, 200) if options.quick else AMOUNTS
    rounds = 1 if options.quick else 2 * options.rounds
    every = len(campaign.systems)
    ways: list[tuple[str, str, Callable[[int], object], int]] = [
        ("one.first", "ours, 1 system, new draws", ours(campaign, 1, same_seed=False), rounds),
        ("one", "ours, 1 system, same draws", ours(campaign, 1, same_seed=True), rounds),
        ("all.first", f"ours, {every} systems, paired, new draws", ours(campaign, every, same_seed=False), rounds),
        ("all", f"ours, {every} systems, paired, same draws", ours(campaign, every, same_seed=True), rounds),
    ]
    left_out = []
    if "sacreBLEU" in peers.imported():
        theirs = (campaign.reference, campaign.systems[:1], list(THREE))
        ways.append(
            ("sacrebleu", "sacreBLEU, 1 system", lambda n: sacrebleu(*theirs, replicates=n), min(rounds, PEERS))
        )
    else:
        left_out.append("sacreBLEU was left out: it is not installed.")
    rows, lines, figures = [], [], {}
    for key, name, run, times in ways:
        spent = seconds(run, amounts, times)
        slope, _ = line(list(spent), list(spent.values()))
        added = [max(spent[amount] - spent[0], 1e-6) for amount in amounts]
        exponent, _ = power(amounts, added)
        rows.append([
            name, *(f"{spent[amount]:.4f}" for amount in (0, *amounts)), f"**{1e6 * slope:.1f}**", f"{exponent:.2f}",
        ])  # fmt: skip
        lines.append(Line(name.removeprefix("ours, ").replace(", paired", ""), amounts, added))
        figures |= {f"{key}.thousand": 1000 * slope, f"{key}.exponent": exponent}
        progress(f"{name}: {1e6 * slope:.1f} µs a replicate")
    header = [
        "CPU s", "without", *(f"{amount:,}" for amount in amounts), "µs of one replicate", "exponent of what they add",
    ]  # fmt: skip
    chart = Chart("growth", "replicates", "What replicates add", ["replicates", "CPU s"], lines)
    return Section("replicates", [Table(header, rows, campaign.title), *left_out, chart], figures)


if __name__ == "__main__":
    alone(__doc__, section)
