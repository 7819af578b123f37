"""Workers that wait in place of computing: all else (messages, heartbeats, every statement) is the product's own.

    python -m benchmarks.crowd.clients --workers 50 --processes 8 --hold 1

What would be a process is a thread here, with a connection of its own.
"""

from __future__ import annotations

import argparse
import base64
import json
import signal
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import redis
from sqlalchemy import select

import worker.runners
from benchmarks.crowd.tables import METRICS
from models.corpus.protocols import read_protocol
from models.database.session import make_engine
from models.queue.kinds.registry import BY_MESSAGE
from models.queue.kinds.shards import ScoredShard, ShardRow, ShardTiming
from models.queue.task_kind import Outcome
from models.schema.results import Statistics
from models.schema.states import QueueClass
from runtime.settings import Settings
from steelyard.metrics.metric import EDITION
from worker.computing.corpus_statistics import read_corpus_statistics
from worker.computing.scoring import read_shard, shard_metrics
from worker.context import WorkerContext
from worker.handlers import do
from worker.processes.heartbeat import Heartbeat

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from models.queue.kinds.reductions import ClaimedReduction
    from models.queue.kinds.shards import ClaimedShard

QUEUES = [queue_class.queue_of(EDITION) for queue_class in QueueClass]
BLOB = bytes(range(256)) * 4
"""Statistics as they are in a row where large ones are objects elsewhere."""
hold = 1.0


class Context(WorkerContext):
    """That of a worker whose processes are threads, each with one connection."""

    def __init__(self, settings: Settings, processes: int) -> None:
        super().__init__(settings, processes)
        self._own = threading.local()

    @property
    def engine(self) -> Engine:
        """As `WorkerContext`."""
        if not hasattr(self._own, "engine"):
            self._own.engine = make_engine(
                self.settings.database_url,
                relaxed=True,
                binary=True,
                connections=1,
                prepared=self.settings.prepares_statements,
                retried=True,
            )
        return self._own.engine


def score(context: WorkerContext, claim: ClaimedShard, _preempt: object) -> Outcome[ScoredShard]:
    """Read what a worker reads, wait, and give statistics that are none."""

    def read(connection: Connection) -> None:
        protocol = read_protocol(connection, claim.protocol_id)
        specifications = list(shard_metrics(claim, protocol).values())
        read_corpus_statistics(connection, claim.protocol_id, specifications, context.edition)
        read_shard(connection, claim, protocol)

    context.read(read)
    time.sleep(hold)
    rows = [ShardRow(each, metric, BLOB, None) for each in claim.evaluations for metric in range(len(METRICS))]
    return Outcome(ScoredShard(rows, ShardTiming(hold, (hold / 3,) * 3)))


def reduce(context: WorkerContext, claim: ClaimedReduction, _preempt: object) -> Outcome[list[dict[str, Any]]]:
    """Read the statistics, and give scores that are none."""
    stored = select(Statistics.blob).where(Statistics.evaluation_id.in_(claim.evaluations))
    context.read(lambda connection: connection.scalars(stored).all())
    rows = [
        {
            "evaluation_id": each, "metric": number, "specification": name, "title": name, "signature": name,
            "higher_is_better": True, "scale": 1.0, "columns": ["a"], "sums": bytes(8), "score": 0.0,
            "replicate_scores": bytes(8000),
        }
        for each in claim.evaluations for number, name in enumerate(METRICS)
    ]  # fmt: skip
    return Outcome(rows)


def work(context: Context, broker: redis.Redis[bytes], stop: threading.Event) -> None:
    """Handle messages until told to stop, as one process of a pool."""
    while not stop.is_set():
        try:
            found = broker.brpop(QUEUES, timeout=1)
        except redis.RedisError:
            continue
        if found is not None:
            message = json.loads(found[1])
            (key, *_), *_ = json.loads(base64.b64decode(message["body"]))
            do(context, BY_MESSAGE[message["headers"]["task"]], key, str(uuid.uuid4()))


def main() -> None:
    """Work until SIGTERM."""
    global hold
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--processes", type=int, required=True, help="of each worker")
    parser.add_argument("--hold", type=float, required=True, help="seconds that a shard takes")
    options = parser.parse_args()
    hold = options.hold
    worker.runners.score, worker.runners.reduce = score, reduce  # type: ignore[assignment]
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    settings, threads, beats = Settings(), [], []
    threading.stack_size(512 * 1024)
    broker = redis.Redis.from_url(settings.broker_url, max_connections=2 * options.workers * options.processes)
    for _ in range(options.workers):
        context = Context(settings, options.processes)
        beats.append(Heartbeat(context, options.processes, forks=False))
        beats[-1].start()
        for _ in range(options.processes):
            threads.append(threading.Thread(target=work, args=(context, broker, stop), daemon=True))
            threads[-1].start()
    stop.wait()
    for thread in threads:
        thread.join(hold + 10)
    for each in beats:
        each.stop()


if __name__ == "__main__":
    main()
