"""Handing out work: the window, the classes, the shares of teams, and brokers that are away."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, case, func, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.shards import SHARD
from models.schema.base import now
from models.schema.queue import CorpusCount, Evaluation, Reduction, Shard, Worker
from models.schema.states import LeaseState, QueueClass
from scheduler import dispatch as dispatch_module
from scheduler.dispatch import FEW, _window, dispatch, new_accounting
from scheduler.fair_share import INTERACTIVE_EXTRA, Window
from scheduler.queue_queries import read_waiting
from steelyard.metrics.metric import EDITION
from tests.scheduler.jobs import one_block_shards, queue_job, queue_named
from worker.context import WorkerContext
from worker.errors import BrokerAway
from worker.handlers import do
from worker.tasks import TaskMessage

CAMPAIGN, NIGHTLY = int(QueueClass.CAMPAIGN), int(QueueClass.NIGHTLY)


one_kind = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Where databases cannot differ."""


class App:
    """Counts what is sent, and has lost it."""

    def __init__(self, prefetches: bool = False) -> None:
        self.prefetches = prefetches
        self.sent: list[tuple[str, int, str]] = []
        self.reachable = 10**6

    def send(self, message: TaskMessage) -> None:
        if len(self.sent) >= self.reachable:
            raise BrokerAway("connection refused")
        queue = message.queue_class.queue_of(message.edition)
        self.sent += [(str(message.kind.message), key, queue) for key in message.keys]

    def count(self, classes: Iterable[QueueClass]) -> dict[QueueClass, int]:
        return dict.fromkeys(classes, 0)


def add_worker(engine: Engine, concurrency: int) -> None:
    with writing(engine) as connection:
        connection.execute(
            insert(Worker).values(id=f"w{concurrency}", host="h", pid=1, version="1", concurrency=concurrency)
        )


def clock(engine: Engine) -> float:
    with reading(engine) as connection:
        return connection.execute(select(now())).scalar_one()


def states(engine: Engine) -> dict[str, int]:
    with reading(engine) as connection:
        rows = connection.execute(select(Shard.state, func.count().label("n")).group_by(Shard.state))
        return {row.state: row.n for row in rows}


def test_the_window_grows_with_the_workers(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url, smallest_window=3)
    queue_job(engine, settings, segments=256 * 20, systems=1)
    app = App()
    assert dispatch(engine, app, settings) == 0, "nobody is there to read the messages"
    add_worker(engine, 1)
    assert dispatch(engine, app, settings) == 3
    assert dispatch(engine, app, settings) == 0
    add_worker(engine, 4)
    assert dispatch(engine, app, settings) == 7
    assert states(engine) == {"enqueued": 10, "pending": 10}
    with reading(engine) as connection:
        oldest = list(connection.scalars(select(Shard.id).order_by(Shard.id).limit(10)))
    assert app.sent == [("score_shard", key, queue_named("campaign")) for key in oldest]


def test_silent_workers_do_not_count(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url)
    queue_job(engine, settings, systems=1)
    add_worker(engine, 2)
    with writing(engine) as connection:
        connection.execute(update(Worker).values(beat_at=now() - 100))
    assert dispatch(engine, App(), settings) == 0


def test_work_waits_for_its_time(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url)
    queue_job(engine, settings, systems=1)
    add_worker(engine, 2)
    with writing(engine) as connection:
        connection.execute(update(Shard).values(not_before=now() + 100))
    assert dispatch(engine, App(), settings) == 0


def test_what_is_due_first_goes_first_and_what_is_due_soon_a_class_higher(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url, smallest_window=4, urgent_seconds=100)
    undated, late, urgent = (
        queue_job(engine, settings, segments=512, systems=1, seed=seed, campaign=str(seed), due_at=due_at)
        for seed, due_at in ((1, None), (2, clock(engine) + 1000), (3, clock(engine) + 50))
    )
    with writing(engine) as connection:
        connection.execute(update(Shard).values(cost=0.001))
    add_worker(engine, 2)
    app = App()
    assert dispatch(engine, app, settings) == 4
    with writing(engine) as connection:
        connection.execute(update(Shard).where(Shard.state == LeaseState.ENQUEUED).values(state=LeaseState.DONE))
    assert dispatch(engine, app, settings) == 2
    protocols = []
    with reading(engine) as connection:
        for _, key, queue in app.sent:
            protocols.append((connection.scalar(select(Shard.protocol_id).where(Shard.id == key)), queue))
    interactive, campaign = queue_named("interactive"), queue_named("campaign")
    assert protocols[0] == (urgent.protocols[0], interactive)
    jobs = ((urgent, interactive), (late, campaign), (undated, campaign))
    # Campaigns have their share, too.
    in_order = sorted(protocols, key=lambda each: each[1] != interactive)
    assert in_order == [(job.protocols[0], queue) for job, queue in jobs for _ in range(2)]


def test_deadlines_go_along(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url)
    queue_job(engine, settings, segments=300, systems=1, metrics=["nist"], due_at=5e9)
    queue_job(engine, settings, segments=300, systems=2, metrics=["nist", "bleu"], due_at=4e9)
    with reading(engine) as connection:
        assert set(connection.scalars(select(Shard.due_at))) == {4e9, 5e9}
        # What both wait for is due when the first of them is.
        assert set(connection.scalars(select(CorpusCount.due_at))) == {4e9}
        assert set(connection.scalars(select(Evaluation.due_at))) == {4e9, 5e9}
    context = WorkerContext(settings)
    for kind in (CORPUS_COUNT, SHARD):
        table = kind.table
        with reading(engine) as connection:
            keys = list(connection.scalars(select(table.id)))
        for key in keys:
            do(context, kind, key, "task")
    context.close()
    with reading(engine) as connection:
        assert set(connection.scalars(select(CorpusCount.due_at).where(CorpusCount.merges))) == {4e9}
        assert set(connection.scalars(select(Reduction.due_at))) == {4e9, 5e9}


def test_a_team_that_had_less_goes_first(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url, smallest_window=1, window_factor=1)
    for seed, team in ((1, "dear"), (2, "cheap")):
        queue_job(engine, settings, segments=256 * 4, systems=1, seed=seed, campaign=team, team=team)
    with writing(engine) as connection:
        connection.execute(update(Shard).values(cost=case((Shard.team == "dear", 3.0), else_=1.0)))
    add_worker(engine, 1)
    app, accounts, teams = App(), new_accounting(settings), []
    for _ in range(8):
        assert dispatch(engine, app, settings, accounts) == 1
        with writing(engine) as connection:
            done = update(Shard).where(Shard.state == LeaseState.ENQUEUED)
            teams.append(connection.scalar(done.values(state=LeaseState.DONE).returning(Shard.team)))
    assert "".join(team[0] for team in teams) == "cdcccddd", "four of the cheap in the time of one or two of the dear"


def test_many_teams_are_read_in_portions(engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler.queue_queries.MAX_KEYS", 2)
    settings = one_block_shards(database_url, smallest_window=20)
    for seed in range(5):
        queue_job(engine, settings, segments=256, systems=1, seed=seed, campaign=str(seed), team=str(seed))
    with writing(engine) as connection:
        connection.execute(update(Shard).values(queue_class=Shard.id % 3))
    add_worker(engine, 2)
    app = App()
    assert dispatch(engine, app, settings) == 5
    assert {key for _, key, _ in app.sent} == {1, 2, 3, 4, 5}


def test_of_each_team_few_rows_are_read_and_more_where_one_gets_many(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full window's worth of each of many teams would be read, and most of it left where it is."""
    settings = one_block_shards(database_url, window_factor=1.0)
    queue_job(engine, settings, segments=256, systems=1)
    add_worker(engine, 40)
    with writing(engine) as connection:
        (first,) = connection.scalars(select(Shard.id))
        columns = Shard.protocol_id, Shard.first_block, Shard.last_block, Shard.cost, Shard.edition
        row = connection.execute(select(*columns)).one()._asdict()
        connection.execute(update(Shard).where(Shard.id == first).values(state=LeaseState.DONE))
        connection.execute(insert(Shard), [{**row, "team": f"t{number % 20}"} for number in range(20 * 60)])
    limits: list[int] = []

    def counted(connection: Connection, share_keys: Any, most: int, *others: Any) -> Any:
        limits.append(most)
        return read_waiting(connection, share_keys, most, *others)

    monkeypatch.setattr(dispatch_module, "read_waiting", counted)
    accounting = new_accounting(settings)
    assert dispatch(engine, App(), settings, accounting) == 40
    places = 40 + INTERACTIVE_EXTRA
    assert limits == [FEW + FEW * places // 20]
    assert teams_in_flight(engine) == {f"t{number}": 2 for number in range(20)}
    # One of them had nothing yet: now it gets more than its part.
    with writing(engine) as connection:
        connection.execute(update(Shard).where(Shard.state == LeaseState.ENQUEUED).values(state=LeaseState.DONE))
    for number in range(1, 20):
        accounting._served[CAMPAIGN, f"t{number}"] += 1000.0
    limits.clear()
    assert dispatch(engine, App(), settings, accounting) == 40
    assert limits == [FEW + FEW * places // 20, places]
    assert teams_in_flight(engine) == {"t0": 40}


def teams_in_flight(engine: Engine) -> dict[str, int]:
    with reading(engine) as connection:
        rows = select(Shard.team, func.count()).where(Shard.state == LeaseState.ENQUEUED).group_by(Shard.team)
        return {row[0]: row[1] for row in connection.execute(rows)}


def test_reductions_go_first_and_into_the_queue_of_their_class(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url)
    job = queue_job(engine, settings, systems=1, queue_class=QueueClass.INTERACTIVE)
    add_worker(engine, 1)
    with writing(engine) as connection:
        connection.execute(insert(Reduction).values(protocol_id=job.protocols[0], queue_class=NIGHTLY))
    app = App()
    assert dispatch(engine, app, settings) == 4
    assert app.sent[0] == ("reduce", 1, queue_named("nightly"))
    assert {queue for task, _, queue in app.sent if task == "score_shard"} == {queue_named("interactive")}


@pytest.mark.parametrize("why", [{"edition": EDITION + 1}, {"not_before": 1e14}])
def test_a_reduction_that_may_not_be_sent_makes_nobody_write(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch, why: dict[str, object]
) -> None:
    settings = one_block_shards(database_url)
    job = queue_job(engine, settings, systems=1)
    add_worker(engine, 2)
    assert dispatch(engine, App(), settings) > 0
    with writing(engine) as connection:
        connection.execute(insert(Reduction).values(protocol_id=job.protocols[0], **{"edition": EDITION, **why}))

    def refuse(engine: Engine) -> None:
        raise AssertionError("a transaction that writes")

    monkeypatch.setattr("scheduler.dispatch.writing", refuse)
    assert dispatch(engine, App(), settings) == 0
    monkeypatch.undo()
    with writing(engine) as connection:
        connection.execute(update(Reduction).values(edition=EDITION, not_before=0))
    assert dispatch(engine, App(), settings) == 1


def test_tasks_whose_messages_cannot_be_sent_return_to_pending(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url)
    queue_job(engine, settings, segments=256 * 5, systems=1)
    add_worker(engine, 2)
    app = App()
    app.reachable = 2
    assert dispatch(engine, app, settings) == 2
    assert states(engine) == {"enqueued": 2, "pending": 3}
    app.reachable = 100
    assert dispatch(engine, app, settings) == 0, "it waits a moment before it tries again"
    with writing(engine) as connection:
        connection.execute(update(Shard).where(Shard.state == LeaseState.PENDING).values(not_before=0))
    assert dispatch(engine, app, settings) == 3
    assert len({key for _, key, _ in app.sent}) == 5


def test_a_task_that_has_begun_though_its_sender_heard_of_no_success_goes_on(sqlite_url: str) -> None:
    engine, settings = make_engine(sqlite_url), one_block_shards(sqlite_url)
    queue_job(engine, settings, segments=256 * 3, systems=1)
    add_worker(engine, 2)

    class Breaking(App):
        def send(self, message: TaskMessage) -> None:
            with writing(engine) as connection:
                begun = update(Shard).where(Shard.id.in_(message.keys))
                connection.execute(begun.values(state=LeaseState.RUNNING, owner="o"))
            raise BrokerAway("the connection broke before it was confirmed")

    assert dispatch(engine, Breaking(), settings) == 0
    assert states(engine) == {"running": 1, "pending": 2}


def test_the_window_of_so_many_processes(sqlite_url: str) -> None:
    given = {
        "window_factor": 1.5,
        "smallest_window": 7,
        "resend_seconds": 40.0,
        "campaign_share": 4,
        "nightly_share": 8,
    }
    settings = one_block_shards(sqlite_url, **given)
    shares = {QueueClass.INTERACTIVE: 5 / 8, QueueClass.CAMPAIGN: 1 / 4, QueueClass.NIGHTLY: 1 / 8}
    usual = Window(places=6, short_places=7, seconds=80.0, shares=shares, small_places=48)
    assert _window(settings, 4) == usual
    # Small tasks have more places, as many as messages hold, up to a limit.
    assert _window(settings, 4, 0.25) == replace(usual, small_seconds=1.5)
    small = _window(settings, 400, 0.25)
    assert (small.places, small.small_places, small.small_seconds) == (600, 1024, 150.0)
    assert [small.open_places(seconds) for seconds in (149.0, 150.0)] == [1024, 600]
    assert _window(one_block_shards(sqlite_url, window_factor=0.1), 1).places == 1
    assert set(new_accounting(settings).lag) == set(shares)


def test_reductions_go_by_their_deadlines_as_many_as_the_window_holds(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url, smallest_window=2, window_factor=1)
    job = queue_job(engine, settings, systems=1)
    with writing(engine) as connection:
        connection.execute(update(Shard).values(state=LeaseState.DONE))
        for due in (None, None, 9e9, None, 8e9, None, None, 7e9):
            connection.execute(insert(Reduction).values(protocol_id=job.protocols[0], due_at=due))
        connection.execute(update(Reduction).where(Reduction.due_at == 7e9).values(state=LeaseState.RUNNING))
    app = App()
    add_worker(engine, 1)
    assert dispatch(engine, app, settings) == 2
    add_worker(engine, 2)
    assert dispatch(engine, app, settings) == 3
    assert [key for _, key, _ in app.sent] == [3, 5, 1, 2, 4]


def test_who_stops_is_sent_nothing(engine: Engine, database_url: str) -> None:
    """A worker that stops says that it has no processes any more."""
    queue_job(engine, one_block_shards(database_url), systems=1)
    add_worker(engine, 0)
    assert dispatch(engine, App(), one_block_shards(database_url)) == 0


def test_a_full_window_has_places_for_interactive_work_alone(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url, smallest_window=1, window_factor=1)
    add_worker(engine, 2)
    queue_job(engine, settings, segments=256 * 6, systems=1)
    accounts, app = new_accounting(settings), App()
    assert dispatch(engine, app, settings, accounts) == 2
    assert dispatch(engine, app, settings, accounts) == 0
    urgent = {"campaign": "urgent", "seed": 2, "queue_class": QueueClass.INTERACTIVE}
    queue_job(engine, settings, segments=256 * 6, systems=1, **urgent)
    assert [dispatch(engine, app, settings, accounts) for _ in range(3)] == [INTERACTIVE_EXTRA, 0, 0]
    assert {queue for _, _, queue in app.sent[2:]} == {queue_named("interactive")}
    # The place of one that has ended is for the next.
    with writing(engine) as connection:
        last = Shard.id == app.sent[-1][1]
        connection.execute(update(Shard).where(last).values(state=LeaseState.DONE))
    assert [dispatch(engine, app, settings, accounts) for _ in range(2)] == [1, 0]


def test_who_has_sent_more_than_the_workers_that_are_left_take_waits(engine: Engine, database_url: str) -> None:
    """Also with interactive work, that has not had its share: there is no place for any."""
    settings = one_block_shards(database_url, smallest_window=1, window_factor=1)
    add_worker(engine, 6)
    queue_job(engine, settings, segments=256 * 6, systems=1)
    accounts, app = new_accounting(settings), App()
    assert dispatch(engine, app, settings, accounts) == 6
    queue_job(engine, settings, segments=256, systems=1, campaign="urgent", seed=2, queue_class=QueueClass.INTERACTIVE)
    for processes, sent in ((1, 0), (4, 0), (5, 1)):
        with writing(engine) as connection:
            connection.execute(update(Worker).values(concurrency=processes))
        assert dispatch(engine, app, settings, accounts) == sent


@one_kind
def test_where_nobody_waits_accounts_are_reset(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = one_block_shards(database_url)
    accounts, called = new_accounting(settings), []
    monkeypatch.setattr(accounts, "reset", lambda: called.append(1))
    assert dispatch(engine, App(), settings, accounts) == 0
    assert called == [1]
    queue_job(engine, settings, systems=1)
    dispatch(engine, App(), settings, accounts)
    assert called == [1]
