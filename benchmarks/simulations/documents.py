"""How much wider intervals are where whole documents are drawn, not segments.

    python -m benchmarks.simulations.documents DIR ... [--reference LABEL] [--metrics bleu chrf]

DIR is a campaign folder with docs.tsv. For each metric the standard deviation of 1,000 replicates made of documents, as
many as there are, over that of replicates made of segments: of the systems' scores and of the differences of all pairs.
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
from steelyard.resampling.runs import standard_deviation

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

REPLICATES, SEED = 1000, 12345


def main() -> None:
    """Print a table for each campaign."""
    parser = arguments(__doc__)
    parser.add_argument("--metrics", nargs="+", default=["bleu", "chrf"])
    options = parser.parse_args()
    for campaign in campaigns(options):
        reference, *systems = campaign.texts()
        documents = numbered_documents(campaign.reference.parents[1] / "docs.tsv")
        count = int(documents.max()) + 1
        counts = resampling_counts(count, SEED, REPLICATES, 0, count)
        print(f"\n{campaign.title}, {count} documents\n")
        print("| metric | scores: median (least to most) | differences |\n|---|---|---|")
        metrics = [parse_metric(name) for name in options.metrics]
        for one in score_systems(
            Segments(references=[reference], hypotheses=systems),
            metrics,
            replicates=REPLICATES,
            seed=SEED,
            keep_statistics=True,
        ):
            assert one.statistics is not None
            replicates = []
            for of_system in one.statistics:
                sums = np.zeros((count, of_system.shape[1]))
                np.add.at(sums, documents, of_system)
                replicates.append(one.metric.score(replicate_sums(counts, sums)))
            scores = ratios(replicates, one.replicate_scores)
            pairs = list(combinations(range(len(systems)), 2))
            differences = ratios(
                *([each[b] - each[a] for a, b in pairs] for each in (replicates, one.replicate_scores))
            )
            print(f"| {one.metric.title} | {scores} | {differences} |")


def numbered_documents(path: Path) -> NDArray[np.int64]:
    """The number of each segment's document: (n,)."""
    names = [line.split("\t")[1] for line in path.read_text().splitlines()[1:]]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names])


def ratios(of_documents: list[NDArray[np.float64]], of_segments: list[NDArray[np.float64]]) -> str:
    """Of standard deviations: the median, the least and the most."""
    found = [standard_deviation(x) / standard_deviation(y) for x, y in zip(of_documents, of_segments, strict=True)]
    return f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})"


if __name__ == "__main__":
    main()
