"""Stored statistics are read in parts: whatever their size, with the same result."""

import numpy as np
import pytest
from sqlalchemy import select

from models.database.session import make_engine, reading
from models.errors import NotFound
from models.results import statistics
from models.results.statistics import read_statistics, statistics_by_shard
from models.schema.results import Statistics
from models.storage.arrays import unpack
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


@pytest.mark.parametrize("blocks", [1, 2, 512])
def test_they_are_those_of_the_metric_and_of_each_evaluation_in_its_place(
    blocks: int, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where evaluations are asked for in another order, or twice, and others have statistics, too."""
    monkeypatch.setattr(statistics, "BLOCKS_AT_ONCE", blocks)
    engine, settings = make_engine(sqlite_url), one_block_shards(sqlite_url)
    jobs = [
        queue_job(engine, settings, segments=600, metrics=["bleu", "wer"], campaign=f"c{seed}", seed=seed)
        for seed in (1, 2)
    ]
    work_off(settings)
    evaluations = [*jobs[0].all_evaluations, *jobs[1].all_evaluations]
    columns = Statistics.evaluation_id, Statistics.metric, Statistics.first_block, Statistics.blob
    with reading(engine) as connection:
        stored = {tuple(row[:3]): unpack(row.blob) for row in connection.execute(select(*columns))}
        for metric in (0, 1):
            expected = {
                evaluation: np.concatenate([stored[evaluation, metric, block] for block in range(3)])
                for evaluation in evaluations
            }
            for asked in (evaluations, evaluations[::-1], [evaluations[4]], [evaluations[i] for i in (3, 0, 3, 5)]):
                found = read_statistics(connection, asked, metric)
                assert np.array_equal(found, np.stack([expected[each] for each in asked]))
            read = list(statistics_by_shard(connection, evaluations[::-1], metric))
            assert [part[:2] for part in read] == [(each, first) for each in evaluations for first in (0, 256, 512)]
            assert all(np.array_equal(part, stored[each, metric, first // 256]) for each, first, part in read)
        with pytest.raises(NotFound, match=r"Evaluation 99 has no statistics of its metric number 2\."):
            read_statistics(connection, [evaluations[0], 99], 1)
    engine.dispose()
