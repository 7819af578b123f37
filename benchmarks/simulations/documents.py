"""Whole documents drawn, not segments: how wide intervals are then, and whether they keep their promise.

    python -m benchmarks.simulations.documents DIR ... [--reference LABEL] [--metrics bleu chrf] [--samples 1000]

DIR is a campaign folder with docs.tsv. First, for each metric, the standard deviation of 1,000 replicates made of
documents, over that of replicates made of segments: of systems' scores and of the differences of all pairs. Then, as
`benchmarks.simulations.coverage` does with segments: the documents of DIR stand for all that could be translated, so
that true scores are known. Test sets of as many documents are drawn from them with replacement; how many 95 % intervals
of each kind hold the true score and the true difference of the first two systems, and how often a randomization test at
0.05 finds a difference where the outputs of whole documents were exchanged at random, so that there is none. Tables in
Markdown.
"""

from __future__ import annotations

import os
import statistics
from itertools import combinations
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.harness.campaign import arguments, campaigns
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.bootstrap import replicate_sums
from steelyard.resampling.documents import Documents
from steelyard.resampling.interval import percentile_interval
from steelyard.resampling.randomization import permutation_counts, randomization_p
from steelyard.resampling.runs import standard_deviation

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from steelyard.metrics.contract import MetricContract

    Floats = NDArray[np.float64]

REPLICATES = TRIALS = 1000
SEED = 12345
LEVEL, ALPHA = 0.95, 0.05


def main() -> None:
    """Print the tables of each campaign."""
    parser = arguments(__doc__)
    parser.add_argument("--metrics", nargs="+", default=["bleu", "chrf"])
    parser.add_argument("--samples", type=int, default=1000)
    options = parser.parse_args()
    for campaign in campaigns(options):
        reference, *systems = campaign.texts()
        names = names_of_documents(campaign.reference.parents[1] / "docs.tsv")
        documents = Documents.from_names(names)
        metrics = [parse_metric(name) for name in options.metrics]
        segments = Segments(references=[reference], hypotheses=systems)
        of_segments, of_documents = (
            score_systems(
                segments, metrics, replicates=REPLICATES, seed=SEED, documents=unit, keep_statistics=unit is None
            )
            for unit in (None, documents)
        )
        print(f"\n{campaign.title}, {documents.count} documents\n")
        print("| metric | scores: median (least to most) | differences |\n|---|---|---|")
        pairs = list(combinations(range(len(systems)), 2))
        for narrow, wide in zip(of_segments, of_documents, strict=True):
            one, other = wide.replicate_scores, narrow.replicate_scores
            differences = ratios([one[b] - one[a] for a, b in pairs], [other[b] - other[a] for a, b in pairs])
            print(f"| {wide.metric.title} | {ratios(one, other)} | {differences} |")
        print("\n| intervals that hold the true value; false differences | by segment | by document |\n|---|---|---|")
        for each in of_segments:
            assert each.statistics is not None
            print_promises(each.metric, each.statistics[:2], documents, options.samples)


def print_promises(metric: MetricContract, pair: Floats, documents: Documents, samples: int) -> None:
    """Rows on two systems, given by their statistics of segments, (2, segments, k)."""
    held = np.zeros((2, 2))
    found = np.zeros(2)
    totals = metric.score(pair.sum(axis=1))
    true = np.array([totals[0], totals[1] - totals[0]])
    begins = [np.flatnonzero(documents.of_segment == number) for number in range(documents.count)]
    for sample in range(samples):
        random = np.random.default_rng(SEED + sample)
        drawn = random.integers(0, documents.count, documents.count)
        chosen = np.concatenate([begins[each] for each in drawn])
        own = Documents.from_names(np.repeat(np.arange(len(drawn)), [len(begins[each]) for each in drawn]).tolist())
        statistics_of = pair[:, chosen]
        swapped = random.integers(0, 2, own.count).astype(bool)[own.of_segment]
        exchanged = np.where(swapped[None, :, None], statistics_of[::-1], statistics_of)
        for unit, count in enumerate((len(chosen), own.count)):
            tables = [each if unit == 0 else own.added_up(each) for each in (statistics_of, exchanged)]
            counts = resampling_counts(count, SEED + 1 + sample, REPLICATES, 0, count)
            replicates = np.stack([metric.score(replicate_sums(counts, each)) for each in tables[0]])
            for kind, values in enumerate((replicates[0], replicates[1] - replicates[0])):
                low, high = percentile_interval(values, LEVEL)
                held[unit, kind] += low <= true[kind] <= high
            (large,) = permutation_counts(
                metric, tables[1], [(0, 1)], seed=SEED + 1 + sample, first_trial=0, last_trial=TRIALS
            )
            found[unit] += randomization_p(int(large), TRIALS) < ALPHA
    for kind, what in enumerate(("score", "difference")):
        cells = " | ".join(f"{share:.1%}" for share in held[:, kind] / samples)
        print(f"| {metric.title}, {what} | {cells} |")
    print(f"| {metric.title}, false differences | {' | '.join(f'{share:.1%}' for share in found / samples)} |")


def names_of_documents(path: Path) -> list[str]:
    """The document of each segment."""
    return [line.split("\t")[1] for line in path.read_text().splitlines()[1:]]


def ratios(of_documents: Floats | list[Floats], of_segments: Floats | list[Floats]) -> str:
    """Of standard deviations: the median, the least and the most."""
    found = [standard_deviation(x) / standard_deviation(y) for x, y in zip(of_documents, of_segments, strict=True)]
    return f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})"


if __name__ == "__main__":
    main()
