"""What a test set can show: every figure against its formula, and what is left out."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from analysis.leaderboard.power import board_power
from tests.analysis.boards import made_board, spread, undefined

N = 300
NEEDED = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)


@pytest.fixture
def board():
    """By BLEU a, c, b and the same once more; e waits, f is undefined; by TER b is best."""
    same = spread(28.0, N, 0.5, 2)
    return made_board(
        [
            [spread(40.0, N, 0.5, 1), spread(30.0, N, 1.0, 11)],
            [same, spread(20.0, N, 1.0, 12)],
            [spread(39.5, N, 0.5, 3), spread(31.0, N, 1.0, 13)],
            [same, spread(33.0, N, 1.0, 14)],
            None,
            [undefined(N), spread(35.0, N, 1.0, 15)],
        ]
    )


def deviation(board, metric, a, b):
    first, second = (board.rows[row].scores[metric].replicate_scores for row in (a, b))
    return float(np.std(second - first, ddof=1))


def test_the_smallest_difference_of_every_pair(board):
    found = board_power(board, 0, 1000)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4) if (a, b) != (1, 3)]
    smallest = sorted(NEEDED * deviation(board, 0, a, b) for a, b in pairs)
    assert len(smallest) == 5, "of the same output nothing can be said"
    assert found.smallest == pytest.approx((smallest[0], smallest[2], smallest[4]))


@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.8), (0.05, 0.6)])
def test_neighbours(board, alpha, power):
    asked = board_power(board, 0, 1000, alpha=alpha, power=power)
    assert (asked.metric, asked.alpha, asked.power) == (0, alpha, power)
    found = asked.neighbours
    assert [(pair.a, pair.b) for pair in found] == [(0, 2), (2, 1), (1, 3)]
    close, clear, same = found
    spread_of = deviation(board, 0, 0, 2)
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


def test_error_rates_are_in_order_of_fewest_errors(board):
    found = board_power(board, 1, 1000).neighbours
    assert [(pair.a, pair.b) for pair in found] == [(1, 0), (0, 2), (2, 3), (3, 5)]
    assert [pair.difference for pair in found] == [10, 1, 2, 2]


def test_what_is_unknown(board):
    bare = made_board([[(40.0, []), (1.0, [])], [(30.0, []), (2.0, [])]])
    assert (board_power(bare, 0, 10).smallest, board_power(bare, 0, 10).neighbours) == (None, [])
    score, replicates = spread(30.0, N, 0.5, 1)
    odd = made_board([[(score, [math.nan, *replicates[1:]])] * 2, [spread(20.0, N, 0.5, 2)] * 2])
    (pair,) = board_power(odd, 0, 10).neighbours
    assert np.isnan([pair.smallest, pair.power]).all()
    assert (pair.segments, pair.enough) == (None, False)
    assert board_power(odd, 0, 10).smallest is None


def test_more_segments_are_needed_for_more_power(board):
    few, many = (board_power(board, 0, 1000, power=power).neighbours[0].segments for power in (0.5, 0.95))
    assert few < board_power(board, 0, 1000).neighbours[0].segments < many
