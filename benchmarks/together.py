"""All metrics together against the sum of each alone, and with 1,000 paired replicates: what a campaign costs.

    python -m benchmarks.together [DIR ...] [--reference LABEL] [--rounds 5] [-m METRIC ...] [--resource NAME=FILE ...]

Without -m it takes every metric of the house: vectors of 300 dimensions are trained on the texts first, and the typed
words that SemPOS needs are made of the texts' own words, typed by their checksums. CPU seconds of one warm process,
from texts in memory, everything in turn within each round, the least of all rounds; the statistics must be the same to
the bit. The columns in microseconds are what `Metric.cost` and `CorpusCount.cost` state for the size of shards.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.harness.alone import alone, progress
from benchmarks.harness.campaign import Campaign, campaigns
from benchmarks.report.section import Chart, Line, Section, Table
from steelyard.commands.values import named_file
from steelyard.metrics.alignment.sempos import TYPES
from steelyard.metrics.embeddings.training import Sentences, Training, train
from steelyard.metrics.embeddings.vectors import store
from steelyard.metrics.metric import Metric
from steelyard.metrics.needed_statistics import needed_statistics, states_of
from steelyard.metrics.registry import all_metrics, parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems, shard_statistics
from steelyard.metrics.segments import Segments
from steelyard.resampling.paired import paired_bootstrap

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

EVERY = [f"{each.name}:vectors=own" if each.name.endswith("_modif") else each.name for each in all_metrics()]
REPLICATES = 1000
MODIFS = ("bleu_modif", "wer_modif")
"""They share the comparison of word vectors."""


def trained(campaign: Campaign, folder: Path) -> Path:
    """Vectors of the texts themselves: few words are unknown, which is the most work."""
    files = [campaign.reference, *campaign.systems]
    entries, origin = train(Sentences(files, Training(size=300, min_count=2)))
    store(entries, folder, "texts", origin)
    return folder


def typed(text: bytes) -> bytes:
    """A layer as SemPOS reads it: two words of three, each with a type that depends on the word alone."""
    lines = []
    for line in text.split(b"\n"):
        kept = [(word, crc32(word)) for word in line.split() if crc32(word) % 3]
        lines.append(b" ".join(word + b"/" + TYPES[number % len(TYPES)].encode() for word, number in kept))
    return b"\n".join(lines)


class Campaigner:
    """The texts of a campaign in memory, and what is timed with them."""

    def __init__(self, campaign: Campaign, specifications: list[str], resources: Resources) -> None:
        self.reference, *self.systems = campaign.texts()
        self.resources = resources
        self.layers = {"sempos": [typed(text) for text in (self.reference, *self.systems)]}
        context = RunContext(campaign.language, frozenset(self.layers), resources)
        self.metrics, _ = resolve([parse_metric(each) for each in specifications], context)
        self.statistics = needed_statistics(self.metrics)
        self.states = states_of(self.metrics, self.segments(0))

    def segments(self, systems: int) -> Segments:
        """A shard of so many systems, nothing done yet."""
        layers = {name: texts[: 1 + systems] for name, texts in self.layers.items()}
        states = getattr(self, "states", {})
        return Segments(
            references=[self.reference],
            hypotheses=self.systems[:systems],
            layers=layers,
            resources=self.resources,
            states=states,
        )

    def whole(self, metrics: list[Metric], replicates: int = 0) -> None:
        """From texts to scores, intervals' replicates and p-values."""
        found = score_systems(
            Segments(references=[self.reference], hypotheses=self.systems, layers=self.layers),
            metrics,
            replicates=replicates,
            resources=self.resources,
        )
        if replicates:
            paired_bootstrap(found)


def least(work: dict[Any, Callable[[], Any]], rounds: int) -> dict[Any, float]:
    """CPU seconds of each, the least of so many rounds after a first one in which nothing is timed."""
    spent: dict[Any, list[float]] = {key: [] for key in work}
    for turn in range(rounds + 1):
        for key, do in work.items():
            start = time.process_time()
            do()
            if turn:
                spent[key].append(time.process_time() - start)
    return {key: min(times) for key, times in spent.items()}


def measured(run: Campaigner, rounds: int) -> dict[Any, float]:
    """CPU seconds of all together, with replicates, of each metric alone, of its statistics and of what it counts."""
    count = len(run.systems)
    for metric, same in zip(run.metrics, shard_statistics(run.segments(count), run.metrics), strict=True):
        assert metric.segment_statistics(run.segments(count)).tobytes() == same.tobytes(), metric.specification
    work: dict[Any, Callable[[], Any]] = {
        "together": lambda: run.whole(run.metrics),
        "replicates": lambda: run.whole(run.metrics, REPLICATES),
    }
    for key, each in run.statistics.items():
        work["counting", key] = lambda each=each: each.count(run.segments(0))
    work["modifs"] = lambda: run.whole([metric for metric in run.metrics if metric.name in MODIFS])
    for metric in run.metrics:
        work["alone", metric] = lambda each=metric: run.whole([each])
        for systems in (count, 1):
            work[systems, metric] = lambda each=metric, n=systems: each.segment_statistics(run.segments(n))
    return least(work, rounds)


def report(campaign: Campaign, run: Campaigner, spent: dict[Any, float]) -> Table:
    """The table of a campaign."""
    count, segments = len(run.systems), campaign.segments
    rows = []
    for metric in run.metrics:
        each = [spent[n, metric] / segments / n for n in (count, 1)]
        shown = [f"{1e6 * seconds:.1f}" for seconds in each]
        rows.append([
            f"`{metric.specification}`", f"{spent['alone', metric]:.4f}",
            f"{segments * count / spent['alone', metric]:,.0f}", *shown, f"{metric.cost:.1f}",
        ])  # fmt: skip
    for key, each in run.statistics.items():
        seconds = spent["counting", key]
        micro = f"{1e6 * seconds / segments:.1f}"
        rows.append([f"counting for `{key}`", f"{seconds:.4f}", "", "", micro, f"{each.cost:.1f}"])
    total = sum(spent["alone", metric] for metric in run.metrics)
    share = f"**{spent['together']:.4f}** ({100 * spent['together'] / total:.0f} % of the sum)"
    for name, shown in (
        ("sum of the metrics", f"{total:.4f}"),
        ("all together", share),
        (f"with {REPLICATES:,} paired replicates", f"**{spent['replicates']:.4f}**"),
    ):
        rows.append([name, shown, "", "", "", ""])
    header = [
        "", "CPU s", "segments/s", f"µs per segment and system of {count}", "of one alone", "stated",
    ]  # fmt: skip
    return Table(header, rows, campaign.title)


def section(options: argparse.Namespace) -> Section:
    """A table for each campaign, and a bar for each metric."""
    parts: list[Table | Chart] = []
    figures: dict[str, float] = {}
    bars: dict[str, dict[str, float]] = {}
    for number, campaign in enumerate(campaigns(options)):
        with tempfile.TemporaryDirectory() as folder:
            files = dict(getattr(options, "resource", []))
            if any("vectors=own" in each for each in options.metrics) and "own" not in files:
                files["own"] = trained(campaign, Path(folder))
            run = Campaigner(campaign, options.metrics, Resources(files=files))
            spent = measured(run, 1 if options.quick else options.rounds)
        parts.append(report(campaign, run, spent))
        bars[campaign.name] = {metric.name: spent[len(run.systems), metric] for metric in run.metrics}
        prefix = "" if number == 0 else f"{campaign.name}:"
        figures |= {f"{prefix}{key}": spent[key] for key in ("together", "replicates")}
        count = len(run.systems)
        for key, seconds in {metric.name: spent["alone", metric] for metric in run.metrics}.items():
            figures[f"{prefix}{key}.rate"] = count * campaign.segments / seconds
            figures[f"{prefix}{key}.system"] = seconds / count
        figures[f"{prefix}modifs.system"] = spent["modifs"] / count
        progress(f"{campaign.name}: {spent['replicates']:.3f} s for {len(run.metrics)} metrics with paired replicates")
    metrics = list(bars[campaign.name])
    lines = [Line(name, metrics, [1000 * spent.get(metric, 0.0) for metric in metrics]) for name, spent in bars.items()]
    parts.append(
        Chart("beside", "together", "CPU of each metric, words made for it alone", ["CPU ms, all systems"], lines)
    )
    return Section("together", parts, figures)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of this benchmark alone."""
    parser.add_argument("-m", "--metrics", nargs="+", default=EVERY, metavar="METRIC")
    parser.add_argument("--resource", nargs="+", type=named_file, default=[], metavar="NAME=FILE")


if __name__ == "__main__":
    alone(__doc__, section, add_options)
