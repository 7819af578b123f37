"""What `leaderboard --power` says of neighbours, and of pairs whose replicates show no chance."""

from dataclasses import replace

import pytest

from campaigns.leaderboards.stored import stored_document
from steelyard_client.commands.leaderboards.tables import rendered
from tests.analysis.boards import made_board, spread


def test_a_difference_without_chance_is_unknown_and_not_none():
    board = made_board([[(score, [score] * 100)] * 2 for score in (40.0, 30.0, 30.0)], segments=1)
    document = stored_document(board, power=[board.power(metric, 1) for metric in range(2)])
    first, second = rendered([document], "text").splitlines()[-2:]
    assert first.split()[:4] == ["a", "before", "b", "10.00"]
    assert first.endswith("unknown")
    assert second.endswith("they never differ")


@pytest.mark.parametrize(
    ("position", "title", "leads"), [(0, "BLEU", ["10.00", "7.00"]), (1, "TER ↓", ["2.00", "1.00"])]
)
def test_neighbours_are_those_by_the_metric_that_sorts(position, title, leads):
    scores = ((40.0, 60.0), (30.0, 62.0), (23.0, 63.0))
    board = made_board([[spread(score, 100, 0.5, n) for score in of] for n, of in enumerate(scores)])
    board = replace(board, sorted_by=position)
    document = stored_document(board, power=[board.power(metric, 2000) for metric in range(2)])
    lines = rendered([document], "text").splitlines()
    (heading,) = (number for number, line in enumerate(lines) if line.startswith("For neighbours by "))
    assert lines[heading].startswith(f"For neighbours by {title}, ")
    assert [line.split()[:4] for line in lines[-2:]] == [["a", "before", "b", leads[0]], ["b", "before", "c", leads[1]]]
