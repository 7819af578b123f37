"""What metrics cost is learned from shards that were done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.kinds.shards import SHARD
from models.schema.queue import MeasuredCost, Shard
from models.schema.states import QueueClass
from scheduler.completion_accounting import settle_ended
from scheduler.dispatch import new_accounting
from scheduler.enqueue.cost_model import ENOUGH, MEMORY, LearnedCost, learn, metric_costs
from steelyard.metrics.registry import parse_metric
from tests.scheduler.jobs import one_block_shards, queue_job, work_off


@given(first=st.floats(0.01, 1e4), true=st.floats(0.01, 1e4))
def test_it_comes_to_the_truth(first: float, true: float) -> None:
    cost = LearnedCost(first, 0.0)
    for _ in range(60):
        cost = learn(cost, true * 2000 * 1e-6, 2000)
    assert cost.weight == MEMORY
    assert cost.microseconds == pytest.approx(true, rel=0.05)


@pytest.mark.parametrize(
    ("before", "weight", "measured", "after", "weight_after"),
    [
        (2.0, 0.0, 3.0, 3.0, 1000.0),
        (2.0, 3000.0, 4.0, 2.5, 4000.0),
        (2.0, MEMORY - 600.0, 2.0, 2.0, MEMORY),
        # As far as a shard may be from those before it.
        (2.0, 3000.0, 8.0, 3.5, 4000.0),
        (2.0, 3000.0, 0.5, 1.625, 4000.0),
        # Beyond, it counts as if it were just there, and makes nothing surer.
        (2.0, 3000.0, 80.0, 3.5, 3000.0),
        (2.0, 3000.0, 0.01, 1.625, 3000.0),
        # A metric that was said to cost nothing.
        (0.0, 0.0, 5.0, 5.0, 1000.0),
    ],
)
def test_one_more_shard_of_a_thousand_segments(
    before: float, weight: float, measured: float, after: float, weight_after: float
) -> None:
    found = learn(LearnedCost(before, weight), measured * 1000 * 1e-6, 1000.0)
    assert found.microseconds == pytest.approx(after, rel=1e-2 if weight > 90_000 else 1e-9)
    assert found.weight == weight_after


def test_one_that_took_very_long_counts_little() -> None:
    before = LearnedCost(2.0, MEMORY)
    after = learn(before, 1000.0, 2000)
    assert 2.0 < after.microseconds < 2.2


@pytest.fixture
def engine(database_url: str) -> Engine:
    return make_engine(database_url)


def test_done_shards_teach_and_are_charged_for(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url)
    queue_job(engine, settings, segments=600, systems=2, metrics=["bleu", "wer"], team="t")
    accounts = new_accounting(settings)
    turn = (int(QueueClass.CAMPAIGN), "t")
    with reading(engine) as connection:
        shards = connection.execute(select(Shard.id, Shard.cost, Shard.units)).all()
        stated = [parse_metric(each).cost for each in ("bleu", "wer")]
        assert metric_costs(connection, ["bleu", "wer"]) == stated
    accounts.served([turn])
    for shard in shards:
        assert shard.cost == pytest.approx(shard.units * sum(stated) * 1e-6)
        accounts.charge((SHARD, shard.id), turn, 1000.0)
    assert settle_ended(engine, accounts) == 0
    work_off(settings)
    with writing(engine) as connection:
        done = connection.execute(
            select(Shard.id, Shard.kernel_seconds, Shard.metric_seconds, Shard.claimed_at, Shard.ended_at)
        ).all()
        for row in done:
            assert sum(row.metric_seconds) == pytest.approx(row.kernel_seconds)
            assert row.kernel_seconds > 0
        # As if it had taken three seconds for the one and one for the other.
        connection.execute(update(Shard).values(metric_seconds=[3.0, 1.0], units=1e6, kernel_seconds=8.0))
    assert settle_ended(engine, accounts) == len(shards) == 3
    assert accounts.served([turn])[turn] == pytest.approx(24.0)
    assert not accounts.open
    assert settle_ended(engine, accounts) == 0
    with reading(engine) as connection:
        learned = {row.specification: row for row in connection.execute(select(MeasuredCost))}
        costs = metric_costs(connection, ["wer", "bleu", "ter"])
    assert learned["bleu"].weight == learned["wer"].weight == MEMORY
    assert costs == [learned["wer"].microseconds, learned["bleu"].microseconds, parse_metric("ter").cost]
    assert costs[:2] == pytest.approx([1.0, 3.0], rel=0.1)


def test_a_shard_that_was_edited_by_hand_teaches_nothing_and_the_others_do(
    engine: Engine, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = one_block_shards(database_url)
    queue_job(engine, settings, segments=600, systems=2, metrics=["bleu", "wer"], team="t")
    accounts, turn = new_accounting(settings), (int(QueueClass.CAMPAIGN), "t")
    with reading(engine) as connection:
        first, *others = connection.scalars(select(Shard.id).order_by(Shard.id)).all()
    accounts.served([turn])
    for shard in (first, *others):
        accounts.charge((SHARD, shard), turn, 1.0)
    work_off(settings)
    with writing(engine) as connection:
        connection.execute(update(Shard).values(metric_seconds=[3.0, 1.0], units=1e6, kernel_seconds=8.0))
        connection.execute(update(Shard).where(Shard.id == first).values(metric_seconds=[900.0]))
    assert settle_ended(engine, accounts) == 3
    said = [each.getMessage() for each in caplog.records if each.name == "scheduler.enqueue.cost_model"]
    assert len(said) == 1
    assert said[0].startswith("A shard is skipped for cost learning: How long a shard took")
    with reading(engine) as connection:
        assert metric_costs(connection, ["bleu", "wer"]) == pytest.approx([3.0, 1.0], rel=0.1)


def test_what_this_scheduler_has_not_sent_is_not_settled(engine: Engine, database_url: str) -> None:
    """Another one had sent it, before this one led."""
    settings = one_block_shards(database_url)
    queue_job(engine, settings, segments=300, systems=1)
    accounts, turn = new_accounting(settings), (int(QueueClass.CAMPAIGN), "")
    accounts.served([turn])
    accounts.charge((SHARD, 2), turn, 5.0)
    with writing(engine) as connection:
        connection.execute(update(Shard).values(state="done", claimed_at=10.0, ended_at=12.0))
    assert settle_ended(engine, accounts) == 1
    assert accounts.served([turn])[turn] == 2.0


def test_what_was_learned_of_too_little_does_not_count(engine: Engine) -> None:
    with writing(engine) as connection:
        row = {"microseconds": 99.0, "updated_at": 1.0}
        connection.execute(
            insert(MeasuredCost),
            [
                {**row, "specification": "bleu", "weight": ENOUGH / 2},
                {**row, "specification": "wer", "weight": ENOUGH},
            ],
        )
        assert metric_costs(connection, ["bleu", "wer"]) == [parse_metric("bleu").cost, 99.0]


def test_later_campaigns_are_cut_by_it(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url, shard_seconds=0.5, shortest_shard_seconds=0.5, concurrency=1)
    queue_job(engine, settings, segments=256 * 8)
    with writing(engine) as connection:
        assert len(connection.execute(select(Shard.id)).all()) == 1
        row = {"specification": "bleu", "microseconds": 600.0, "weight": 1e5, "updated_at": 1.0}
        connection.execute(insert(MeasuredCost).values(**row))
    queue_job(engine, settings, segments=256 * 8, seed=2)
    with reading(engine) as connection:
        rows = connection.execute(select(Shard.cost).order_by(Shard.id).offset(1)).all()
    assert len(rows) > 1
    assert all(0.2 < row.cost < 0.6 for row in rows)
