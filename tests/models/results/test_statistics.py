"""Stored statistics are read in parts: whatever their size, with the same result."""

import numpy as np
import pytest

from models.database.session import make_engine, reading
from models.results import statistics
from models.results.statistics import read_statistics
from tests.scheduler.jobs import one_block_shards, queue_job, work_off


@pytest.mark.parametrize("blocks", [1, 3, 512])
def test_a_shard_is_read_once_however_many_are_read_together(
    blocks: int, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = one_block_shards(database_url)
    engine = make_engine(database_url)
    job = queue_job(engine, settings, segments=700, metrics=["bleu"])
    work_off(settings)
    with reading(engine) as connection:
        expected = read_statistics(connection, job.all_evaluations, 0)
        monkeypatch.setattr(statistics, "BLOCKS_AT_ONCE", blocks)
        found = read_statistics(connection, job.all_evaluations, 0)
    assert found.shape[1] == 700
    assert not np.isnan(found).any()
    assert np.array_equal(found, expected)


def test_together_are_so_many_blocks_or_one_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "BLOCKS_AT_ONCE", 4)
    keys = [(1, 0, 2), (1, 2, 4), (2, 0, 9), (2, 9, 10)]
    assert list(statistics._batches(keys)) == [[(1, 0), (1, 2)], [(2, 0)], [(2, 9)]]  # type: ignore[arg-type]
    assert list(statistics._batches([])) == []
