"""How far campaigns are: evaluations and shards of each test set, counted once."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select, update

from models.database.session import make_engine, reading, writing
from models.queue_status.campaign_progress import CampaignProgress, read_campaigns
from models.queue_status.evaluation_filters import EvaluationFilter
from models.schema.base import now
from models.schema.queue import Evaluation, Shard
from models.schema.states import OPEN, EvaluationState
from tests.scheduler.jobs import one_block_shards, queue_job


@pytest.fixture
def engine(sqlite_url: str, rows_backwards: None) -> Engine:
    """Two systems and four shards in one campaign, one system and two shards in another."""
    engine = make_engine(sqlite_url)
    queue_job(engine, one_block_shards(sqlite_url), segments=900, systems=2, campaign="day")
    queue_job(engine, one_block_shards(sqlite_url), segments=300, systems=1, campaign="night", seed=2)
    return engine


def look(engine: Engine, **selection: object) -> tuple[CampaignProgress, ...]:
    with reading(engine) as connection:
        return read_campaigns(connection, EvaluationFilter(**selection))


def test_shards_that_do_not_count_are_left_out(engine: Engine) -> None:
    with writing(engine) as connection:
        keys = sorted(connection.scalars(select(Shard.id)))
        for key, state in zip(keys, ("done", "failed", "cancelled"), strict=False):
            connection.execute(update(Shard).where(Shard.id == key).values(state=state))
    day, night = look(engine)
    assert (day.campaign, day.test_set, day.shards, day.shards_done) == ("day", "trial", 2, 1)
    assert (night.campaign, night.shards, night.shards_done) == ("night", 2, 0)
    assert [each.campaign for each in look(engine, campaign="night")] == ["night"]


@pytest.mark.parametrize("state", EvaluationState)
def test_states_are_counted_and_open_ones_can_still_change(engine: Engine, state: EvaluationState) -> None:
    with writing(engine) as connection:
        first = connection.scalar(select(Evaluation.id).order_by(Evaluation.id))
        connection.execute(update(Evaluation).where(Evaluation.id == first).values(state=state))
    day = look(engine)[0]
    expected = dict.fromkeys(EvaluationState, 0)
    expected[EvaluationState.QUEUED] += 1
    expected[state] += 1
    assert day.evaluations == expected
    assert (day.total, day.open) == (2, 1 + (state in OPEN))


def test_an_ended_campaign_is_shown_for_a_minute(engine: Engine) -> None:
    for seconds, shown in ((10, ["day", "night"]), (100, ["night"])):
        with writing(engine) as connection:
            ids = sorted(connection.scalars(select(Evaluation.id)))[:2]
            values = {"state": "done", "finished_at": now() - seconds}
            connection.execute(update(Evaluation).where(Evaluation.id.in_(ids)).values(**values))
        assert [each.campaign for each in look(engine)] == shown
    assert [each.campaign for each in look(engine, campaign="day")] == ["day"], "who asks for it sees it"
