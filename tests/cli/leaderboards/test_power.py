"""What `leaderboard --power` says of pairs whose replicates show no chance."""

from cli.leaderboards.power import as_text
from tests.analysis.boards import made_board


def test_a_difference_without_chance_is_unknown_and_not_none():
    board = made_board([[(score, [score] * 100)] * 2 for score in (40.0, 30.0, 30.0)], segments=1)
    first, second = as_text(board, [board.power(metric, 1) for metric in range(2)], 1).splitlines()[-2:]
    assert first.split()[:4] == ["a", "before", "b", "10.00"]
    assert first.endswith("unknown")
    assert second.endswith("they never differ")
