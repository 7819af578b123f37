"""Which shards are read together: those that read the same texts and need the same beside them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.queue.kinds.shards import ClaimedShard
from models.schema.states import QueueClass
from worker.computing.scoring import runs_of_shards

SHARD = ClaimedShard(1, "owner", 1, None, QueueClass.CAMPAIGN, 1, 0, 4, (1, 2), (10, 20), (0,))


def following(**others: object) -> ClaimedShard:
    """The shard after it, with another key."""
    return replace(SHARD, **{"key": 2, "first_block": 4, "last_block": 8, **others})


def test_shards_that_follow_each_other_are_one_run_in_any_order() -> None:
    last = following(key=3, first_block=8, last_block=9)
    assert runs_of_shards([last, SHARD, following()]) == [[SHARD, following(), last]]


@pytest.mark.parametrize(
    "other",
    [{"protocol_id": 2}, {"evaluations": (1, 3)}, {"texts": (10, 30)}, {"metrics": (1,)}, {"metrics": None}]
    + [{"first_block": first} for first in (0, 3, 5)],
)
def test_others_are_read_by_themselves(other: dict[str, object]) -> None:
    """Corpus statistics, layers and the source are those of a run's metrics."""
    found = runs_of_shards([SHARD, following(**other)])
    assert sorted(found, key=lambda run: run[0].key) == [[SHARD], [following(**other)]]
