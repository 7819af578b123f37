"""The power of a board's test set: that of its rows' stored replicates."""

import numpy as np

from steelyard.ranking.power import metric_power
from tests.analysis.boards import made_board, spread, undefined

N = 100


def test_the_power_of_a_board_is_that_of_its_arrays():
    board = made_board(
        [
            [spread(40.0, N, 0.5, 1), spread(30.0, N, 1.0, 11)],
            None,
            [spread(39.5, N, 0.5, 3), spread(31.0, N, 1.0, 13)],
            [undefined(N), spread(35.0, N, 1.0, 15)],
        ]
    )
    for metric in (0, 1):
        there = [row for row in (0, 2, 3) if board.rows[row].scores[metric].score is not None]
        scores = [board.rows[row].scores[metric] for row in there]
        found = board.power(metric, 1000, alpha=0.01)
        wanted = metric_power(
            np.array([each.score for each in scores]),
            np.stack([each.replicate_scores for each in scores]),
            1000,
            higher_is_better=metric == 0,
            alpha=0.01,
        )
        assert found.smallest == wanted.smallest
        assert [(pair.a, pair.b) for pair in found.neighbours] == [
            (there[pair.a], there[pair.b]) for pair in wanted.neighbours
        ]


def test_a_board_without_replicates():
    bare = made_board([[(40.0, []), (1.0, [])], [(30.0, []), (2.0, [])]])
    assert (bare.power(0, 10).smallest, bare.power(0, 10).neighbours) == (None, [])
