"""The statistics of a metrics task on WMT24's judgments, against independent computations with NumPy."""

from __future__ import annotations

import csv
from itertools import combinations

import numpy as np
import pytest

from steelyard import ChrF
from steelyard.meta_evaluation.judged_scores import JudgedMetric, JudgedScores
from steelyard.meta_evaluation.metrics_task import metrics_task


@pytest.fixture
def wmt24(real_data):
    """By pair: human scores, and those of chrF and of chrF++."""
    found = {}
    for pair in ("en-cs", "en-zh"):
        folder = real_data / "wmt24"
        if not folder.is_dir():
            pytest.skip(f"no {folder}")
        with (folder / "human" / f"{pair}.esa.tsv").open(encoding="utf-8", newline="") as file:
            rows = [
                row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["system"] != "refA"
            ]
        systems = sorted({row["system"] for row in rows})
        segments = sorted({int(row["segment"]) for row in rows})
        human = np.full((len(systems), len(segments)), np.nan)
        for row in rows:
            human[systems.index(row["system"]), segments.index(int(row["segment"]))] = float(row["score"])
        references = lines(folder / "references" / f"{pair}.refA.txt")
        scores = {
            name: np.array(
                [
                    [metric.sentence_score(output[segment], [references[segment]]).score for segment in segments]
                    for output in (lines(folder / "system-outputs" / pair / f"{system}.txt") for system in systems)
                ]
            )
            for name, metric in (("chrf", ChrF()), ("chrf++", ChrF(word_order=2)))
        }
        found[pair] = systems, human, scores
    return found


def lines(path):
    return path.read_text(encoding="utf-8").split("\n")


def soft_accuracy(human, metric, seed):
    """By other draws: of each permutation the same for all pairs."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (2000, human.shape[1]))

    def p(scores):
        sums, real = signs @ scores.T, scores.sum(1)
        return np.array(
            [
                (sums[:, one] - sums[:, other] > real[one] - real[other] - 1e-9).mean()
                for one, other in combinations(range(len(scores)), 2)
            ]
        )

    return 1 - np.abs(p(human) - p(metric)).mean()


def calibrated_accuracy(human, metric):
    one, other = np.triu_indices(len(human), 1)
    by_human, by_metric = (np.sign(human[one] - human[other]).ravel(), (metric[one] - metric[other]).ravel())
    order = np.argsort(np.abs(by_metric), kind="stable")
    by_human, by_metric = by_human[order], by_metric[order]
    before = np.cumsum((by_human == 0) & True)
    after = (by_human == np.sign(by_metric)).sum() - np.cumsum(by_human == np.sign(by_metric))
    last = np.append(np.diff(np.abs(by_metric)) > 0, True)
    return (before + after)[last].max() / len(order)


def test_wmt24(wmt24):
    pairs = {
        pair: JudgedScores(
            systems=tuple(systems),
            metrics=[
                JudgedMetric(name, name, True, each.mean(1), np.zeros((0, len(systems))), each)
                for name, each in scores.items()
            ],
            human_systems=human.mean(1),
            human_segments=human,
            human_raw=human,
            comparisons=np.zeros((0, 3), np.intp),
            seed=1,
            replicates=0,
        )
        for pair, (systems, human, scores) in wmt24.items()
    }  # fmt: skip
    found = metrics_task(pairs, trials=0)
    assert [(task.pair, task.systems, task.segments) for task in found.tasks[::2]] == [
        ("en-cs", 15, 297), ("en-zh", 12, 297),
    ]  # fmt: skip
    for row in found.metrics:
        for task, score in zip(found.tasks, row.scores, strict=True):
            _, human, scores = wmt24[task.pair]
            if task.statistic == "acc-eq":
                # Every segment has all pairs, so that the mean over segments is that over pairs.
                assert score.value == pytest.approx(calibrated_accuracy(human, scores[row.metric]), abs=1e-9)
            else:
                expected = np.mean([soft_accuracy(human, scores[row.metric], seed) for seed in range(5)])
                assert score.value == pytest.approx(expected, abs=0.01), "1,000 permutations"
