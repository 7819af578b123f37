from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import BLEU, TER, ChrF
from steelyard.errors import BadParameter, TooLarge
from steelyard.metrics.metric import Metric
from steelyard.resampling import randomization
from steelyard.resampling.randomization import permutation_counts, randomization_p, sign_flips

GOLDEN = Path(__file__).parents[2] / "golden" / "swaps.json"


@dataclass(frozen=True)
class Ratio(Metric):
    """The first statistic per the second one; undefined without one."""

    name = "ratio"

    @property
    def columns(self):
        return ("above", "below")

    def segment_statistics(self, segments):
        raise NotImplementedError

    def score(self, sums):
        below = sums[..., 1]
        return np.where(below > 0, 100 * sums[..., 0] / np.where(below > 0, below, 1.0), np.nan)


def counted(metric, statistics, pairs, trials=200, seed=12345, runs=None, first=0):
    found = permutation_counts(metric, statistics, pairs, seed=seed, first_trial=first, last_trial=trials, runs=runs)
    assert found.dtype == np.int64
    return found.tolist()


def philox(counter, key):
    """Philox4x64-10, from the paper."""
    mask = 2**64 - 1
    for _ in range(10):
        first, second = counter[0] * 0xD2E7470EE14C6C93, counter[2] * 0xCA5A826395121157
        counter = [
            (second >> 64) ^ counter[1] ^ key[0],
            second & mask,
            (first >> 64) ^ counter[3] ^ key[1],
            first & mask,
        ]
        key = [(key[0] + 0x9E3779B97F4A7C15) & mask, (key[1] + 0xBB67AE8584CAA73B) & mask]
    return counter


@given(st.integers(0, 600), st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 3))
def test_swaps_equal_those_of_the_slow_twin(segments, seed, first):
    found = sign_flips(segments, seed, first, first + 3)
    assert found.dtype == np.uint8
    for trial, row in enumerate(found.tolist(), first):
        words = [philox([trial + 1, 0, 0, 0], [seed, (3 << 62) + (2 << 32) + b]) for b in range(-(-segments // 256))]
        expected = [words[i // 256][i % 256 // 64] >> i % 64 & 1 for i in range(segments)]
        assert row == expected


def test_golden_swaps():
    """These may never change: stored p-values were made with them."""
    for example in json.loads(GOLDEN.read_text()):
        found = sign_flips(example["segments"], example["seed"], *example["trials"])
        assert found[0, :16].tolist() == example["begin"]
        assert sha256(found.tobytes()).hexdigest() == example["sha256"]


def test_swaps_are_fair_and_independent():
    found = sign_flips(1024, 7, 0, 1000) - 0.5
    assert abs(found.mean()) < 4 * 0.5 / math.sqrt(found.size)
    for one, other in [
        (found[:, 1:], found[:, :-1]),
        (found[:, 64:], found[:, :-64]),
        (found[:, 256:], found[:, :-256]),
        (found[1:], found[:-1]),
    ]:
        assert abs((one * other).mean()) < 4 * 0.25 / math.sqrt(one.size)


def slow_permutation_counts(metric, statistics, a, b, trials, seed):
    """The definition, one trial and segment at a time, in rational numbers."""
    rows = [[[Fraction(x) for x in row] for row in system] for system in statistics.tolist()]

    def scores(swapped):
        sums = []
        for x, y in ((a, b), (b, a)):
            chosen = [rows[y if swap else x][i] for i, swap in enumerate(swapped)]
            sums.append([float(sum(column)) for column in zip(*chosen, strict=True)])
        return [float(metric.score(np.array(each))) for each in sums]

    real_a, real_b = scores([0] * len(rows[0]))
    limit = abs(real_b - real_a) - 2**-40 * (abs(real_a) + abs(real_b))
    trials_of = [scores(swapped) for swapped in sign_flips(len(rows[0]), seed, 0, trials).tolist()]
    return sum(abs(of_b - of_a) >= limit for of_a, of_b in trials_of)


statistics_of = {
    "bleu": (BLEU(), [9, 9, 9, 8, 7, 6, 10, 9, 8, 7]),
    "chrf": (ChrF(nc=2), [9, 9, 5, 8, 8, 3]),
    "ter": (TER(), [9, 9, 720_719]),
    "ratio": (Ratio(), [9, 3]),
}


@settings(max_examples=60)
@given(st.sampled_from(sorted(statistics_of)), st.data())
def test_permutation_counts_are_those_of_the_definition(name, data):
    metric, largest = statistics_of[name]
    systems, segments = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 9))
    seed = data.draw(st.integers(0, 2**64 - 1))
    statistics = np.array(
        [[[data.draw(st.integers(0, top)) for top in largest] for _ in range(segments)] for _ in range(systems)], float
    )
    if name == "ratio":
        # Real numbers, on the grid; always defined.
        statistics = statistics + np.array([0.25, 1])
    pairs = [(a, b) for a in range(systems) for b in range(systems) if a != b]
    found = counted(metric, statistics, pairs, trials=16, seed=seed)
    assert found == [slow_permutation_counts(metric, statistics, a, b, 16, seed) for a, b in pairs]


def random_statistics(systems, segments, seed=1, columns=10):
    rng = np.random.default_rng(seed)
    total = rng.integers(5, 30, (1, segments, columns))
    return (rng.random((systems, segments, columns)) * total).round() + 1


@settings(max_examples=20)
@given(st.lists(st.integers(0, 3000), max_size=4))
def test_any_portions_of_the_trials_and_any_memory_give_the_same_counts(cuts):
    statistics = random_statistics(3, 300)
    pairs = [(0, 1), (0, 2), (1, 2)]
    whole = counted(BLEU(), statistics, pairs, trials=3000)
    edges = sorted({0, 3000, *cuts})
    parts = [counted(BLEU(), statistics, pairs, trials=y, first=x) for x, y in pairwise(edges)]
    assert np.sum(parts, axis=0).tolist() == whole


def test_any_memory_gives_the_same_counts(monkeypatch):
    statistics = random_statistics(5, 300)
    plain, several = counted(BLEU(), statistics, [(0, 1), (3, 4)]), counted(BLEU(), statistics, [(0, 1)], runs=[2, 3])
    for memory in (7 * 300, 1):
        monkeypatch.setattr(randomization, "MEMORY", memory)
        assert counted(BLEU(), statistics, [(0, 1), (3, 4)]) == plain
        assert counted(BLEU(), statistics, [(0, 1)], runs=[2, 3]) == several


def test_how_many_trials_are_done_is_reported_now_and_then(monkeypatch):
    monkeypatch.setattr(randomization, "MOST_AT_ONCE", 70)
    told: list[int] = []
    statistics = random_statistics(2, 30)
    permutation_counts(BLEU(), statistics, [(0, 1)], seed=1, first_trial=100, last_trial=300, on_trials=told.append)
    assert told == [70, 140, 200]


@pytest.mark.parametrize(
    ("segments", "runs", "pairs", "bytes_of_trial"),
    [
        # Two sums of 10 columns of each output, and of each pair both sides in every way to exchange runs.
        (30, [1, 1], [(0, 1)], 8 * 10 * (2 * 2 + 2)),
        (30, [1, 2, 1], [(0, 2), (0, 1)], 8 * 10 * (2 * 4 + 2 * 2)),
        (30, [1, 1], [], 8 * 10 * (2 * 2 + 1)),
        # A byte for each segment.
        (4008, [1, 1], [(0, 1)], 4008),
    ],
)
def test_as_many_trials_at_once_as_memory_has_room_for(monkeypatch, segments, runs, pairs, bytes_of_trial):
    statistics, told = random_statistics(sum(runs), segments), []
    monkeypatch.setattr(randomization, "MEMORY", 41 * bytes_of_trial - 1)
    permutation_counts(
        BLEU(), statistics, pairs, seed=1, first_trial=0, last_trial=100, runs=runs, on_trials=told.append
    )  # fmt: skip
    assert told == [40, 80, 100]


def test_other_systems_and_the_order_of_a_pair_change_nothing():
    statistics = random_statistics(4, 500)
    alone = counted(BLEU(), statistics[[1, 3]], [(0, 1)])
    assert counted(BLEU(), statistics, [(1, 3), (0, 2), (3, 1)])[::2] == alone * 2
    assert 0 < alone[0] < 200


def test_identical_outputs_count_every_trial():
    statistics = random_statistics(1, 200).repeat(2, axis=0)
    assert counted(BLEU(), statistics, [(0, 1)]) == [200]
    assert randomization_p(200, 200) == 1


def test_one_swap_of_everything_is_as_large_to_the_last_bit():
    """One segment: every trial gives the two scores themselves, in one order or the other."""
    statistics = random_statistics(2, 1, seed=5)
    assert counted(BLEU(), statistics, [(0, 1)]) == [200]
    statistics = np.concatenate([random_statistics(2, 1, seed=5), np.ones((2, 40, 10))], axis=1)
    assert counted(ChrF(nc=3, nw=0), statistics[..., :9], [(0, 1)]) == [200]


def test_law_of_all_swaps():
    """The share of permutation_counts against all 2^n ways to swap."""
    statistics = random_statistics(2, 8, seed=3)
    scores = []
    for swapped in product([0, 1], repeat=8):
        chosen = [statistics[np.array(swapped) ^ side, range(8)].sum(axis=0) for side in (0, 1)]
        scores.append(float(np.subtract(*BLEU().score(np.array(chosen)))))
    share = np.mean(np.abs(scores) >= abs(scores[0]) - 1e-11)
    trials = 4000
    (found,) = counted(BLEU(), statistics, [(0, 1)], trials=trials)
    assert 0.1 < share < 0.9
    assert abs(found / trials - share) < 4 * math.sqrt(share * (1 - share) / trials)


def test_undefined_scores_have_no_p():
    statistics = np.array([[[1, 1], [2, 1]], [[1, 0], [2, 0]], [[3, 1], [1, 2]]], float)
    found = counted(Ratio(), statistics, [(0, 1), (0, 2), (1, 2)])
    assert [count < 0 for count in found] == [True, False, True]
    assert math.isnan(randomization_p(found[0], 200))
    # Where one of the segments is swapped, a score is undefined, which counts as large; else it is the real difference.
    partly = np.array([[[3, 1], [2, 0]], [[1, 0], [2, 1]]], float)
    assert counted(Ratio(), partly, [(0, 1)]) == [200]


def test_p_value():
    assert randomization_p(0, 10_000) == 1 / 10_001
    assert randomization_p(10_000, 10_000) == 1
    assert randomization_p(499, 9_999) == 0.05


def test_bad_trials_and_sums_that_would_not_be_exact():
    statistics = random_statistics(2, 3)
    for seed, first, last in [(-1, 0, 1), (2**64, 0, 1), (1, -1, 1), (1, 2, 1), (1, 0, 2**32 + 1)]:
        with pytest.raises(BadParameter, match="seed"):
            permutation_counts(BLEU(), statistics, [(0, 1)], seed=seed, first_trial=first, last_trial=last)
    (last,) = permutation_counts(BLEU(), statistics, [(0, 1)], seed=2**64 - 1, first_trial=2**32 - 1, last_trial=2**32)
    assert last in (0, 1)
    assert counted(BLEU(), statistics, [(0, 1)], trials=0) == [0]
    assert counted(BLEU(), statistics, []) == []
    with pytest.raises(TooLarge):
        counted(BLEU(), statistics * 2.0**49, [(0, 1)])


# Several runs of a system.


def test_one_run_each_is_the_plain_test():
    statistics = random_statistics(3, 300)
    pairs = [(0, 1), (2, 1)]
    assert counted(BLEU(), statistics, pairs, runs=[1, 1, 1]) == counted(BLEU(), statistics, pairs)


def exchanged_differences(metric, statistics, a, b):
    """The differences in all 2^n ways to exchange all runs of a and b in some segments; the real one first.

    A run takes over a segment of each of the other system's runs in turn: brute force over all such choices.
    """
    segments = statistics.shape[1]
    differences = []
    for swapped in product([False, True], repeat=segments):
        means = []
        for own, others in ((a, b), (b, a)):
            scores = [
                metric.score(sum(statistics[other if swap else run, i] for i, swap in enumerate(swapped)))
                for run, other in product(own, others)
            ]
            means.append(np.mean(scores))
        differences.append(means[1] - means[0])
    return np.array(differences)


@pytest.mark.parametrize(("of_a", "of_b", "segments"), [(1, 2, 7), (2, 2, 6), (3, 2, 8)])
def test_law_of_all_exchanges_of_runs(of_a, of_b, segments):
    statistics = random_statistics(of_a + of_b, segments, seed=of_a + segments)
    differences = np.abs(exchanged_differences(BLEU(), statistics, range(of_a), range(of_a, of_a + of_b)))
    share = np.mean(differences >= differences[0] - 1e-11)
    trials = 6000
    (found,) = counted(BLEU(), statistics, [(0, 1)], trials=trials, runs=[of_a, of_b])
    assert 0.02 < share < 0.98
    assert abs(found / trials - share) < 4 * math.sqrt(share * (1 - share) / trials)
    # Everything exchanged is the real difference, turned round.
    assert differences[-1] == pytest.approx(differences[0], rel=1e-12)


@pytest.mark.parametrize("runs", [[3, 3], [2, 4]])
def test_runs_that_are_the_same_say_no_more_than_one_of_them(runs):
    pair = random_statistics(2, 300)
    assert counted(BLEU(), pair.repeat(runs, axis=0), [(0, 1)], runs=runs) == counted(BLEU(), pair, [(0, 1)])


def test_neither_the_order_of_runs_nor_that_of_systems_matters():
    statistics = random_statistics(7, 200)
    runs = [3, 1, 3]
    first = counted(BLEU(), statistics, [(0, 1), (0, 2), (1, 2)], runs=runs)
    assert counted(BLEU(), statistics, [(1, 0), (2, 0), (2, 1)], runs=runs) == first
    mixed = statistics[[2, 0, 1, 3, 5, 4, 6]]
    assert counted(BLEU(), mixed, [(0, 1), (0, 2), (1, 2)], runs=runs) == first
    backwards = statistics[[4, 5, 6, 3, 0, 1, 2]]
    assert counted(BLEU(), backwards, [(2, 1), (2, 0), (1, 0)], runs=runs) == first
    assert all(0 < count < 200 for count in first)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_runs_does_not_matter_where_their_sums_are_equal(seed):
    first, other = random_statistics(2, 6, seed=seed)
    # The same segments in another order: the same sums, and other hypotheses in every trial.
    statistics = np.stack([first, first[::-1], other])
    found = counted(BLEU(), statistics, [(0, 1)], runs=[2, 1])
    assert counted(BLEU(), statistics[[1, 0, 2]], [(0, 1)], runs=[2, 1]) == found
    assert counted(BLEU(), statistics[[2, 1, 0]], [(0, 1)], runs=[1, 2]) == found


def test_other_systems_change_nothing_for_runs():
    statistics = random_statistics(8, 200)
    together = counted(BLEU(), statistics, [(0, 1), (2, 3), (0, 3), (1, 2)], runs=[2, 2, 1, 3])
    assert counted(BLEU(), statistics[:4], [(0, 1)], runs=[2, 2]) == together[:1]
    assert counted(BLEU(), statistics[[0, 1, 5, 6, 7]], [(0, 1)], runs=[2, 3]) == together[2:3]


def test_portions_of_the_trials_with_runs():
    statistics = random_statistics(5, 300)
    whole = counted(TER(), statistics[..., :3], [(0, 1)], runs=[2, 3], trials=1500)
    parts = [
        counted(TER(), statistics[..., :3], [(0, 1)], runs=[2, 3], first=x, trials=y) for x, y in ((0, 7), (7, 1500))
    ]
    assert np.sum(parts, axis=0).tolist() == whole


def test_the_same_runs_count_every_trial():
    one = random_statistics(2, 100)
    assert counted(BLEU(), np.concatenate([one, one[::-1]]), [(0, 1)], runs=[2, 2]) == [200]


def test_sums_that_are_shared_out_otherwise_are_as_large():
    """The mean of two TER scores does not depend on how edits fall to them: such ties must not hang on rounding."""
    edits = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3], [5, 1, 4, 1, 5], [9, 3, 5, 5, 3]], float)
    statistics = np.stack([edits, np.full_like(edits, 7), np.zeros_like(edits)], axis=-1)
    (found,) = counted(TER(), statistics, [(0, 1)], runs=[2, 2], trials=500)
    gains = (edits[2:] - edits[:2]).sum(axis=0) * np.where(sign_flips(5, 12345, 0, 500), -1, 1)
    differences = np.abs(gains.sum(axis=1))
    assert 20 < (differences == 2).sum() < (differences >= 2).sum() < 480
    assert found == (differences >= 2).sum()


def test_undefined_scores_of_a_run():
    statistics = np.array([[[1, 1]], [[1, 0]], [[2, 1]]], float)
    assert counted(Ratio(), statistics, [(0, 1)], runs=[2, 1]) == [-1]


@pytest.mark.parametrize("runs", [[2, 2], [3, 0], [], [-1, 4]])
def test_runs_that_do_not_fit(runs):
    with pytest.raises(BadParameter, match="3 outputs"):
        counted(BLEU(), random_statistics(3, 4), [(0, 1)], runs=runs)


@pytest.mark.parametrize("runs", [(1, 1), (2, 1), (2, 2)])
def test_differences_that_are_equal_count_whatever_their_last_digits(runs):
    """Against rational numbers: the same difference of quotients comes about in ways that round differently."""
    draw, rounded = np.random.default_rng(7), 0
    outputs, segments, trials = sum(runs), 5, 40
    of_a, of_b = range(runs[0]), range(runs[0], outputs)
    drawn = sign_flips(segments, 12345, 0, trials).astype(bool)
    for _ in range(60):
        above, below = draw.integers(0, 4, (outputs, segments)), draw.integers(1, 4, (outputs, segments))
        below = below if runs != (2, 2) else np.full_like(below, 3)

        def score(own, other, swapped, above=above, below=below):
            rows = np.where(swapped, other, own), range(segments)
            return Fraction(100 * int(above[rows].sum()), int(below[rows].sum()))

        def difference(swapped, score=score):
            of_each = [
                [score(x, y, swapped) for x in own for y in others] for own, others in ((of_a, of_b), (of_b, of_a))
            ]
            mean_a, mean_b = (sum(each) / len(each) for each in of_each)
            plain = [[float(each) for each in scores] for scores in of_each]
            return mean_b - mean_a, math.fsum(plain[1]) / len(plain[1]) - math.fsum(plain[0]) / len(plain[0])

        real, real_rounded = difference(np.zeros(segments, bool))
        found = [difference(swapped) for swapped in drawn]
        expected = sum(abs(each) >= abs(real) for each, _ in found)
        rounded += expected != sum(abs(each) >= abs(real_rounded) for _, each in found)
        statistics = np.stack([above, below], axis=-1).astype(float)
        assert counted(Ratio(), statistics, [(0, 1)], runs=list(runs), trials=trials) == [expected]
    assert rounded or runs == (1, 1), "no tie was decided by rounding: this says nothing"
