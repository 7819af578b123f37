"""What dispatch charges to teams, and what it puts back."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, Engine, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.kinds.comparisons import start_comparison
from models.queue.kinds.shards import SHARD
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.base import now
from models.schema.queue import CorpusCount, CorpusStatistics, Leased, Reduction, Shard, Trials
from models.schema.states import LeaseState
from runtime.settings import Settings
from scheduler.dispatch import dispatch, new_accounting
from steelyard.metrics.metric import EDITION
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.scheduler.test_dispatch import CAMPAIGN, App, add_worker, one_kind, states
from worker.errors import BrokerAway
from worker.tasks import TaskMessage


def test_what_is_ended_or_held_meanwhile_is_not_sent_and_charged_to_nobody(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the mark; nobody waits for who holds a row, and what he makes of it stays."""
    engine = make_engine(f"{postgres_url}?options=-c%20lock_timeout%3D5000")
    settings = one_block_shards(postgres_url)
    queue_job(engine, settings, segments=256 * 4, systems=1)
    add_worker(engine, 2)
    accounts, app = new_accounting(settings), App()

    @contextmanager
    def meanwhile(engine: Engine) -> Iterator[Connection]:
        with writing(engine) as other:
            other.execute(update(Shard).where(Shard.id == 2).values(state=LeaseState.CANCELLED))
        with writing(engine) as other, writing(engine) as connection:
            other.execute(select(Shard.id).where(Shard.id == 3).with_for_update())
            yield connection

    monkeypatch.setattr("scheduler.dispatch.writing", meanwhile)
    assert dispatch(engine, app, settings, accounts) == 2
    assert [key for _, key, _ in app.sent] == [1, 4]
    assert set(accounts.open) == {(SHARD, 1), (SHARD, 4)}
    assert states(engine) == {"enqueued": 2, "cancelled": 1, "pending": 1}
    engine.dispose()


EVERY_KIND: list[type[Leased]] = [Reduction, CorpusCount, Shard, Trials]


def queue_every_kind(engine: Engine, settings: Settings) -> None:
    """Of each kind of work one row waits, each of a team of its name."""
    job = queue_job(engine, settings, segments=100, systems=2, metrics=["nist"])
    contest = RandomizationPlan(job.protocols[0], ((1,), (2,)), (Pair(0, 0, 1),), 99, 7)
    with writing(engine) as connection:
        connection.execute(insert(Reduction).values(protocol_id=job.protocols[0], edition=EDITION))
        connection.execute(update(CorpusStatistics).values(blob=b"state"))
        connection.execute(update(Shard).values(not_before=0.0, cost=7.0))
        start_comparison(connection, contest, [(0, 99)], queue_class=1, team="", edition=EDITION)
        for table in EVERY_KIND:
            connection.execute(update(table).values(team=table.__tablename__))


@one_kind
def test_every_kind_of_task_is_marked_before_it_is_sent_and_returned_if_it_is_not(
    engine: Engine, database_url: str
) -> None:
    """Whoever is quick to claim it finds that it was sent: also on another connection."""
    settings = one_block_shards(database_url)
    queue_every_kind(engine, settings)
    add_worker(engine, 2)
    app = App()
    app.reachable = 0

    def rows() -> list[tuple[str, bool, bool]]:
        with reading(engine) as connection:
            return [
                tuple(
                    connection.execute(select(each.state, each.enqueued_at.is_not(None), each.not_before > now())).one()
                )
                for each in EVERY_KIND
            ]

    assert dispatch(engine, app, settings) == 0
    assert rows() == [(LeaseState.PENDING, False, True)] * 4
    with writing(engine) as connection:
        for table in EVERY_KIND:
            connection.execute(update(table).values(not_before=0.0))
    seen = []

    class Watching(App):
        def send(self, message: TaskMessage) -> None:
            seen.append((str(message.kind.message), rows()))
            super().send(message)

    assert dispatch(engine, Watching(), settings) == 4
    assert [name for name, _ in seen] == ["reduce", "prepare", "score_shard", "randomize"]
    assert all(found == [(LeaseState.ENQUEUED, True, False)] * 4 for _, found in seen)


@one_kind
def test_each_team_is_charged_for_what_it_is_sent_until_it_is_known(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url, shortest_shard_seconds=3.0, shard_seconds=10.0)
    queue_every_kind(engine, settings)
    add_worker(engine, 2)
    accounts = new_accounting(settings)
    assert dispatch(engine, App(), settings, accounts) == 4
    keys = {table: (CAMPAIGN, table.__tablename__) for table in EVERY_KIND[1:]}
    assert accounts.served(keys.values()) == {
        keys[CorpusCount]: 3.0,
        keys[Shard]: 7.0,
        keys[Trials]: 5.0,
    }


@one_kind
def test_an_account_is_kept_while_its_key_has_work(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work that may be sent, that waits for its time, and that is in flight."""
    settings = one_block_shards(database_url)
    for seed, team in enumerate(("ready", "later", "flying", "done"), start=1):
        queue_job(engine, settings, segments=256, systems=1, seed=seed, campaign=team, team=team)
    with writing(engine) as connection:
        for team, values in (
            ("later", {"not_before": now() + 1000}),
            ("flying", {"state": LeaseState.RUNNING}),
            ("done", {"state": LeaseState.DONE}),
        ):
            connection.execute(update(Shard).where(Shard.team == team).values(**values))
    add_worker(engine, 2)
    accounts, told = new_accounting(settings), []
    served = accounts.served
    monkeypatch.setattr(accounts, "served", lambda *given: told.append(list(map(set, given))) or served(*given))
    assert dispatch(engine, App(), settings, accounts) == 1
    ((waiting, busy),) = told
    assert waiting == {(CAMPAIGN, "ready")}
    assert waiting | busy == {(CAMPAIGN, team) for team in ("ready", "later", "flying")}


class Broken(App):
    """Breaks at the first message, which has reached a worker all the same."""

    def __init__(self, engine: Engine, error: Exception) -> None:
        super().__init__()
        self.engine, self.error = engine, error

    def send(self, message: TaskMessage) -> None:
        with writing(self.engine) as connection:
            connection.execute(update(Shard).where(Shard.id.in_(message.keys)).values(state=LeaseState.RUNNING))
        raise self.error


@pytest.mark.parametrize("error", [BrokerAway("gone"), ConnectionResetError("gone")])
def test_a_message_that_arrived_before_the_broker_broke_is_not_returned(
    engine: Engine, database_url: str, error: Exception
) -> None:
    settings = one_block_shards(database_url)
    queue_job(engine, settings, systems=1)
    add_worker(engine, 2)
    assert dispatch(engine, Broken(engine, error), settings) == 0
    assert states(engine) == {"running": 1, "pending": 2}
    with reading(engine) as connection:
        sent_at = set(connection.scalars(select(Shard.enqueued_at).where(Shard.state == LeaseState.PENDING)))
    assert sent_at == {None}
