"""The table of a metrics task against its definition, written out with loops."""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from steelyard.errors import BadParameter
from steelyard.meta_evaluation import exchanged_soft_accuracy
from steelyard.meta_evaluation.judged_scores import JudgedMetric, JudgedScores
from steelyard.meta_evaluation.metrics_task import metrics_task
from steelyard.meta_evaluation.task_results import seed_of
from steelyard.resampling.randomization import sign_flips

PERMUTATIONS = 1000


def judged(human, metrics):
    human = np.array(human, np.float64)
    return JudgedScores(
        systems=tuple(f"s{place}" for place in range(len(human))),
        metrics=[
            JudgedMetric(name, name, True, np.zeros(len(human)), np.zeros((0, len(human))), np.array(scores))
            for name, scores in metrics.items()
        ],
        human_systems=np.zeros(len(human)),
        human_segments=human,
        human_raw=np.full_like(human, np.nan),
        comparisons=np.zeros((0, 3), np.intp),
        seed=1,
        replicates=0,
    )


def drawn(seed, systems=5, segments=12, **noise):
    """Human scores from 0 to 10 and metrics that follow them more or less closely."""
    rng = np.random.default_rng(seed)
    human = np.rint(5 - np.arange(systems)[:, None] / 3 + 2 * rng.normal(size=(systems, segments)))
    metrics = {name: human + np.rint(64 * sigma * rng.normal(size=human.shape)) / 64 for name, sigma in noise.items()}
    return human, metrics


# The definitions, by Thompson et al. 2024, section 3, and Deutsch, Foster and Freitag 2023, section 5.


def better_p_of(first, second, flips):
    """Of cells that both have; `flips` says of every permutation where two outputs change places."""
    places = [k for k in range(len(first)) if not math.isnan(first[k] + second[k])]
    if not places:
        return math.nan
    real = sum(first[k] - second[k] for k in places)
    count = 0.0
    for flip in flips:
        total = sum((second[k] - first[k]) if flip[k] else (first[k] - second[k]) for k in places)
        count += 1.0 if total > real else 0.5 if total == real else 0.0
    return count / len(flips)


def soft_accuracy_of(human, metric, flips):
    both = np.isnan(human) | np.isnan(metric)
    human, metric = (np.where(both, np.nan, each) for each in (human, metric))
    errors = []
    for one, other in itertools.combinations(range(len(human)), 2):
        p, q = (better_p_of(each[one].tolist(), each[other].tolist(), flips) for each in (human, metric))
        if not math.isnan(p + q):
            errors.append(abs(p - q))
    return 1 - statistics.fmean(errors)


def calibrated_accuracy_of(human, metric):
    def sign(x, epsilon=0.0):
        return 0 if abs(x) <= epsilon else math.copysign(1, x)

    pairs = [
        [
            (human[one, k] - human[other, k], metric[one, k] - metric[other, k])
            for one, other in itertools.combinations(range(len(human)), 2)
            if not math.isnan(human[one, k] + human[other, k] + metric[one, k] + metric[other, k])
        ]
        for k in range(human.shape[1])
    ]
    pairs = [of_segment for of_segment in pairs if of_segment]
    epsilons = {0.0, *(abs(by_metric) for of_segment in pairs for _, by_metric in of_segment)}
    return max(
        statistics.fmean(
            statistics.fmean(sign(by_human) == sign(by_metric, epsilon) for by_human, by_metric in of_segment)
            for of_segment in pairs
        )
        for epsilon in epsilons
    )


def test_values_are_those_of_the_definitions():
    human, metrics = drawn(1, good=0.5, bad=4.0)
    human[0, :3] = human[2, 5] = np.nan
    metrics["bad"][1, 7] = np.nan
    found = metrics_task({"en-cs": judged(human, metrics)}, trials=0, seed=9)
    flips = sign_flips(human.shape[1], 9, 0, PERMUTATIONS)
    assert [(task.pair, task.statistic) for task in found.tasks] == [("en-cs", "soft-pairwise"), ("en-cs", "acc-eq")]
    for row in found.metrics:
        expected = [
            soft_accuracy_of(human, metrics[row.metric], flips),
            calibrated_accuracy_of(human, metrics[row.metric]),
        ]
        assert [score.value for score in row.scores] == pytest.approx(expected, abs=1e-6)
        assert row.average == pytest.approx(statistics.fmean(expected), abs=1e-6)
        assert (row.rank, {score.rank for score in row.scores}) == (None, {None}), "no trials, no tests"


def standardised(scores):
    """On the grid of 2^-24, where sums do not depend on their order."""
    return np.rint((scores - np.nanmean(scores)) / (np.nanstd(scores) or 1.0) * 2**24) / 2**24


def test_tests_are_permutations_of_cells_that_tasks_draw_apart():
    """Every trial exchanges the standardised scores of some cells, and averages add up the tasks' trials."""
    trials, seed = 12, 5
    pairs = {"en-cs": drawn(2, systems=3, segments=7, one=1.0, two=1.5), "en-de": drawn(3, 4, 6, one=0.7, two=3.0)}
    pairs["en-cs"][0][1, 2] = np.nan
    pairs["en-de"][1]["two"][0, 4] = np.nan
    found = metrics_task({name: judged(*each) for name, each in pairs.items()}, trials=trials, seed=seed)
    assert (found.trials, found.seed) == (trials, seed)
    differences = {}
    for task in found.tasks:
        human, metrics = pairs[task.pair]
        known = ~np.isnan(human) & ~np.isnan(metrics["one"]) & ~np.isnan(metrics["two"])
        human, one, two = (np.where(known, each, np.nan) for each in (human, metrics["one"], metrics["two"]))
        one, two = standardised(one), standardised(two)
        flips = sign_flips(human.shape[1], seed, 0, PERMUTATIONS)

        def value(scores, task=task, human=human, flips=flips):
            exact = soft_accuracy_of(human, scores, flips) if task.statistic == "soft-pairwise" else None
            return calibrated_accuracy_of(human, scores) if exact is None else exact

        draws = sign_flips(int(known.sum()), seed_of(task, seed), 0, trials)
        by_chance = []
        for draw in draws:
            swapped = np.zeros(known.shape, bool)
            swapped[known] = draw.astype(bool)
            by_chance.append(value(np.where(swapped, two, one)) - value(np.where(swapped, one, two)))
        differences[task] = value(one) - value(two), np.array(by_chance)
    assert [row.metric for row in found.metrics] == ["one", "two"]
    real = statistics.fmean(each for each, _ in differences.values())
    by_chance = sum(each for _, each in differences.values()) / len(differences)
    expected = (1 + sum(by_chance >= real - 1e-6)) / (1 + trials)
    assert found.metrics[0].p == ()
    assert found.metrics[1].p == (pytest.approx(expected),)
    assert found.metrics[1].rank == (2 if expected <= 0.05 else 1)
    assert seed_of(found.tasks[0], seed) != seed_of(found.tasks[1], seed)


@pytest.mark.parametrize("at_once", [1, 1 << 27])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_exchanged_soft_accuracy_is_that_of_the_mixed_scores(missing, at_once):
    rng = np.random.default_rng(4)
    human, metrics = drawn(6, a=1.0, b=2.0)
    unknown = rng.random(human.shape) < missing
    human, a, b = (
        np.where(unknown, np.nan, each) for each in (human, standardised(metrics["a"]), standardised(metrics["b"]))
    )
    human[3] = a[3] = b[3] = np.nan
    swapped = rng.random((20, *human.shape)) < 0.5
    compared = [(0, 1), (2, 1)]
    with mock.patch.object(exchanged_soft_accuracy, "MEMORY", at_once):
        found = exchanged_soft_accuracy.exchanged_soft_accuracy(human, np.stack([a, b, -a]), compared, 7, 50)(swapped)
    flips = sign_flips(human.shape[1], 7, 0, 50)
    for number, (one, other) in enumerate([(a, b), (-a, b)]):
        for trial in (0, 15, 16, 19):
            mixed = [np.where(swapped[trial], *both) for both in ((other, one), (one, other))]
            expected = [soft_accuracy_of(human, each, flips) for each in mixed]
            assert found[:, number, trial].tolist() == pytest.approx(expected, abs=1e-6)


def test_groups_begin_where_one_of_the_group_is_significantly_better():
    human, metrics = drawn(8, systems=6, segments=60, good=0.3, alike=0.35, bad=30.0)
    found = metrics_task({"en-cs": judged(human, metrics)}, trials=99)
    assert [(row.metric, row.rank) for row in found.metrics] in (
        [("good", 1), ("alike", 1), ("bad", 2)],
        [("alike", 1), ("good", 1), ("bad", 2)],
    )
    assert found.metrics[2].p == (0.01, 0.01)
    # A p of exactly alpha is significant.
    for alpha, rank in ((0.01, 2), (0.0099, 1)):
        assert metrics_task({"en-cs": judged(human, metrics)}, trials=99, alpha=alpha).metrics[2].rank == rank
    assert [score.rank for score in found.metrics[2].scores if score][-1] > 1


def test_neither_other_pairs_nor_the_order_of_metrics_and_systems_change_a_task():
    human, metrics = drawn(11, one=1.0, two=2.0, three=3.0)
    cs, de = judged(human, metrics), judged(*drawn(12, one=2.0, two=2.0, three=1.0))
    alone, both = metrics_task({"en-cs": cs}, trials=30), metrics_task({"en-de": de, "en-cs": cs}, trials=30)
    for row in alone.metrics:
        (other,) = (each for each in both.metrics if each.metric == row.metric)
        assert other.scores[:2] == row.scores
    turned = metrics_task({"en-cs": replace(cs, metrics=cs.metrics[::-1])}, trials=30)
    assert turned == alone


def test_a_metric_of_some_pairs_has_no_average_and_is_not_zero():
    human, metrics = drawn(13, one=1.0, two=2.0)
    unknown = np.full_like(human, np.nan)
    pairs = {
        "en-cs": judged(human, metrics),
        "en-de": judged(human, {"one": metrics["one"], "two": unknown}),
        "en-zh": judged(np.full_like(human, np.nan), metrics),
    }
    found = metrics_task(pairs, trials=10)
    assert found.left_out == ("en-zh",)
    assert [(row.metric, row.average is None, row.rank) for row in found.metrics] == [
        ("one", False, 1),
        ("two", True, None),
    ]
    assert [score is None for score in found.metrics[1].scores] == [False, False, True, True]
    assert found.to_json()["metrics"][1]["average"] is None


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        ({}, {}, "No metric and human judgments"),
        ({"en-cs": judged(*drawn(1, one=1.0))}, {"trials": -1}, "-1 trials"),
        ({"en-cs": judged(*drawn(1, one=1.0))}, {"alpha": 1.0}, "level of 1.0"),
    ],
)
def test_what_cannot_be_ranked(pairs, options, message):
    with pytest.raises(BadParameter, match=message):
        metrics_task(pairs, **options)
