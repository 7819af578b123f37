"""Which leaderboards a command is about: by campaign, test set, version and references, without superseded ones."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.commands.errors import CommandError
from steelyard_client import Forbidden
from steelyard_client.commands.leaderboards.chosen import BoardSelection, chosen_boards
from steelyard_client.documents.leaderboards.leaderboards import LeaderboardSummary


def board(number: int, test_set: str, version: str, references: str, *, superseded: bool = False) -> LeaderboardSummary:
    return LeaderboardSummary(
        board=number, test_set=test_set, version=version, references=references.split(","), metrics=["bleu"],
        replicates=0, resample="segment", replaced=False, superseded=superseded,
    )  # fmt: skip


BOARDS = {
    "hidden": None,
    "newest": [board(9, "news", "1", "A")],
    "port": [
        board(4, "talks", "2", "B,A"),
        board(3, "talks", "1", "A,B"),
        board(2, "port", "1", "A"),
        board(1, "port", "1", "A", superseded=True),
    ],
}
"""As a server lists them: the newest campaign first."""


def listed(campaign: str) -> Iterator[LeaderboardSummary]:
    found = BOARDS[campaign]
    if found is None:
        raise Forbidden(403, "forbidden", "Not now.")
    yield from found


def chosen(**selection: Any) -> list[int]:
    client: Any = SimpleNamespace(
        list_campaigns=lambda: iter([SimpleNamespace(name=name) for name in BOARDS]), list_leaderboards=listed
    )
    found = list(chosen_boards(client, BoardSelection(**selection)))
    assert all(each in (BOARDS[campaign] or ()) for campaign, each in found)
    return [each.board for _, each in found]


@pytest.mark.parametrize(
    ("selection", "boards", "older"),
    [
        ({}, [2, 3, 4, 9], 1),
        ({"every": True}, [1, 2, 3, 4, 9], 0),
        ({"name": "port"}, [2, 3, 4], 1),
        ({"name": "port", "references": ["A"]}, [2], 1),
        ({"name": "talks"}, [3, 4], 0),
        ({"name": "talks@2"}, [4], 0),
        ({"references": ["B", "A"]}, [3, 4], 0),
        ({"name": "news", "references": ["A"]}, [9], 0),
    ],
)
def test_what_is_named_is_chosen_the_oldest_first(
    selection: dict[str, Any], boards: list[int], older: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chosen(**selection) == boards
    assert ("1 older leaderboard is not shown" in capsys.readouterr().err) is bool(older)


def test_one_kind_is_replaced_by_its_own_kind_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    old, segments = (board(number, "port", "1", "A", superseded=True) for number in (1, 2))
    documents = board(3, "port", "1", "A").model_copy(update={"resample": "document"})
    monkeypatch.setitem(BOARDS, "port", [documents, segments, old])
    assert chosen(name="port") == [3]
    assert chosen(name="port", resample="document") == [3]
    assert chosen(name="port", resample="segment") == [2], "not the one that it replaces"
    assert chosen(name="port", resample="segment", every=True) == [1, 2]
    with pytest.raises(CommandError, match="There is no such leaderboard"):
        chosen(name="news", resample="document")


def test_what_there_is_is_said_where_nothing_is_chosen() -> None:
    for selection in ({"name": "talks@3"}, {"name": "port", "references": ["C"]}, {"name": "news", "references": []}):
        with pytest.raises(CommandError) as refused:
            chosen(**selection)
        assert "There is no such leaderboard." in str(refused.value)
        if selection["name"] != "port":
            assert "Not shown now: hidden." in str(refused.value)
        assert "port (A)" in str(refused.value) or selection["name"] == "news"
    with pytest.raises(CommandError, match=r"Not shown now: hidden\. Nothing was evaluated here yet\."):
        chosen(name="hidden")
