"""Do intervals and tests keep what they promise? By simulation, from the statistics of real segments.

    python -m benchmarks.simulations.coverage DIR ... [--reference LABEL] [--segments 500] [--samples 2000]
                                                      [--metrics bleu chrf]

The segments of DIR (a campaign folder: source.txt, refs/, systems/) stand for all that could be translated, so that
true scores are known. Test sets of --segments are drawn from them with replacement, --samples times, and each is judged
as a real one would be: 1,000 bootstrap replicates, 1,000 trials. Tables in Markdown: how often 95 % intervals hold the
true value; how often a test at 0.05 finds a difference where outputs were exchanged at random, so that there is none;
and how often it finds a true one, beside what the power formula says. Nothing is scored again, statistics are added up.
"""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.harness.campaign import Campaign, arguments, campaigns
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import MetricResult, score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.bootstrap import sums_of_tables
from steelyard.resampling.bootstrap_p import bootstrap_p
from steelyard.resampling.interval import INTERVALS, interval
from steelyard.resampling.jackknife import leave_one_out
from steelyard.resampling.power import ALPHA, power_at
from steelyard.resampling.randomization import permutation_counts, randomization_p, sign_flips
from steelyard.resampling.runs import standard_deviation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVEL = 0.95
REPLICATES = TRIALS = 1000
SEED = 20_000
"""Of the samples; the resampling within sample s has the seed SEED + 1 + s."""


def main() -> None:
    """Simulate and print."""
    parser = arguments(__doc__)
    parser.add_argument("--segments", type=int, default=500)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--metrics", nargs="+", default=["bleu", "chrf"])
    options = parser.parse_args()
    for campaign in campaigns(options):
        simulation = Simulation(campaign, options.metrics, options.segments)
        for sample, rows in enumerate(samples(simulation.size, options.segments, options.samples)):
            simulation.judge(sample, rows)
        print(f"\n{campaign.title}\n{options.samples:,} samples of {options.segments} segments\n")
        simulation.show(options.samples)


def samples(population: int, segments: int, count: int) -> Iterator[NDArray[np.int64]]:
    """The rows that each test set is made of."""
    for drawn in resampling_counts(population, SEED, count, 0, population, draws=segments):
        yield np.repeat(np.arange(population), drawn)


class Simulation:
    """What is known of the population, and what was found in samples so far."""

    def __init__(self, campaign: Campaign, metrics: list[str], segments: int) -> None:
        reference, *systems = campaign.texts()
        chosen = [parse_metric(name) for name in metrics]
        population = score_systems(
            Segments(references=[reference], hypotheses=systems), chosen, replicates=REPLICATES, keep_statistics=True
        )
        self.size = population[0].statistics.shape[1]  # type: ignore[union-attr]
        self.pairs = two_pairs(population[0], segments, self.size)
        self.systems = sorted({system for pair in self.pairs for system in pair})
        self.names = [path.stem for path in campaign.systems]
        self.metrics = chosen
        self.statistics: list[Floats] = [each.statistics for each in population]  # type: ignore[misc]
        self.scores = [each.scores for each in population]
        self.held: Counter[tuple[str, str, str]] = Counter()
        self.tried: Counter[tuple[str, str, str]] = Counter()
        self.found: Counter[tuple[str, str, str]] = Counter()
        self.predicted: dict[tuple[str, str], list[float]] = defaultdict(list)

    def judge(self, sample: int, rows: NDArray[np.int64]) -> None:
        """One test set."""
        seed = SEED + 1 + sample
        counts = resampling_counts(len(rows), seed, REPLICATES, 0, len(rows))
        statistics = [each[:, rows] for each in self.statistics]
        replicates = sums_of_tables(counts, statistics)
        exchanged = [
            exchange(each[list(self.pairs[0])], sign_flips(len(rows), SEED, sample, sample + 1)[0])
            for each in statistics
        ]
        without_difference = sums_of_tables(counts, exchanged)
        for number, metric in enumerate(self.metrics):
            resampled = metric.score(replicates[number])
            scores = metric.score(statistics[number].sum(axis=1))
            left_out = leave_one_out(metric, statistics[number])
            true = self.scores[number]
            for system in self.systems:
                values = resampled[system], scores[system], left_out[system], true[system]
                self.hold(f"{metric.title}, score", *values)
            for a, b in self.pairs:
                values = tuple(each[b] - each[a] for each in (resampled, scores, left_out, true))
                self.hold(f"{metric.title}, difference", *values)
                name, key = f"{self.names[a]} and {self.names[b]}", metric.title
                self.test(metric, statistics[number][[a, b]], resampled[[a, b]], seed, (name, key))
                self.predicted[name, key].append(power_at(values[3], standard_deviation(values[0])))
            self.test(metric, exchanged[number], metric.score(without_difference[number]), seed, ("none", metric.title))

    def hold(self, what: str, replicates: Floats, score: float, left_out: Floats, true: float) -> None:
        """Whether intervals hold the true value."""
        for kind in INTERVALS:
            ends = interval(kind, replicates, LEVEL, score, left_out)
            self.tried[what, kind, ""] += 1
            if ends is not None:
                side = "below" if true < ends[0] else "above" if true > ends[1] else "held"
                self.held[what, kind, side] += 1

    def test(self, metric, statistics: Floats, resampled: Floats, seed: int, key: tuple[str, str]) -> None:  # noqa: ANN001
        """Whether the tests find a difference between two systems."""
        difference = float(np.subtract(*metric.score(statistics.sum(axis=1))))
        differences = resampled[0] - resampled[1]
        (count,) = permutation_counts(metric, statistics, [(0, 1)], seed=seed, first_trial=0, last_trial=TRIALS)
        self.found[*key, "bootstrap"] += bootstrap_p(difference, differences) < ALPHA
        self.found[*key, "randomization"] += randomization_p(int(count), TRIALS) < ALPHA
        self.found[*key, "sacreBLEU's bootstrap"] += sacrebleu_p(difference, differences) < ALPHA

    def show(self, samples: int) -> None:
        """Three tables."""
        print("| nominal 95 % intervals | percentile | BCa |\n|---|---|---|")
        for what in dict.fromkeys(key[0] for key in self.tried):
            cells = []
            for kind in INTERVALS:
                share = {
                    side: self.held[what, kind, side] / self.tried[what, kind, ""]
                    for side in ("held", "below", "above")
                }
                cells.append(f"**{share['held']:.1%}** ({share['below']:.1%}, {share['above']:.1%})")
            print(f"| {what} | {' | '.join(cells)} |")
        tests = ("bootstrap", "randomization", "sacreBLEU's bootstrap")
        print(f"\n| no difference, found at {ALPHA} | {' | '.join(tests)} |\n|---|---|---|---|")
        for metric in self.metrics:
            shares = [f"{self.found['none', metric.title, test] / samples:.1%}" for test in tests]
            print(f"| {metric.title} | {' | '.join(shares)} |")
        print("\n| true difference | metric | predicted | found: bootstrap | randomization |\n|---|---|---|---|---|")
        for a, b in self.pairs:
            name = f"{self.names[a]} and {self.names[b]}"
            for metric, scores in zip(self.metrics, self.scores, strict=True):
                shares = [self.found[name, metric.title, test] / samples for test in tests[:2]]
                predicted = math.fsum(self.predicted[name, metric.title]) / samples
                cells = " | ".join(f"{share:.1%}" for share in (predicted, *shares))
                print(f"| {name}: {scores[b] - scores[a]:+.2f} | {metric.title} | {cells} |")


def two_pairs(population: MetricResult, segments: int, size: int) -> list[tuple[int, int]]:
    """Two pairs of systems whose true difference a test set of that size shows about every second time, and mostly."""
    power = {}
    for a, b in combinations(range(len(population.scores)), 2):
        deviation = standard_deviation(population.replicate_scores[b] - population.replicate_scores[a])
        difference = float(population.scores[b] - population.scores[a])
        power[a, b] = power_at(difference, deviation * math.sqrt(size / segments))
    return [min(power, key=lambda pair: abs(power[pair] - wanted)) for wanted in (0.5, 0.8)]


def exchange(pair: Floats, swapped: NDArray[np.uint8]) -> Floats:
    """Two systems' statistics (2, n, k) with the outputs of some segments exchanged."""
    return np.where(swapped[:, np.newaxis] == 1, pair[::-1], pair)


def sacrebleu_p(difference: float, differences: Floats) -> float:
    """What sacreBLEU 2.6 computes from the same differences (`_paired_bs_test`)."""
    sizes = np.abs(differences)
    return (int((sizes - sizes.mean() > abs(difference)).sum()) + 1) / (len(differences) + 1)


if __name__ == "__main__":
    main()
