"""How soon systems that got worse are found, and how often ones that did not.

    python -m benchmarks.simulations.changes [DIR] [--reference LABEL] [--series 200] [--metric bleu]

First on noise: how often a series without a change has one, looked at once and looked at every night; and after how
many nights a step is found, in standard deviations of the nights. Then on DIR (a campaign folder: source.txt, refs/,
systems/): nights of its first system, in which a share of the segments is left untranslated from one night on; by a
system that always answers the same, and by one that takes a tenth of its segments, others every night, from the second
system. Statistics are exchanged segment by segment, so nothing is scored twice. Tables in Markdown.
"""

from __future__ import annotations

import os
from itertools import pairwise

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.harness.campaign import Campaign, arguments, campaigns
from steelyard.formats.plain import read_lines
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.bootstrap import replicate_sums
from steelyard.resampling.bootstrap_p import bootstrap_p
from steelyard.resampling.change_points import find_change_points

BEFORE, AFTER = 20, 20
"""Nights before and after a step."""
REPLICATES = 1000
ALPHA = 0.05
"""Of the paired tests; changes have steelyard.resampling.change_points.ALPHA."""


def main() -> None:
    """Simulate and print."""
    parser = arguments(__doc__)
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--metric", default="bleu")
    options = parser.parse_args()
    noise(options.series)
    steps(options.series)
    for campaign in campaigns(options):
        degraded(campaign, options.metric, max(options.series // 10, 5))


def noise(count: int) -> None:
    """Series in which nothing changes."""
    print(f"\nSeries without a change that have one, of {count}\n")
    print("| nights | looked at once, 0.05 | 0.01 | every night, 0.01 |\n|---:|---:|---:|---:|")
    for nights in (10, 20, 40, 80):
        made = [np.random.default_rng(seed).standard_normal(nights) for seed in range(count)]
        once = [sum(bool(find_change_points(values, alpha)) for values in made) for alpha in (0.05, 0.01)]
        ever = sum(
            any(find_change_points(values[:night]) for night in range(8, nights + 1)) for values in made[: count // 4]
        )
        print(f"| {nights} | {once[0] / count:.1%} | {once[1] / count:.1%} | {4 * ever / count:.1%} |")


def steps(count: int) -> None:
    """Steps of several sizes, and a slow decline."""
    print(f"\nNights until a step after {BEFORE} nights is found, of {count // 2} series\n")
    print("| step, standard deviations | found within 20 nights | median | of ten, nine within |\n|---|---:|---:|---:|")
    decline = -0.15 * np.arange(1, AFTER + 1)
    made = {f"{size:g}": np.full(AFTER, -size) for size in (1.0, 1.5, 2.0, 3.0, 5.0)}
    for name, step in {**made, "0.15 a night": decline}.items():
        waits = []
        for seed in range(count // 2):
            values = np.random.default_rng(seed).standard_normal(BEFORE + AFTER)
            values[BEFORE:] += step
            waits.append(wait_for_step(values))
        print(f"| {name} | {row_of(waits)} |")


def wait_for_step(values: np.ndarray) -> float:
    """Nights of the new level until a step is found that is not before it; infinite where none is."""
    for night in range(1, AFTER + 1):
        if any(step.at >= BEFORE - 3 for step in find_change_points(values[: BEFORE + night])):
            return night
    return np.inf


def row_of(waits: list[float]) -> str:
    """Share that was found, median and ninth tenth."""
    found = np.isfinite(waits).mean()
    ordered = sorted(waits)
    shown = [ordered[int(share * (len(waits) - 1))] for share in (0.5, 0.9)]
    return f"{found:.0%} | " + " | ".join("more" if np.isinf(each) else f"{each:g}" for each in shown)


def degraded(campaign: Campaign, name: str, count: int) -> None:
    """Segments left untranslated, by a system that does not vary and by one that does."""
    reference, first, second, *_ = campaign.texts()
    source = read_lines(campaign.reference.parents[1] / "source.txt").bytes
    metric = parse_metric(name)
    (measured,) = score_systems(
        Segments(references=[reference], hypotheses=[first, second, source]), [metric], keep_statistics=True
    )
    good, other, bad = measured.statistics  # type: ignore[misc]
    segments = len(good)
    counts = resampling_counts(segments, 12345, REPLICATES, 0, segments)
    print(f"\n{campaign.title}\n{measured.metric.title}, {count} series of {BEFORE} and {AFTER} nights\n")
    head = ("nights vary", "untranslated", "score", "first night against the one before", "any of the nights before it")
    print(f"| {' | '.join(head)} | lasting change | median night | nine of ten |\n|---{'|---:' * 7}|")
    for varies in (False, True):
        for share in (0.0, 0.01, 0.03, 0.1):
            waits, first_night, any_night, losses = [], 0, 0, []
            for seed in range(count if varies else 1):
                draw = np.random.default_rng(seed)
                spoilt = np.zeros(segments, bool)
                spoilt[draw.choice(segments, round(share * segments), replace=False)] = True
                sums = []
                for night in range(BEFORE + AFTER):
                    mixed = np.where((draw.random(segments) < 0.1 * varies)[:, None], other, good)
                    chosen = np.where(spoilt[:, None] & (night >= BEFORE), bad, mixed)
                    sums.append(np.vstack([chosen.sum(axis=0), replicate_sums(counts, chosen)]))
                scores = np.stack([metric.score(each) for each in sums])
                p = [bootstrap_p(now[0] - last[0], now[1:] - last[1:]) for last, now in pairwise(scores)]
                first_night += p[BEFORE - 1] < ALPHA
                any_night += min(p[: BEFORE - 1]) < ALPHA
                losses.append(scores[BEFORE:, 0].mean() - scores[:BEFORE, 0].mean())
                waits.append(wait_that_counts(scores))
            of = len(waits)
            print(f"| {'yes' if varies else 'no'} | {share:.0%} | {np.mean(losses):+.2f} | {first_night / of:.0%} "
                  f"| {any_night / of:.0%} | {row_of(waits)} |", flush=True)  # fmt: skip


def wait_that_counts(scores: np.ndarray) -> float:
    """Nights until a change for the worse is found that other segments would show, too; scores (nights, 1 + B)."""
    for night in range(1, AFTER + 1):
        for step in find_change_points(scores[: BEFORE + night, 0]):
            before, after = (scores[a:b].mean(axis=0) for a, b in ((step.before, step.at), (step.at, step.after)))
            change = after - before
            if change[0] < 0 and step.at >= BEFORE - 3 and bootstrap_p(change[0], change[1:]) < ALPHA:
                return night
    return np.inf


if __name__ == "__main__":
    main()
