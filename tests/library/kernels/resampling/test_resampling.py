"""The counts against a slow twin written from docs/reference/resampling.md, golden values, and their distribution."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import BadParameter, TooLarge
from steelyard.kernels.resampling.resampling import resampling_counts

GOLDEN = Path(__file__).parents[3] / "golden" / "resampling.json"


class SlowWords:
    """The words of a node and chunk, by NumPy's generator."""

    def __init__(self, seed, node, chunk):
        key = np.array([seed, node], np.uint64)
        counter = np.array([0, 0, 0, chunk], np.uint64)
        self.generator = np.random.Philox(key=key, counter=counter)
        self.bits, self.left = 0, 0

    def word(self):
        return int(self.generator.random_raw())

    def take(self, width):
        if not self.left:
            self.bits, self.left = self.word(), 64
        taken = self.bits % 2**width
        self.bits >>= width
        self.left -= width
        return taken


def slow_tabulated_heads(exponent, word):
    """The least x with word < bound(x), straight from binomial coefficients."""
    coins = 2**exponent

    def bound(heads):
        if heads >= coins // 2:
            return 2**64 - bound(coins - 1 - heads) if heads < coins else 2**64
        return 2**64 * slow_cumulated(coins)[heads] // 2**coins

    low, high = 0, coins
    while low < high:
        middle = (low + high) // 2
        if word < bound(middle):
            high = middle
        else:
            low = middle + 1
    return low


CUMULATED: dict[int, list[int]] = {}


def slow_cumulated(coins):
    if coins not in CUMULATED:
        coefficient, total, sums = 1, 0, []
        for heads in range(coins // 2):
            total += coefficient
            sums.append(total)
            coefficient = coefficient * (coins - heads) // (heads + 1)
        CUMULATED[coins] = sums
    return CUMULATED[coins]


def slow_heads(words, coins):
    heads = 0
    for exponent in range(coins.bit_length() - 1, 11, -1):
        if coins >> exponent & 1:
            heads += slow_tabulated_heads(exponent, words.word())
    rest = coins % 2**12
    heads += sum(words.word().bit_count() for _ in range(rest // 64))
    if rest % 64:
        heads += (words.word() % 2 ** (rest % 64)).bit_count()
    return heads


def slow_binomial(words, trials, p):
    successes = 0
    for position in range(63, -1, -1):
        if not trials or not p % 2 ** (position + 1):
            break
        heads = slow_heads(words, trials)
        if p >> position & 1:
            successes += trials - heads
            trials = heads
        else:
            trials -= heads
    return successes


def slow_counts(segments, seed, replicates, draws=None):
    counts = np.zeros((replicates, segments), int)

    def segments_in(low, high):
        return min(high * 256, segments) - low * 256

    def visit(low, high, chunk, trials):
        if high - low == 1:
            words = SlowWords(seed, 1 << 63 | low, chunk)
            size = segments_in(low, high)
            for replicate, wanted in enumerate(trials, chunk * 256):
                for _ in range(wanted):
                    chosen = words.take(8) if size == 256 else words.take(32) * size >> 32
                    counts[replicate, low * 256 + chosen] += 1
            return
        words = SlowWords(seed, low << 32 | high, chunk)
        middle = low + 2 ** ((high - low - 1).bit_length() - 1)
        p = int(Fraction(segments_in(low, middle), segments_in(low, high)) * 2**64)
        left = [slow_binomial(words, wanted, p) for wanted in trials]
        visit(low, middle, chunk, left)
        visit(middle, high, chunk, [all_ - part for all_, part in zip(trials, left, strict=True)])

    for chunk in range(-(-replicates // 256)):
        here = min(256, replicates - chunk * 256)
        if segments:
            visit(0, -(-segments // 256), chunk, [segments if draws is None else draws] * here)
    return counts


@pytest.mark.parametrize(
    ("segments", "seed", "replicates"),
    [
        (0, 1, 3),
        (1, 1, 5),
        (3, 2**64 - 1, 300),
        (255, 0, 4),
        (256, 7, 260),
        (257, 7, 257),
        (512, 3, 20),
        (700, 12345, 20),
        (2037, 12345, 12),
        (4096, 5, 3),
        (9001, 12345, 3),
    ],
)
def test_counts_equal_those_of_the_slow_twin(segments, seed, replicates):
    counts = resampling_counts(segments, seed, replicates, 0, segments)
    assert counts.dtype == np.uint8
    assert counts.tolist() == slow_counts(segments, seed, replicates).tolist()


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 1500), st.integers(0, 2**64 - 1), st.integers(1, 5), st.integers(0, 10_000))
def test_any_number_of_draws_equals_the_slow_twin(segments, seed, replicates, draws):
    counts = resampling_counts(segments, seed, replicates, 0, segments, draws=draws)
    assert counts.tolist() == slow_counts(segments, seed, replicates, draws).tolist()


def test_wide_counts_where_a_byte_is_not_enough():
    counts = resampling_counts(2, 9, 3, 0, 2, draws=1000)
    assert counts.dtype == np.uint16
    assert counts.tolist() == slow_counts(2, 9, 3, 1000).tolist()
    full = resampling_counts(256, 9, 2, 0, 256, draws=100_000)
    assert full.dtype == np.uint16
    assert full.tolist() == slow_counts(256, 9, 2, 100_000).tolist()


@pytest.mark.parametrize(("segments", "draws"), [(1, 65_536), (1, 131_072), (1, 200_000), (256, 2**25)])
def test_counts_beyond_16_bits_are_refused(segments, draws):
    with pytest.raises(TooLarge, match="more than 65,535 times"):
        resampling_counts(segments, 1, 1, 0, segments, draws=draws)


def test_largest_count_of_each_type():
    assert resampling_counts(1, 1, 1, 0, 1, draws=255).dtype == np.uint8
    assert resampling_counts(1, 1, 1, 0, 1, draws=256).tolist() == [[256]]
    assert resampling_counts(1, 1, 1, 0, 1, draws=65_535).tolist() == [[65_535]]


@pytest.mark.parametrize("blocks", [1, 2, 3, 5, 7])
def test_ranges_of_blocks_give_the_bits_of_the_whole(blocks):
    segments = 5003
    whole = resampling_counts(segments, 12345, 300, 0, segments)
    for first in range(0, segments, blocks * 256):
        last = min(first + blocks * 256, segments)
        part = resampling_counts(segments, 12345, 300, first, last)
        assert part.tobytes() == np.ascontiguousarray(whole[:, first:last]).tobytes()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_range_of_a_large_set_agrees_with_any_larger_one(data):
    segments = data.draw(st.integers(1, 3_000_000))
    blocks = -(-segments // 256)
    first = data.draw(st.integers(0, blocks - 1))
    last = data.draw(st.integers(first + 1, min(first + 6, blocks)))
    inner = data.draw(st.integers(first, last - 1))
    end = data.draw(st.integers(inner + 1, last))
    large = resampling_counts(segments, 1, 3, first * 256, min(last * 256, segments))
    small = resampling_counts(segments, 1, 3, inner * 256, min(end * 256, segments))
    begin = (inner - first) * 256
    assert (large[:, begin : begin + small.shape[1]] == small).all()


@pytest.mark.parametrize("replicates", [1, 255, 256, 257, 1000])
def test_more_replicates_keep_the_first(replicates):
    many = resampling_counts(700, 3, 1200, 0, 700)
    assert (resampling_counts(700, 3, replicates, 0, 700) == many[:replicates]).all()


def test_seeds_and_chunks_differ():
    first = resampling_counts(600, 1, 512, 0, 600)
    other = resampling_counts(600, 2, 512, 0, 600)
    assert (first != other).any(axis=1).all()
    assert (first[:256] != first[256:]).any(axis=1).all()


def test_golden_values():
    """These may never change: stored intervals and p-values were made with them."""
    for example in json.loads(GOLDEN.read_text()):
        segments, replicates = example["segments"], example["replicates"]
        first, last = example["first"], example["last"]
        counts = resampling_counts(segments, example["seed"], replicates, first, last)
        assert counts.dtype == np.uint8
        assert counts[0, :16].tolist() == example["begin"]
        assert sha256(counts.tobytes()).hexdigest() == example["sha256"]


@pytest.mark.parametrize("segments", [1, 300, 2037, 70_001])
def test_every_replicate_draws_the_whole_number(segments):
    counts = resampling_counts(segments, 4, 300, 0, segments)
    assert (counts.sum(axis=1) == segments).all()


def test_distribution_of_single_segments():
    """Over 10,240 replicates a segment's count is Binomial(n, 1/n): its mean, variance and values."""
    segments, replicates = 2037, 10_240
    counts = resampling_counts(segments, 2024, replicates, 0, segments)
    totals = counts.sum(axis=0, dtype=np.int64)
    # Totals of segments are multinomial: chi-square with segments - 1 degrees of freedom, sd about 64.
    chi_square = float(((totals - replicates) ** 2 / replicates).sum())
    assert abs(chi_square - (segments - 1)) < 3.3 * math.sqrt(2 * (segments - 1))
    variance = counts.astype(np.float64).var(axis=0).mean()
    assert variance == pytest.approx(1 - 1 / segments, abs=0.002)
    seen = np.bincount(counts.ravel(), minlength=12)
    for value in range(7):
        expected = math.comb(segments, value) * (segments - 1) ** (segments - value) / segments**segments
        assert seen[value] / counts.size == pytest.approx(expected, abs=5 * math.sqrt(expected / counts.size))


def test_distribution_of_blocks_and_their_independence():
    segments, replicates = 2037, 10_240
    counts = resampling_counts(segments, 99, replicates, 0, segments)
    blocks = np.add.reduceat(counts, range(0, segments, 256), axis=1, dtype=np.int64)
    sizes = np.diff([*range(0, segments, 256), segments])
    covariance = np.cov(blocks.T)
    share = sizes / segments
    expected = segments * (np.diag(share) - np.outer(share, share))
    # A sampled (co)variance has a standard deviation of about variance * sqrt(2 / replicates), here 3.1.
    assert np.abs(covariance - expected).max() < 16
    assert np.abs(blocks.mean(axis=0) - sizes).max() < 4 * math.sqrt(225 / replicates)


def test_distribution_of_the_tabulated_halves():
    """With 3 million segments nearly all coins come from tables."""
    segments = 3_000_000
    block = resampling_counts(segments, 5, 4096, 256 * 5000, 256 * 5001).sum(axis=1, dtype=np.int64)
    assert block.mean() == pytest.approx(256, abs=4 * math.sqrt(256 / 4096))
    assert block.var() == pytest.approx(256, rel=4 * math.sqrt(2 / 4096))


def test_what_is_not_allowed():
    with pytest.raises(BadParameter, match="seed"):
        resampling_counts(10, -1, 1, 0, 10)
    with pytest.raises(BadParameter, match="seed"):
        resampling_counts(10, 2**64, 1, 0, 10)
    with pytest.raises(BadParameter, match="whole blocks"):
        resampling_counts(1000, 1, 1, 10, 1000)
    with pytest.raises(BadParameter, match="whole blocks"):
        resampling_counts(1000, 1, 1, 0, 999)
    for replicates, first, last in [(-1, 0, 10), (1, -256, 10), (1, 0, 11), (1, 256, 0)]:
        with pytest.raises(BadParameter, match="must lie within the test set"):
            resampling_counts(10, 1, replicates, first, last)
    with pytest.raises(TooLarge, match="Split this test set"):
        resampling_counts(2**32, 1, 1, 0, 256)


def test_nothing_to_draw():
    assert resampling_counts(0, 1, 3, 0, 0).shape == (3, 0)
    assert resampling_counts(10, 1, 0, 0, 10).shape == (0, 10)
    assert resampling_counts(1000, 1, 2, 512, 512).shape == (2, 0)
