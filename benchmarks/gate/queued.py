"""What is counted of the queue: rounds of the scheduler, shards and reductions, on SQLite."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from benchmarks.gate.workloads import THREE, Texts, Work
from models.corpus.protocols import read_protocol
from models.database import migrate
from models.database.session import make_engine, reading, writing
from models.queue.kinds.shards import SHARD
from models.schema.base import BLOCK_SEGMENTS
from models.schema.queue import Evaluation, Shard, Worker
from models.schema.states import LeaseState, QueueClass
from runtime.settings import Settings
from scheduler.dispatch import dispatch, new_accounting
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.metric import EDITION
from steelyard.metrics.registry import parse_metric
from worker.computing.reducer import reduce_evaluations
from worker.context import WorkerContext
from worker.handlers import do

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from worker.tasks import TaskMessage

TEAMS, SHARDS = 10, 500
"""Shards of each of so many teams that wait while the scheduler is counted."""
YEAR = 365 * 86400.0


class NoBroker:
    """Takes what is sent."""

    prefetches = False

    def send(self, message: TaskMessage) -> None:
        """It is not sent anywhere."""

    def count(self, classes: Iterable[QueueClass]) -> dict[QueueClass, int]:
        """There is always one."""
        return dict.fromkeys(classes, 1)


class Queue:
    """An empty database, and what is put into it."""

    def __init__(self, texts: Texts, name: str, **settings: Any) -> None:
        url = f"sqlite:///{texts.folder}/{name}.db"
        # However slow a machine is, nothing goes stale while it counts; and all blocks are shards.
        values = {"shortest_shard_seconds": 1e-9, "silent_seconds": YEAR, "resend_seconds": YEAR, "concurrency": 1000}
        self.settings = Settings(database_url=url, **(values | settings))
        migrate.upgrade(url)
        self.engine = make_engine(url)

    def take_in(self, reference: bytes, outputs: Sequence[bytes], team: str = "") -> list[int]:
        """Queue outputs of a team; their evaluations."""
        return ingest_campaign(
            self.engine,
            self.settings,
            campaign="campaign",
            test_set=NewTestSet("test set", {"A": reference}),
            submissions=[NewSubmission(f"{team}{number}", text, team) for number, text in enumerate(outputs)],
            protocols=[NewProtocol(["A"], [parse_metric(each) for each in THREE])],
            team=team,
        ).all_evaluations

    @cached_property
    def shards(self) -> list[int]:
        """All that wait."""
        with reading(self.engine) as connection:
            return list(connection.scalars(select(Shard.id).order_by(Shard.id)))


def _shard(texts: Texts) -> Work:
    """From claim to stored statistics; never the last one, which would have a reduction begin."""
    queue = Queue(texts, "shard")
    reference, *outputs = (b"\n".join([text] * 4) for text in texts.texts)
    queue.take_in(reference, outputs)
    context, shards = WorkerContext(queue.settings), iter(queue.shards)
    return Work(lambda: do(context, SHARD, next(shards), "counted"))


def _reduction(texts: Texts) -> Work:
    queue = Queue(texts, "reduction")
    reference, *outputs = texts.texts
    evaluations = queue.take_in(reference, outputs)
    context = WorkerContext(queue.settings)
    for shard in queue.shards[:-1]:
        do(context, SHARD, shard, "counted")
    # Statistics of the last one, too, but what is reduced then must not be done already.
    context.shutting_down.set_once("to be reduced here")
    do(context, SHARD, queue.shards[-1], "counted")
    with reading(queue.engine) as connection:
        protocol = connection.scalars(select(Evaluation.protocol_id)).first()
        assert protocol is not None
        measurement = read_protocol(connection, protocol)

    def reduce() -> object:
        with reading(queue.engine) as connection:
            return reduce_evaluations(connection, measurement, evaluations)

    return Work(reduce)


def _tick(texts: Texts, free: int) -> Work:
    """A round with very many shards waiting and so many places in the window free."""
    queue = Queue(texts, f"tick{free}")
    # Nobody will look at the texts.
    text = b"\n".join([b"a"] * BLOCK_SEGMENTS * SHARDS)
    for number in range(TEAMS):
        queue.take_in(text, [text], f"team {number}")
    with writing(queue.engine) as connection:
        row = {"id": "one", "host": "here", "pid": 1, "version": "1", "edition": EDITION, "concurrency": 8}
        connection.execute(insert(Worker).values(row))
    accounts = new_accounting(queue.settings)
    work = partial(dispatch, queue.engine, NoBroker(), queue.settings, accounts)
    while work():
        pass

    def give_back() -> None:
        with writing(queue.engine) as connection:
            sent = select(Shard.id).where(Shard.state == LeaseState.ENQUEUED).order_by(Shard.id).limit(free)
            connection.execute(update(Shard).where(Shard.id.in_(sent)).values(state=LeaseState.PENDING))

    return Work(work, give_back)


QUEUED: dict[str, Callable[[Texts], Work]] = {
    "shard": _shard,
    "reduction": _reduction,
    "tick, window full": partial(_tick, free=0),
    "tick, two places free": partial(_tick, free=2),
}
