from __future__ import annotations

import math
from itertools import pairwise

import pytest

from steelyard.kernels.resampling.binomial import LARGEST, SMALLEST, half_bounds, half_tables


def exact_bounds(exponent):
    coins = 2**exponent
    ways, total, below = 1, 0, []
    for heads in range(coins // 2):
        total += ways
        below.append(total << 64 >> coins)
        ways = ways * (coins - heads) // (heads + 1)
    return below + [2**64 - bound for bound in reversed(below)]


@pytest.mark.parametrize("exponent", [8, 9, 10, 12, 13])
def test_bounds_are_exact(exponent):
    exact = exact_bounds(exponent)
    fewest, bounds = half_bounds(exponent)
    assert all(bound == 0 for bound in exact[:fewest])
    assert bounds == exact[fewest : fewest + len(bounds)]
    assert all(bound == 2**64 for bound in exact[fewest + len(bounds) :])


@pytest.mark.parametrize("exponent", [16, 20, 23])
def test_bounds_of_many_coins_have_the_right_moments(exponent):
    fewest, bounds = half_bounds(exponent)
    edges = [0, *bounds, 2**64]
    chances = [high - low for low, high in pairwise(edges)]
    assert sum(chances) == 2**64
    assert min(chances) >= 0
    assert chances == chances[::-1]
    coins = 2**exponent
    assert fewest + (len(chances) - 1) / 2 == coins / 2
    variance = sum(chance * (fewest + x - coins // 2) ** 2 for x, chance in enumerate(chances)) / 2**64
    assert variance == pytest.approx(coins / 4, rel=1e-12)
    # The largest chance, by Stirling's series for the middle binomial coefficient.
    middle = math.sqrt(2 / (math.pi * coins)) * (1 - 1 / (4 * coins))
    assert max(chances) / 2**64 == pytest.approx(middle, rel=1e-9)


def test_tables_find_every_outcome():
    tables = half_tables(SMALLEST + 1)
    assert tables.rows.shape == (2, 258)
    for row, exponent in zip(tables.rows.tolist(), (SMALLEST, SMALLEST + 1), strict=True):
        fewest, bounds = half_bounds(exponent)
        words = [0, 2**64 - 1, *bounds, *(bound - 1 for bound in bounds)]
        for word in words:
            low, high = row[1 + (word >> 56)], row[2 + (word >> 56)]
            index = low + sum(int(bound) <= word for bound in tables.bounds[low:high])
            assert row[0] + index == fewest + sum(bound <= word for bound in bounds)


def test_no_tables_for_few_coins():
    assert half_tables(SMALLEST - 1).bounds.size == 0
    assert half_tables(-1).rows.shape == (0, 258)
    assert LARGEST == 31
