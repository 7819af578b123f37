"""How far learned columns are: every state of shards, against what the words say."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from models.results import learned_columns
from models.results.learned_columns import ColumnProgress, read_unfinished_columns
from models.schema.base import BLOCK_SEGMENTS
from models.schema.states import ColumnState, LeaseState

SEGMENTS = 2 * BLOCK_SEGMENTS + 40
"""Of the last block 40 are there."""


class Shards:
    """A connection that has these rows of shards."""

    def __init__(self, *rows: Any) -> None:
        self.rows = rows

    def execute(self, _: Any) -> Any:
        return self.rows


def shard(
    first: int, last: int, state: LeaseState, scored: int, segments: int, evaluation: int = 1, metric: int = 2
) -> Any:
    return SimpleNamespace(
        evaluation_id=evaluation, metric=metric, first_block=first, last_block=last, state=state, scored=scored,
        segments=segments,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {
        (1, 2): (ColumnState.WAITING, None),
        (1, 3): (ColumnState.FAILED, "no words"),
        (4, 2): (ColumnState.WAITING, None),
        (5, 2): (ColumnState.DONE, None),
    }
    monkeypatch.setattr(learned_columns, "read_learned_columns", lambda *_: columns)
    monkeypatch.setattr(learned_columns, "protocol_segments", lambda _, wanted: dict.fromkeys(wanted, SEGMENTS))


@pytest.mark.parametrize(
    ("state", "scored", "segments"), list(product([LeaseState.PENDING, LeaseState.DONE], (0, 1, 3, 9), (0, 4)))
)
def test_a_shard_that_is_done_is_scored_whatever_it_counted(state: LeaseState, scored: int, segments: int) -> None:
    """Another one as far as it says, which may be of several systems, and never more than it is long."""
    for first, last, length in ((0, 1, BLOCK_SEGMENTS), (1, 3, BLOCK_SEGMENTS + 40), (2, 3, 40)):
        found = read_unfinished_columns(Shards(shard(first, last, state, scored, segments)), [1, 4, 5])  # type: ignore[arg-type]
        done = length if state == LeaseState.DONE else min(length, length * scored / max(segments, 1))
        assert found == {
            (1, 2): ColumnProgress(ColumnState.WAITING, SEGMENTS, int(done), None),
            (1, 3): ColumnProgress(ColumnState.FAILED, SEGMENTS, 0, "no words"),
            (4, 2): ColumnProgress(ColumnState.WAITING, SEGMENTS, 0, None),
        }


def test_shards_of_a_column_are_added_up() -> None:
    rows = [
        shard(0, 1, LeaseState.DONE, 0, 4), shard(1, 2, LeaseState.PENDING, 1, 4),
        shard(2, 3, LeaseState.DONE, 0, 4, evaluation=4), shard(0, 1, LeaseState.DONE, 9, 9, metric=3),
    ]  # fmt: skip
    found = read_unfinished_columns(Shards(*rows), [1, 4])  # type: ignore[arg-type]
    assert {key: each.scored for key, each in found.items()} == {
        (1, 2): BLOCK_SEGMENTS + BLOCK_SEGMENTS // 4, (1, 3): BLOCK_SEGMENTS, (4, 2): 40,
    }  # fmt: skip
