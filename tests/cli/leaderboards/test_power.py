"""What `leaderboard --power` says of pairs whose replicates show no chance."""

from campaigns.leaderboards.stored import stored_document
from steelyard_client.commands.leaderboards.tables import rendered
from tests.analysis.boards import made_board


def test_a_difference_without_chance_is_unknown_and_not_none():
    board = made_board([[(score, [score] * 100)] * 2 for score in (40.0, 30.0, 30.0)], segments=1)
    document = stored_document(board, power=[board.power(metric, 1) for metric in range(2)])
    first, second = rendered([document], "text").splitlines()[-2:]
    assert first.split()[:4] == ["a", "before", "b", "10.00"]
    assert first.endswith("unknown")
    assert second.endswith("they never differ")
