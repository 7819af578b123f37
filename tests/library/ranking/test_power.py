"""What a test set can show: every figure against its formula, and what is left out."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from steelyard.errors import BadParameter
from steelyard.ranking.power import metric_power

N = 300
NEEDED = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)


def spread(score, width, seed):
    """A score with replicates around it."""
    return score, score + width * np.random.default_rng(seed).standard_normal(N)


def arrays(systems):
    scores, replicates = zip(*systems, strict=True)
    return np.array(scores), np.stack(replicates)


@pytest.fixture
def systems():
    """a, c, b and the same once more; e has no score."""
    same = spread(28.0, 0.5, 2)
    return arrays([spread(40.0, 0.5, 1), same, spread(39.5, 0.5, 3), same, (math.nan, np.full(N, math.nan))])


def deviation(systems, a, b):
    return float(np.std(systems[1][b] - systems[1][a], ddof=1))


def test_the_smallest_difference_of_every_pair(systems):
    found = metric_power(*systems, 1000)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4) if (a, b) != (1, 3)]
    smallest = sorted(NEEDED * deviation(systems, a, b) for a, b in pairs)
    assert len(smallest) == 5, "of the same output nothing can be said"
    assert found.smallest == pytest.approx((smallest[0], smallest[2], smallest[4]))


@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.8), (0.05, 0.6)])
def test_neighbours(systems, alpha, power):
    asked = metric_power(*systems, 1000, alpha=alpha, power=power)
    assert (asked.alpha, asked.power) == (alpha, power)
    found = asked.neighbours
    assert [(pair.a, pair.b) for pair in found] == [(0, 2), (2, 1), (1, 3)]
    close, clear, same = found
    spread_of = deviation(systems, 0, 2)
    limit = NormalDist().inv_cdf(1 - alpha / 2)
    needed = limit + NormalDist().inv_cdf(power)
    assert close.difference == -0.5
    assert close.smallest == pytest.approx(needed * spread_of)
    assert close.segments == math.ceil(1000 * (needed * spread_of / 0.5) ** 2)
    assert not close.enough
    effect = NormalDist(0.5 / spread_of)
    assert close.power == pytest.approx(1 - effect.cdf(limit) + effect.cdf(-limit))
    assert (clear.enough, clear.power) == (True, pytest.approx(1))
    assert clear.segments < 1000
    assert (same.difference, same.smallest, same.segments, same.enough) == (0, 0, None, False)
    assert math.isnan(same.power)


def test_error_rates_are_in_order_of_fewest_errors():
    systems = arrays([spread(30.0, 1.0, 11), spread(20.0, 1.0, 12), spread(31.0, 1.0, 13), spread(33.0, 1.0, 14)])
    found = metric_power(*systems, 1000, higher_is_better=False).neighbours
    assert [(pair.a, pair.b) for pair in found] == [(1, 0), (0, 2), (2, 3)]
    assert [pair.difference for pair in found] == [10, 1, 2]


def test_what_is_unknown():
    bare = metric_power(np.array([40.0, 30.0]), np.zeros((2, 0)), 10)
    assert (bare.smallest, bare.neighbours) == (None, [])
    score, replicates = spread(30.0, 0.5, 1)
    replicates[0] = math.nan
    (pair,) = metric_power(*arrays([(score, replicates), spread(20.0, 0.5, 2)]), 10).neighbours
    assert np.isnan([pair.smallest, pair.power]).all()
    assert (pair.segments, pair.enough) == (None, False)


@pytest.mark.parametrize("arguments", [{"alpha": 0.0}, {"power": 1.0}])
def test_impossible_levels_are_refused(systems, arguments):
    with pytest.raises(BadParameter):
        metric_power(*systems, 10, **arguments)
