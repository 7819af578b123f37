"""Handing out work: the window, the classes, the turns of teams, and brokers that are away."""

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kombu.exceptions import OperationalError
from sqlalchemy import Engine, func, insert, select, update

from models import LeaseState, QueueClass, Reduction, Shard, Worker
from models.base import now
from models.session import make_engine, reading, writing
from scheduler.dispatch import INTERACTIVE_EXTRA, allot, dispatch
from tests.scheduler.jobs import one_block_shards, queue_job

INTERACTIVE, CAMPAIGN, NIGHTLY = (int(each) for each in QueueClass)


def test_interactive_work_goes_first_and_has_places_of_its_own() -> None:
    pending = {(CAMPAIGN, "a"): 100, (INTERACTIVE, "b"): 1}
    assert allot(pending, {}, 4, 8) == {(INTERACTIVE, "b"): 1, (CAMPAIGN, "a"): 3}
    full = {(CAMPAIGN, "a"): 4}
    assert allot({(INTERACTIVE, "b"): 9}, full, 4, 8) == {(INTERACTIVE, "b"): INTERACTIVE_EXTRA}


def test_teams_take_turns() -> None:
    pending = {(CAMPAIGN, "large"): 1000, (CAMPAIGN, "small"): 3}
    assert allot(pending, {}, 8, 8) == {(CAMPAIGN, "large"): 5, (CAMPAIGN, "small"): 3}
    # Who has more in flight waits.
    assert allot(pending, {(CAMPAIGN, "large"): 6}, 8, 8) == {(CAMPAIGN, "small"): 2}


def test_a_place_is_kept_for_nightly_work() -> None:
    pending = {(CAMPAIGN, "a"): 100, (NIGHTLY, "n"): 100}
    assert allot(pending, {}, 16, 8) == {(CAMPAIGN, "a"): 14, (NIGHTLY, "n"): 2}
    assert allot({(NIGHTLY, "n"): 100}, {}, 16, 8) == {(NIGHTLY, "n"): 16}
    assert allot({(CAMPAIGN, "a"): 100}, {}, 16, 8) == {(CAMPAIGN, "a"): 16}


turns = st.dictionaries(
    st.tuples(st.sampled_from([INTERACTIVE, CAMPAIGN, NIGHTLY]), st.sampled_from("abc")), st.integers(0, 30)
)


@given(pending=turns, in_flight=turns, window=st.integers(1, 20))
def test_the_window_holds_and_is_filled(
    pending: dict[tuple[int, str], int], in_flight: dict[tuple[int, str], int], window: int
) -> None:
    given_out = allot(pending, in_flight, window, 8)
    assert all(0 < count <= pending[turn] for turn, count in given_out.items())
    before, after = Counter(in_flight), Counter(in_flight) + Counter(given_out)
    assert after.total() <= max(before.total(), window + INTERACTIVE_EXTRA)
    beyond = {turn for turn in given_out if turn[0] != INTERACTIVE}
    if beyond:
        assert after.total() <= window + INTERACTIVE_EXTRA
    if sum(pending.values()) and before.total() < window:
        assert given_out


class App:
    """Counts what is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, int, str]] = []
        self.reachable = 10**6

    @property
    def tasks(self) -> "App":
        return self

    def __getitem__(self, name: str) -> "Task":
        return Task(self, name)


class Task:
    def __init__(self, app: App, name: str) -> None:
        self.app, self.name = app, name

    def apply_async(self, args: tuple[int], queue: str) -> None:
        if len(self.app.sent) >= self.app.reachable:
            raise OperationalError("connection refused")
        self.app.sent.append((self.name, args[0], queue))


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


def add_worker(engine: Engine, concurrency: int) -> None:
    with writing(engine) as connection:
        connection.execute(
            insert(Worker).values(id=f"w{concurrency}", host="h", pid=1, version="1", concurrency=concurrency)
        )


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
    assert app.sent == [("score_shard", key, "campaign") for key in oldest]


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


def test_reductions_go_first_and_into_the_queue_of_their_class(engine: Engine, database_url: str) -> None:
    settings = one_block_shards(database_url)
    job = queue_job(engine, settings, systems=1, queue_class=QueueClass.INTERACTIVE)
    add_worker(engine, 1)
    with writing(engine) as connection:
        connection.execute(insert(Reduction).values(protocol_id=job.protocols[0], queue_class=NIGHTLY))
    app = App()
    assert dispatch(engine, app, settings) == 4
    assert app.sent[0] == ("reduce", 1, "nightly")
    assert {queue for task, _, queue in app.sent if task == "score_shard"} == {"interactive"}


def test_hints_that_cannot_be_sent_are_put_back(engine: Engine, database_url: str) -> None:
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
