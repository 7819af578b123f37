"""Maintenance of what models and programs score: counts that were edited, and scores by content that nobody needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, delete, func, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.consistency import LOST_SHARDS
from models.results.segment_scores import store_segment_scores
from models.schema.base import now
from models.schema.learned import LearnedColumn, LearnedShard, SegmentScore
from models.schema.queue import Shard
from models.schema.states import LeaseState
from runtime.settings import Settings
from scheduler import maintenance
from scheduler.maintenance import Maintenance, repair
from steelyard.metrics import built_in
from steelyard.metrics.preparation.score_store import Scored
from tests.scheduler.jobs import one_block_shards, queue_job

DAY = 86400.0


@pytest.fixture
def engine(sqlite_url: str) -> Iterator[Engine]:
    engine = make_engine(sqlite_url)
    yield engine
    engine.dispose()


def settings_of(engine: Engine, **values: float) -> Settings:
    return one_block_shards(engine.url.render_as_string(hide_password=False), **values)


def test_columns_whose_shards_were_deleted_fail_and_wrong_counts_are_set(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(built_in.LEARNED, "vowels", "tests.worker.learned_metric:Vowels")
    queue_job(engine, settings_of(engine), segments=20, systems=2, metrics=["bleu", "vowels", "vowels:device=tpu"])
    repair(engine, settings_of(engine))
    assert "learned columns" not in caplog.text
    with writing(engine) as connection:
        connection.execute(update(LearnedColumn).where(LearnedColumn.metric == 1).values(remaining=7))
        connection.execute(delete(LearnedShard).where(LearnedShard.metric == 2))
    repair(engine, settings_of(engine))
    with reading(engine) as connection:
        rows = connection.execute(select(LearnedColumn).order_by(LearnedColumn.metric)).all()
    assert [(row.state, row.remaining, row.reason) for row in rows] == [
        *[("waiting", 1, None)] * 2,
        *[("failed", 1, LOST_SHARDS)] * 2,
    ]
    assert "4 learned columns waited for other shards than there are: corrected" in caplog.text


def left(engine: Engine) -> tuple[int, int]:
    """Scores by content, and ended shards."""
    with reading(engine) as connection:
        ended = select(func.count()).select_from(Shard).where(Shard.state == LeaseState.DONE)
        scores = select(func.count()).select_from(SegmentScore)
        return connection.scalar(scores) or 0, connection.scalar(ended) or 0


def test_scores_by_content_have_a_time_of_their_own_and_go_until_none_is_left(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "PRUNED_ROWS", 3)
    [protocol] = queue_job(engine, settings_of(engine), segments=10, systems=1).protocols
    with writing(engine) as connection:
        store_segment_scores(connection, "a", {bytes([number] * 32): Scored((0.5,)) for number in range(10)})
        connection.execute(update(SegmentScore).values(used_at=now() - 10 * DAY))
        row = {"protocol_id": protocol, "first_block": 0, "last_block": 1, "cost": 1.0, "state": LeaseState.DONE}
        connection.execute(insert(Shard), [row] * 2)
        connection.execute(update(Shard).where(Shard.state == LeaseState.DONE).values(ended_at=now() - 10 * DAY))
    times = {"keep_seconds": 20 * DAY, "keep_scores_seconds": 20 * DAY}
    Maintenance(engine, settings_of(engine, **times)).run_once()
    assert left(engine) == (10, 2)
    kept = Maintenance(engine, settings_of(engine, **{**times, "keep_scores_seconds": 5 * DAY}))
    kept.run_once()
    # A few in each round, without a pause.
    seen = [(left(engine), kept.more)]
    while kept.more:
        kept.prune_more()
        seen.append((left(engine), kept.more))
    assert seen == [((7, 2), True), ((4, 2), True), ((1, 2), True), ((0, 2), False)]
    Maintenance(engine, settings_of(engine, keep_seconds=5 * DAY, keep_scores_seconds=20 * DAY)).run_once()
    assert left(engine) == (0, 0)
