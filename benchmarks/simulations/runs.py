"""How often tests of two systems with several runs find a difference where there is none.

    python -m benchmarks.simulations.runs DIR ... [--reference LABEL] [--metric bleu] [--samples 100] [--runs 3]

DIR is a campaign folder of four systems or more. Two systems are made of the outputs of the first two, exchanged at
random segment by segment, so that neither is better. A run has, in a share of the segments, what a system made in the
same way of the third and the fourth has there: the smaller the share, the more are runs of one system alike. "Shuffled"
puts all outputs of a segment in a random order: single ones move, as in MultEval, not all runs of a system together.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.harness.campaign import arguments, campaigns
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.bootstrap import replicate_sums
from steelyard.resampling.bootstrap_p import bootstrap_p
from steelyard.resampling.randomization import permutation_counts, randomization_p
from steelyard.resampling.runs import mean_over_runs

DRAWS = 500
ALPHA = 0.05
SHARES = (0.0, 0.1, 0.3, 0.5)


def main() -> None:
    """Print a table for each campaign."""
    parser = arguments(__doc__)
    parser.add_argument("--metric", default="bleu")
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    metric = parse_metric(options.metric)
    for campaign in campaigns(options):
        reference, *systems = campaign.texts()
        (one,) = score_systems(
            Segments(references=[reference], hypotheses=systems[:4]),
            [metric],
            replicates=0,
            seed=1,
            keep_statistics=True,
        )
        assert one.statistics is not None
        print(f"\n{campaign.title}; {metric.title}, {options.runs} runs, {options.samples} samples\n")
        print("| share of the segments in which a run differs from its system | randomization | bootstrap | shuffled |")
        print("|---|---|---|---|")
        for share in SHARES:
            found = np.mean(
                [false_alarms(metric, one.statistics, share, options.runs, seed) for seed in range(options.samples)],
                axis=0,
            )
            print(f"| {share:.0%} | {' | '.join(f'{each:.1%}' for each in found)} |", flush=True)


def false_alarms(metric, statistics, share: float, runs: int, seed: int) -> tuple[bool, ...]:  # noqa: ANN001
    """Whether randomization, bootstrap, and shuffled outputs find a difference between two systems made by chance."""
    random = np.random.default_rng(seed)
    segments = statistics.shape[1]
    systems, others = (exchanged(statistics[pair : pair + 2], random) for pair in (0, 2))
    differs = random.random((2, runs, segments, 1)) < share
    outputs = np.where(differs, others[:, np.newaxis], systems[:, np.newaxis]).reshape(2 * runs, segments, -1)
    sizes = [runs, runs]
    counts = permutation_counts(metric, outputs, [(0, 1)], seed=seed, first_trial=0, last_trial=DRAWS, runs=sizes)
    drawn = resampling_counts(segments, seed, DRAWS, 0, segments)
    replicates = mean_over_runs(np.stack([metric.score(replicate_sums(drawn, each)) for each in outputs]), sizes)
    scores = mean_over_runs(metric.score(outputs.sum(axis=1)), sizes)
    by_bootstrap = bootstrap_p(scores[1] - scores[0], replicates[1] - replicates[0])
    shuffled = np.array([shuffled_difference(metric, outputs, random) for _ in range(DRAWS)])
    as_large = int((np.abs(shuffled) >= abs(scores[1] - scores[0])).sum())
    return tuple(
        p < ALPHA for p in (randomization_p(int(counts[0]), DRAWS), by_bootstrap, (as_large + 1) / (DRAWS + 1))
    )


def shuffled_difference(metric, outputs, random: np.random.Generator) -> float:  # noqa: ANN001
    """The difference where the outputs of all runs of both systems are in a random order in each segment."""
    places = random.random(outputs.shape[:2]).argsort(axis=0)
    scores = metric.score(np.take_along_axis(outputs, places[:, :, np.newaxis], axis=0).sum(axis=1))
    half = len(scores) // 2
    return scores[half:].mean() - scores[:half].mean()


def exchanged(pair, random: np.random.Generator):  # noqa: ANN001, ANN201
    """Two systems' statistics (2, n, k) with the outputs of about half of the segments exchanged."""
    return np.where(random.integers(0, 2, pair.shape[1])[:, np.newaxis] == 0, pair, pair[::-1])


if __name__ == "__main__":
    main()
