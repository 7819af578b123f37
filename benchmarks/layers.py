"""Each layer alone, beside what bounds it: memory, look-ups, matrix products, the disk.

    python -m benchmarks.layers [DIR ...] [--reference LABEL] [--rounds 5] [--copies 10]

The first campaign, from files to a report, in one process: CPU of each layer, the least of many runs, with what it
needs made before; by the clock where it waits for the disk. Limits are measured in the same run by the least program
that does nothing else. The distance is how many times longer a layer takes than its limit would for as much. Last, the
share of the time of worker processes in a queued campaign that is the kernels' (`benchmarks.overhead`).
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.harness.alone import alone, progress
from benchmarks.harness.campaign import Campaign, campaigns
from benchmarks.harness.installation import installation
from benchmarks.overhead import METRICS, one_round, resolved
from benchmarks.report.section import Chart, Line, Section, Table
from benchmarks.single_layers.limits import Layer, Limit, measured_limits
from benchmarks.single_layers.number_layers import number_layers
from benchmarks.single_layers.stored_layers import stored_layers
from benchmarks.single_layers.text_layers import PACE, pace, text_layers

if TYPE_CHECKING:
    import argparse

WAY = {
    "reading": ("reading",),
    "words": ("tokens, 13a", "tokens, TER's"),
    "BLEU": ("bleu: statistics",),
    "chrF": ("chrf: statistics",),
    "TER": ("ter: statistics",),
    "replicates": ("draws of 1,000 replicates", "sums of 1,000 replicates", "formulas of 1,000 replicates"),
    "paired tests": ("paired tests, all pairs",),
}
"""Layers between the files and the p-values of BLEU, chrF and TER, for the picture."""


def layers_table(layers: list[Layer], limits: dict[str, Limit], campaign: Campaign) -> Table:
    """A row of each layer."""
    header = ["layer", "ms", "amount", "rate", "limit", "distance"]
    return Table(header, [layer.row(limits) for layer in layers], campaign.title)


def limits_table(limits: dict[str, Limit]) -> Table:
    """A row of each limit."""
    return Table(["limit of this machine", "rate"], [[each.name, each.shown] for each in limits.values()])


def way(layers: list[Layer], campaign: Campaign) -> Chart:
    """One bar of what comes after each other."""
    spent = {layer.name: 1000 * layer.seconds for layer in layers}
    lines = [Line(name, [campaign.name], [sum(spent[each] for each in its)]) for name, its in WAY.items()]
    title = f"From files to p-values: BLEU, chrF and TER of {len(campaign.systems)} systems, 1,000 paired replicates"
    return Chart("stacked", "layers", title, ["CPU ms"], lines)


def kernel_share(campaign: Campaign, copies: int, rounds: int) -> list[float]:
    """Of the time of all worker processes in a queued campaign, by round; in the first one costs are only stated."""
    metrics = resolved(campaign, list(METRICS))
    with installation(os.cpu_count() or 1) as place:
        return [1 - one_round(place, campaign, metrics, copies, number).overhead for number in range(rounds)]


def section(options: argparse.Namespace) -> Section:
    """Layers, limits, the picture, the kernels' share."""
    campaign = campaigns(options)[0]
    copies, rounds = (1, 1) if options.quick else (options.copies, options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        limits = measured_limits(campaign.texts(), Path(folder))
        progress(f"{len(limits)} limits")
        layers = text_layers(campaign) + number_layers(campaign)
        limits[PACE] = pace(layers)
        progress(f"{len(layers)} layers in memory")
        layers += stored_layers(campaign, Path(folder), rounds)
    share = max(kernel_share(campaign, copies, 1 if options.quick else 2))
    progress(f"kernels {share:.1%} of the workers' time")
    said = (
        f"Kernel time over all time of worker processes, twelve metrics, {copies} copies of the campaign: {share:.1%}."
    )
    parts = [layers_table(layers, limits, campaign), way(layers, campaign), limits_table(limits), said]
    figures = {layer.name: layer.seconds for layer in layers} | {"kernels.share": share}
    figures |= {
        f"{layer.name}.distance": layer.distance(limits) for layer in layers if layer.limit in limits and layer.amount
    }
    return Section("layers", parts, figures)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of this benchmark alone."""
    parser.add_argument("--copies", type=int, default=10)


if __name__ == "__main__":
    alone(__doc__, section, add_options)
