from __future__ import annotations

import json
import logging
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import sacrebleu
from sacrebleu.significance import PairedTest

from steelyard import BLEU, TER, ChrF
from steelyard.errors import BadParameter
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling import paired
from steelyard.resampling.bootstrap_p import bootstrap_p
from steelyard.resampling.draws_needed import enough_draws, smallest_p
from steelyard.resampling.interval import interval
from steelyard.resampling.jackknife import leave_one_out
from steelyard.resampling.paired import few_segments, paired_bootstrap, paired_randomization, pairs_to_test
from steelyard.resampling.randomization import permutation_counts, randomization_p
from steelyard.resampling.runs import mean_over_runs
from tests.library.campaigns import joined, read_campaign

METRICS = (BLEU(), ChrF(), ChrF(nw=2), TER())


@pytest.fixture(scope="module")
def campaign(real_data):
    return read_campaign(real_data / "wmt22.de-en")


def measured(campaign, systems, metrics=METRICS, replicates=1000, segments=None, seed=12345):
    return score_systems(
        Segments(
            references=[joined(lines[:segments]) for lines in campaign.references.values()],
            hypotheses=[joined(campaign.systems[name][:segments]) for name in systems],
        ),
        metrics,
        replicates=replicates,
        seed=seed,
        keep_statistics=True,
    )


def small(replicates=200, systems=4, apart=0.1):
    """A measurement of generated statistics; of each system so many words more are wrong than of the one before."""
    rng = np.random.default_rng(1)
    words = ["".join(chr(97 + letter) for letter in rng.integers(0, 4, 3)) for _ in range(400)]
    reference = "\n".join(" ".join(words[i : i + 8]) for i in range(0, 400, 8))
    noisy = []
    for system in range(systems):
        changed = [word if rng.random() < 0.9 - apart * system else "x" for word in words]
        noisy.append("\n".join(" ".join(changed[i : i + 8]) for i in range(0, 400, 8)).encode())
    return score_systems(
        Segments(references=[reference.encode()], hypotheses=noisy),
        METRICS,
        replicates=replicates,
        keep_statistics=True,
    )


def close():
    """Systems that no test tells apart for sure."""
    return small(apart=0.01)


def test_pairs():
    assert pairs_to_test(3, 1) == [(1, 0), (1, 2)]
    assert pairs_to_test(3, None) == [(0, 1), (0, 2), (1, 2)]
    assert pairs_to_test(1, 0) == pairs_to_test(0, None) == []


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomization])
def test_one_family_for_each_metric(test):
    measurements = small()
    found = test(measurements, None, correction="holm")
    assert [(pair.metric, pair.a, pair.b) for pair in found] == [
        (m, *ab) for m in range(4) for ab in pairs_to_test(4, None)
    ]
    alone = [pair for m in range(4) for pair in test(measurements[m : m + 1], None, correction="holm")]
    assert [replace(pair, metric=0) for pair in found] == alone
    raw = test(measurements, None, correction="none")
    assert [pair.p for pair in raw] == [pair.p for pair in found] == [pair.p_corrected for pair in raw]
    assert any(pair.p_corrected > pair.p for pair in found)


def test_any_portions_of_the_pairs_give_the_same(monkeypatch):
    measurements = small()[:2]
    whole = paired_bootstrap(measurements, None)
    monkeypatch.setattr(paired, "AT_ONCE", 4)
    assert paired_bootstrap(measurements, None) == whole


def test_differences_and_their_intervals():
    measurements = small()
    for kind in ("percentile", "bca"):
        found = paired_bootstrap(measurements, 1, level=0.9, kind=kind)
        assert found == [replace(pair, p=old.p, p_corrected=old.p_corrected) for pair, old in zip(
            paired_randomization(measurements, 1, level=0.9, kind=kind, trials=50), found, strict=True)]  # fmt: skip
        for pair in found:
            one = measurements[pair.metric]
            assert pair.difference == one.scores[pair.b] - one.scores[pair.a]
            without = leave_one_out(one.metric, one.statistics)
            replicates = one.replicate_scores[pair.b] - one.replicate_scores[pair.a]
            expected = interval(kind, replicates, 0.9, pair.difference, without[pair.b] - without[pair.a])
            assert pair.interval == expected
            assert expected[0] < pair.difference < expected[1]
    assert paired_bootstrap(measurements, 1) != paired_bootstrap(measurements, 1, kind="bca")


def test_randomization_needs_no_replicates():
    found = paired_randomization(small(replicates=0), kind="bca", trials=99)
    assert all(pair.interval is None and 0 < pair.p < 1 for pair in found)
    with pytest.raises(BadParameter, match="there are none"):
        paired_bootstrap(small(replicates=0))


def test_statistics_that_were_not_kept():
    measurements = [replace(each, statistics=None) for each in small()]
    with pytest.raises(BadParameter, match="were not kept"):
        paired_randomization(measurements)
    with pytest.raises(BadParameter, match="were not kept"):
        paired_bootstrap(measurements, kind="bca")
    assert paired_bootstrap(measurements)


def test_statistics_are_the_same_for_every_shard_size():
    campaign = [b"a b c d\n" * 599 + b"a b d", b"a c d b\n" * 599 + b"a b c"]
    kept = [
        score_systems(
            Segments(references=campaign[:1], hypotheses=campaign[1:]), METRICS, shard_size=size, keep_statistics=True
        )
        for size in (256, 10_000)
    ]
    for one, other in zip(*kept, strict=True):
        assert one.statistics.tobytes() == other.statistics.tobytes()
        assert one.statistics.sum(axis=1).tolist() == one.sums.tolist()
    assert score_systems(Segments(references=campaign[:1], hypotheses=campaign[1:]), METRICS)[0].statistics is None


def p_by_bootstrap(one, runs):
    difference, replicates = (
        np.subtract(*mean_over_runs(each, runs)[::-1]) for each in (one.scores, one.replicate_scores)
    )
    return bootstrap_p(difference, replicates)


def p_by_randomization(one, runs, seed=12345):
    (count,) = permutation_counts(
        one.metric, one.statistics, [(0, 1)], seed=seed, first_trial=0, last_trial=500, runs=runs
    )
    return randomization_p(int(count), 500)


@pytest.mark.parametrize(
    ("test", "p_of"),
    [
        (paired_bootstrap, p_by_bootstrap),
        (partial(paired_randomization, trials=500), p_by_randomization),
        (partial(paired_randomization, trials=500, seed=7), partial(p_by_randomization, seed=7)),
    ],
)
def test_runs_are_compared_by_their_means(test, p_of):
    """Against the plain functions; the systems are close, so that a p-value tells which outputs were compared."""
    runs, measurements = [3, 1], close()
    assert test(measurements, None, runs=[1, 1, 1, 1]) == test(measurements, None)
    for kind in ("percentile", "bca"):
        for pair in test(measurements, 0, runs=runs, kind=kind):
            one = measurements[pair.metric]
            scores, replicates, without = (
                mean_over_runs(each, runs)
                for each in (one.scores, one.replicate_scores, leave_one_out(one.metric, one.statistics))
            )
            difference = scores[1] - scores[0]
            ends = interval(kind, replicates[1] - replicates[0], 0.95, difference, without[1] - without[0])
            assert (pair.a, pair.b, pair.difference, pair.interval) == (0, 1, difference, ends)
            assert 0.01 < pair.p < 1
            assert pair.p == p_of(one, runs)
    with pytest.raises(BadParameter, match="4 outputs"):
        test(measurements, runs=[2, 3])


def test_one_segment_says_nothing_about_chance():
    measurements = score_systems(
        Segments(references=[b"a b c d e f"], hypotheses=[b"a b c d e f", b"a b x", b"a b c d e f"]),
        METRICS,
        replicates=200,
        keep_statistics=True,
    )
    for pair in paired_bootstrap(measurements, None):
        assert pair.p == 1 if (pair.a, pair.b) == (0, 2) else math.isnan(pair.p)
    assert {pair.p for pair in paired_randomization(measurements, None, trials=200)} == {1}


def test_undefined_p_values():
    one = small()[0]
    undefined = replace(one, scores=np.array([math.nan, *one.scores[1:]]), replicate_scores=one.replicate_scores * 1.0)
    found = paired_bootstrap([undefined], None)
    assert [math.isnan(pair.p) for pair in found] == [True] * 3 + [False] * 3
    # The undefined ones do not count as tests.
    assert found[3:] == [
        replace(pair, a=pair.a + 1, b=pair.b + 1)
        for pair in paired_bootstrap(
            [replace(one, scores=one.scores[1:], replicate_scores=one.replicate_scores[1:])], None
        )
    ]


def tolerance(p, q, n, m):
    """Four standard deviations of the difference of two estimates of one p-value."""
    middle = max((p + q) / 2, 2 / min(n, m))
    return 4 * math.sqrt(middle * (1 - middle) * (1 / n + 1 / m))


def sacrebleus(campaign, systems, test, trials, segments=None):
    references = [lines[:segments] for lines in campaign.references.values()]
    named = [(name, campaign.systems[name][:segments]) for name in systems]
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    scores = PairedTest(named, {"BLEU": sacrebleu.BLEU(references=references)}, None, test, trials)()[1]["BLEU"]
    return [(score.score, score.p_value) for score in scores]


def test_randomization_is_sacrebleus(campaign):
    """Close systems, so that p-values of every size come out."""
    systems = [*campaign.systems][:5]
    theirs = sacrebleus(campaign, systems, "ar", 2000, segments=400)
    ours = paired_randomization(measured(campaign, systems, METRICS[:1], 0, segments=400), trials=10_000)
    for (score, p), pair in zip(theirs[1:], ours, strict=True):
        assert pair.difference == pytest.approx(score - theirs[0][0], abs=1e-9)
        assert abs(pair.p - p) < tolerance(pair.p, p, 10_000, 2000)
    assert sum(0.02 < pair.p < 0.9 for pair in ours) >= 2


@pytest.mark.parametrize("pair", ["wmt22.de-en", "wmt22.en-cs"])
def test_bootstrap_differences_are_those_of_sacrebleu(real_data, pair):
    """Their p-value, made from our replicates, is theirs.

    They count how often |d*| - mean |d*| is above |d|: one tail where the difference d is clear, and at most 0.42 where
    there is none. Ours counts |d* - mean d*| >= |d|, both tails.
    """
    expected = json.loads((real_data / f"expected_paired_bs.{pair}.json").read_text())
    names = [expected["baseline"], *(name for name in expected["results"]["BLEU"] if name != expected["baseline"])]
    measurements = measured(read_campaign(real_data / pair), names)
    by_metric = {measurement.metric.title: measurement for measurement in measurements}
    ours = {(found.metric, found.b): found.p for found in paired_bootstrap(measurements)}
    for metric, of_systems in expected["results"].items():
        one = by_metric[metric]
        for number, name in enumerate(names[1:], 1):
            differences = one.replicate_scores[number] - one.replicate_scores[0]
            real = abs(one.scores[number] - one.scores[0])
            shifted = np.abs(differences) - np.abs(differences).mean()
            p = ((shifted > real).sum() + 1) / 1001
            seeds = [of_systems[name]["p_value"], *of_systems[name]["p_values_seeds_1_to_9"]]
            assert abs(p - np.mean(seeds)) < tolerance(p, np.mean(seeds), 1000, 10_000)
            two_sided = ours[measurements.index(one), number]
            assert two_sided >= p
            if real < 0.1 * differences.std():
                assert p < 0.45
                assert two_sided > 0.9


def test_identical_outputs(campaign):
    """sacreBLEU counts only differences that are larger than none, of which there are none."""
    name = next(iter(campaign.systems))
    twins = [name, name]
    for test, trials in (("ar", 100), ("bs", 100)):
        assert sacrebleus(campaign, twins, test, trials, segments=50)[1][1] == 1 / (trials + 1)
    measurements = measured(campaign, twins, replicates=100, segments=50)
    for pair in paired_bootstrap(measurements) + paired_randomization(measurements, trials=100):
        assert (pair.difference, pair.p, pair.p_corrected) == (0, 1, 1)
        assert pair.interval == (0, 0)
    assert all(pair.interval == (0, 0) for pair in paired_bootstrap(measurements, kind="bca"))


def test_trials_are_counted_over_all_metrics():
    told = []
    measurements = small(replicates=0)
    paired_randomization(measurements, trials=3000, on_trials=lambda *told_now: told.append(told_now))
    of_all = 3000 * len(measurements)
    assert {every for _, every in told} == {of_all}
    done = [done for done, _ in told]
    assert done == sorted(done)
    assert done[-1] == of_all
    assert len(done) > len(measurements)


@pytest.mark.parametrize(
    ("stored", "pairs", "correction", "expected"),
    [
        (1000, 28, "holm", 1000),
        (1000, 78, "holm", 8000),
        (1000, 1770, "holm", 36_000),
        (1000, 1770, "none", 1000),
        (1000, 1770, "bh", 1000),
        (1000, 499_500, "holm", 100_000),
        (200_000, 499_500, "holm", 200_000),
        (0, 78, "holm", 0),
        (10, 1, "holm", 1000),
        # No p-value of 19 is below 0.05: the smallest is just that.
        (19, 1, "none", 1000),
        (1000, 300, "holm", 20_000),
    ],
)
def test_how_many_draws_are_enough(stored: int, pairs: int, correction: str, expected: int) -> None:
    assert enough_draws(stored, pairs, correction, 0.05) == expected
    if expected not in (0, 100_000, 200_000):
        assert smallest_p(expected, pairs, correction) < 0.05


def test_the_smallest_p_that_can_come_out_is_that_of_the_family():
    assert smallest_p(99, 3, "holm") == 3 / 100
    assert smallest_p(99, 3, "bh") == smallest_p(99, 3, "none") == 1 / 100
    assert smallest_p(0, 3, "holm") == 1


def test_what_is_said_of_few_segments():
    assert few_segments(1).startswith("1 segment is few: ")
    assert few_segments(49).startswith("49 segments are few: ")
