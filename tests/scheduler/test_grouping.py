"""Small shards travel together where enough is left for every process, and never with one that was tried before."""

from collections.abc import Iterable

import pytest
from sqlalchemy import Engine, insert, select, update

from models.database.session import reading, writing
from models.queue.kinds.shards import SHARD
from models.schema.base import now
from models.schema.queue import Evaluation, Shard, Worker
from models.schema.states import LeaseState, QueueClass
from runtime.settings import Settings
from scheduler.dispatch import ENOUGH_PROCESSES, MANY, dispatch, new_accounting
from scheduler.fair_share import Group, InFlight, ServiceAccounting, Window, allocate
from tests.scheduler.jobs import one_block_shards, queue_job
from worker.context import WorkerContext
from worker.errors import BrokerAway
from worker.handlers import do_several
from worker.tasks import MESSAGE_VERSION, MOST_TOGETHER, SEVERAL_SINCE, TaskMessage

SMALL = 0.02
"""Estimated seconds of a small shard."""

one_kind = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Where databases cannot differ."""


class Kept:
    """Keeps what is sent."""

    prefetches = False

    def __init__(self, most: int = 10**6) -> None:
        self.messages: list[TaskMessage] = []
        self.most = most

    def send(self, message: TaskMessage) -> None:
        if len(self.messages) >= self.most:
            raise BrokerAway("gone")
        self.messages.append(message)

    def count(self, classes: Iterable[QueueClass]) -> dict[QueueClass, int]:
        return dict.fromkeys(classes, 1)

    @property
    def sizes(self) -> list[int]:
        return [len(message.keys) for message in self.messages]

    @property
    def keys(self) -> list[int]:
        return [key for message in self.messages for key in message.keys]


@pytest.fixture
def settings(database_url: str) -> Settings:
    return one_block_shards(database_url, together_seconds=0.25)


def add_worker(engine: Engine, processes: int, version: int = MESSAGE_VERSION, name: str = "w") -> None:
    row = {"id": name, "host": "h", "pid": 1, "version": "1", "concurrency": processes, "message_version": version}
    with writing(engine) as connection:
        connection.execute(insert(Worker).values(**row))


def wait(engine: Engine, settings: Settings, shards: int, seconds: float = SMALL, **job: object) -> None:
    """Have so many shards wait, of one system."""
    queue_job(engine, settings, segments=256 * shards, systems=1, **job)
    with writing(engine) as connection:
        connection.execute(update(Shard).where(Shard.state == LeaseState.PENDING).values(cost=seconds))


def sent(engine: Engine, settings: Settings, accounting: ServiceAccounting | None = None, most: int = 10**6) -> Kept:
    app = Kept(most)
    dispatch(engine, app, settings, accounting)
    return app


@pytest.mark.parametrize(
    ("shards", "processes", "sizes"),
    [
        (8, 8, [1] * 8),
        (16, 8, [1] * 16),
        (40, 8, [2] * 20),
        (70, 8, [4] * 17 + [2]),
        (8, 1, [4, 4]),
        (70, 1, [8, 8]),
    ],
)
def test_a_message_holds_more_the_more_there_is_for_each_process(
    engine: Engine, settings: Settings, shards: int, processes: int, sizes: list[int]
) -> None:
    """A single submission is spread over all idle processes."""
    add_worker(engine, processes)
    wait(engine, settings, shards)
    app = sent(engine, settings)
    assert app.sizes == sizes
    assert app.keys == sorted(set(app.keys)), "the oldest go first, and each once"
    with reading(engine) as connection:
        states = list(connection.scalars(select(Shard.state).where(Shard.id.in_(app.keys))))
    assert states == [LeaseState.ENQUEUED] * sum(sizes)
    assert [message.version for message in app.messages] == [SEVERAL_SINCE if size > 1 else 1 for size in sizes]


@one_kind
@pytest.mark.parametrize(("seconds", "size"), [(0.02, 8), (0.05, 5), (0.1, 2), (0.2, 1), (2.0, 1)])
def test_what_takes_long_travels_alone(engine: Engine, settings: Settings, seconds: float, size: int) -> None:
    add_worker(engine, 1)
    wait(engine, settings, 40, seconds)
    assert set(sent(engine, settings).sizes) >= {size}
    assert max(sent(engine, settings).sizes, default=0) <= size


@one_kind
@pytest.mark.parametrize(
    "changed",
    [{"together_seconds": 0.0}, {"max_attempts": 1}],
    ids=["as it is set", "where an attempt is all that there is"],
)
def test_all_may_travel_alone(engine: Engine, settings: Settings, changed: dict[str, object]) -> None:
    add_worker(engine, 1)
    wait(engine, settings, 40)
    app = sent(engine, settings.model_copy(update=changed))
    assert set(app.sizes) == {1}
    assert len(app.sizes) == settings.smallest_window


@one_kind
def test_as_long_as_there_is_a_worker_that_does_not_read_them_all_travel_alone(
    engine: Engine, settings: Settings
) -> None:
    add_worker(engine, 1)
    add_worker(engine, 1, 1, "old")
    wait(engine, settings, 40)
    assert set(sent(engine, settings).sizes) == {1}
    with writing(engine) as connection:
        connection.execute(update(Shard).values(state=LeaseState.PENDING))
        connection.execute(update(Worker).where(Worker.id == "old").values(beat_at=now() - 1e6))
    assert set(sent(engine, settings).sizes) == {8}


@one_kind
def test_what_was_tried_before_travels_alone(engine: Engine, settings: Settings) -> None:
    add_worker(engine, 1)
    wait(engine, settings, 12)
    with writing(engine) as connection:
        first = connection.scalar(select(Shard.id).order_by(Shard.id).limit(1)) or 0
        tried = [first, first + 2, first + 5]
        connection.execute(update(Shard).where(Shard.id.in_(tried)).values(attempts=1))
    app = sent(engine, settings)
    assert [message.keys for message in app.messages if set(message.keys) & set(tried)] == [(key,) for key in tried]
    assert sorted(app.keys) == list(range(first, first + 12))
    assert max(app.sizes) > 1


@one_kind
def test_only_what_belongs_together_travels_together(engine: Engine, settings: Settings) -> None:
    """A class, a team and a trace."""
    add_worker(engine, 1)
    for number in range(3):
        team, queue_class = f"t{number % 2}", QueueClass.NIGHTLY if number == 2 else QueueClass.CAMPAIGN
        wait(engine, settings, 6, team=team, queue_class=queue_class, campaign=str(number), seed=number + 1)
    with writing(engine) as connection:
        newest = connection.scalar(select(Shard.id).order_by(Shard.id.desc()).limit(1)) or 0
        connection.execute(update(Shard).where(Shard.id > newest - 3).values(trace="another"))
    app = sent(engine, settings)
    assert max(app.sizes) > 1
    with reading(engine) as connection:
        for message in app.messages:
            of = select(Shard.queue_class, Shard.team, Shard.trace).where(Shard.id.in_(message.keys)).distinct()
            ((queue_class, _, trace),) = connection.execute(of).all()
            assert (queue_class, trace) == (message.queue_class, message.trace)


@one_kind
@pytest.mark.parametrize("amounts", [(3, 5), (5, 3), (9, 7), (1, 11)])
def test_no_message_holds_tasks_of_two_teams_however_many_wait(
    engine: Engine, settings: Settings, amounts: tuple[int, ...]
) -> None:
    """One that kills its process would cost another team an attempt. A correction queues those of all at once."""
    add_worker(engine, 1)
    for number, amount in enumerate(amounts):
        wait(engine, settings, amount, team=f"t{number}", campaign=str(number), seed=number + 1)
    with writing(engine) as connection:
        connection.execute(update(Shard).values(trace=None))
    messages = [message for _ in range(4) for message in sent(engine, settings).messages]
    with reading(engine) as connection:
        team_of = {row.id: row.team for row in connection.execute(select(Shard.id, Shard.team))}
    assert max(len(message.keys) for message in messages) > 1
    assert {len({team_of[key] for key in message.keys}) for message in messages} == {1}


@one_kind
def test_large_installations_keep_small_tasks_in_flight_within_a_limit(engine: Engine, settings: Settings) -> None:
    """Rounds count what is in flight; and enough processes have work."""
    add_worker(engine, 400)
    queue_job(engine, settings, segments=256, systems=1)
    with writing(engine) as connection:
        columns = Shard.protocol_id, Shard.first_block, Shard.last_block, Shard.edition
        row = connection.execute(select(*columns)).one()._asdict()
        connection.execute(insert(Shard), [{**row, "cost": SMALL} for _ in range(3000)])
    app = sent(engine, settings)
    assert sum(app.sizes) == MANY
    assert len(app.sizes) >= ENOUGH_PROCESSES
    assert max(app.sizes) == 5


@one_kind
def test_what_was_not_sent_returns(engine: Engine, settings: Settings) -> None:
    add_worker(engine, 1)
    wait(engine, settings, 40)
    app = sent(engine, settings, most=1)
    assert app.sizes == [MOST_TOGETHER]
    with reading(engine) as connection:
        enqueued = list(connection.scalars(select(Shard.id).where(Shard.state == LeaseState.ENQUEUED)))
    assert sorted(enqueued) == sorted(app.keys)


def test_teams_get_the_same_in_groups(engine: Engine, settings: Settings) -> None:
    """In seconds of work, within a message of each other, round after round."""
    add_worker(engine, 1)
    for number in range(3):
        wait(engine, settings, 40, team=f"t{number}", campaign=str(number), seed=number + 1)
    accounting, service = new_accounting(settings), dict.fromkeys(("t0", "t1", "t2"), 0)
    context = WorkerContext(settings)
    for _ in range(5):
        app = sent(engine, settings, accounting)
        for message in app.messages:
            with reading(engine) as connection:
                (team,) = set(connection.scalars(select(Shard.team).where(Shard.id.in_(message.keys))))
            service[team] += len(message.keys)
            do_several(context, SHARD, message.keys, "task")
        assert max(service.values()) - min(service.values()) <= MOST_TOGETHER
    context.close()
    with reading(engine) as connection:
        left = {row.team: row.remaining for row in connection.execute(select(Evaluation.team, Evaluation.remaining))}
    assert left == {team: 40 - amount for team, amount in service.items()}


def test_a_group_ends_where_the_window_does() -> None:
    window = Window(10, 10, 100.0, {QueueClass.INTERACTIVE: 0.5, QueueClass.CAMPAIGN: 0.25, QueueClass.NIGHTLY: 0.25})
    waiting = {(1, "a"): [SMALL] * 20, (1, "b"): [SMALL] * 20}
    lag = dict.fromkeys(window.shares, -1.0)
    order = allocate(waiting, {}, lag, InFlight(), window, Group(8, 0.25))
    assert order == [(1, "a")] * 8 + [(1, "b")] * 2
    order = allocate(waiting, {}, lag, InFlight(), window, Group(8, 5 * SMALL))
    assert order == [(1, "a")] * 5 + [(1, "b")] * 5
    assert allocate(waiting, {}, lag, InFlight(), window) == [(1, "a"), (1, "b")] * 5
