"""Workers that send what was recorded of real ones (`benchmarks.crowd.recording`), all in one process.

    python -m benchmarks.crowd.clients --workers 50 --processes 8 --hold 1

What would be a process is a connection here. Messages are taken from Redis, many at a time; heartbeats are real ones.
"""

from __future__ import annotations

import argparse
import heapq
import json
import selectors
import signal
import socket
import time
import uuid
from base64 import b64decode
from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Any

import redis
from sqlalchemy import make_url

from benchmarks.crowd.recording import Script, Values, batch, is_first, is_last, recorded, shards_by_evaluation
from benchmarks.crowd.wire import AT_ONCE, READY, SYNC, failed, query, rows
from models.database.session import make_engine
from models.schema.states import QueueClass
from runtime.settings import Settings
from steelyard.metrics.metric import EDITION
from worker.context import WorkerContext
from worker.preemption import EVERY_SECONDS
from worker.processes.heartbeat import Heartbeat

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Mapping, Sequence

    from benchmarks.crowd.recording import Requests

QUEUES = [queue_class.queue_of(EDITION) for queue_class in QueueClass]
FOLLOWS = (("evaluation", "evaluation"), ("last_block", "first_block"))
"""What two shards that follow each other have in common."""
MESSAGES_SECONDS = 0.002
"""Between two looks for messages."""
FULL = len(READY) + 1


class Refused(Exception):
    """PostgreSQL has refused a request."""


class Looks:
    """The looks for more urgent work of a worker's processes: where one has found none just now, others do not look."""

    def __init__(self) -> None:
        self._looked = 0.0

    def due(self) -> bool:
        """Whether it is time for another look, which is taken then."""
        if time.monotonic() < self._looked + EVERY_SECONDS:
            return False
        self._looked = time.monotonic()
        return True


def replay(
    script: Script, values: Values, hold: float, looks: Callable[[], bool] = lambda: True
) -> Generator[bytes | float, bytes, None]:
    """Shards, and the reduction that they make ready: requests to send, each answered, and seconds to wait.

    For more urgent work it looks where `looks` says so.
    """
    task = str(uuid.uuid4())
    known, owner = dict(values), f"{task}:{task[-12:]}{task[:4]}".encode()

    def send(requests: Requests) -> Generator[bytes | float, bytes, bytes]:
        answers = b""
        for request in requests:
            answer = yield request.filled(known, owner)
            if complaint := failed(answer):
                raise Refused(complaint)
            if request.gives:
                ((number, *_), *_) = rows(answer)
                known[request.gives] = int.from_bytes(number or b"", "big")
            if request.refuses(answer):
                raise Refused("The task cannot be claimed.")
            answers += answer
        return answers

    claim, complete = script.claim, script.complete
    answers = yield from send(claim.common)
    yield from send(claim.rare if is_first(answers) else claim.usual)
    for look in script.looks:
        yield hold / (len(script.looks) + 1)
        if looks():
            yield from send(look)
    yield hold / (len(script.looks) + 1)
    answers = yield from send(complete.common)
    yield from send(complete.rare if is_last(answers) else complete.usual)


def runs(shards: Sequence[Values], sizes: Collection[int]) -> list[list[Values]]:
    """The shards in parts of these sizes, each of one evaluation and without gaps."""
    found: list[list[Values]] = []
    for each in shards:
        last = found[-1] if found else []
        follows = last and all(last[-1][one] == each[other] for one, other in FOLLOWS) and len(last) + 1 in sizes
        if follows:
            last.append(each)
        else:
            found.append([each])
    return found


class Connection:
    """What would be a process: one task at a time."""

    def __init__(self, address: tuple[str, int], script: Script, looks: Looks | None = None) -> None:
        self.looks = looks or Looks()
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""
        self.task: Generator[bytes | float, bytes, None] | None = None
        self.ask(script.startup)
        if script.prepared:
            self.ask(script.prepared + SYNC)

    def ask(self, request: bytes) -> bytes:
        """Send a request and wait for its answer. Raises Refused."""
        self.socket.sendall(request)
        answer = self.read()
        while answer is None:
            answer = self.read()
        if complaint := failed(answer):
            raise Refused(complaint)
        return answer

    def read(self) -> bytes | None:
        """The answer, once there is all of it. Raises ConnectionError."""
        found = self.socket.recv(AT_ONCE)
        if not found:
            raise ConnectionResetError("PostgreSQL has closed a connection.")
        self.received += found
        if self.received[-FULL:-1] != READY:
            return None
        answer, self.received = self.received, b""
        return answer


class Clients:
    """All connections, and the loop that serves them."""

    def __init__(
        self, settings: Settings, scripts: Mapping[int, Script], workers: int, processes: int, hold: float
    ) -> None:
        address = make_url(settings.database_url)
        self._scripts, self._hold = scripts, hold
        self._broker = redis.Redis.from_url(settings.broker_url)
        engine = make_engine(settings.database_url)
        self._shards = {each["shard"]: each for some in shards_by_evaluation(engine).values() for each in some}
        engine.dispose()
        self._selector = selectors.DefaultSelector()
        self._free: list[Connection] = []
        of_workers = [Looks() for _ in range(workers)]
        for looks in of_workers * processes:
            self._free.append(Connection((address.host or "", address.port or 5432), scripts[1], looks))
            self._selector.register(self._free[-1].socket, selectors.EVENT_READ, self._free[-1])
        self._busy, self._order = 0, count()
        self._timers: list[tuple[float, int, Connection]] = []
        self._next_look = 0.0
        self.stopping = False
        self.refused: deque[str] = deque(maxlen=20)

    def run(self) -> None:
        """Work until `stopping`, and end what was begun."""
        while self._busy or not self.stopping:
            now = time.monotonic()
            if self._free and not self.stopping and now >= self._next_look:
                self._take(now)
            while self._timers and self._timers[0][0] <= now:
                self._go_on(heapq.heappop(self._timers)[-1], b"")
            following = self._timers[0][0] - now if self._timers else MESSAGES_SECONDS
            for key, _ in self._selector.select(max(0.0, min(following, MESSAGES_SECONDS))):
                answer = key.data.read()
                if answer is not None:
                    self._go_on(key.data, answer)

    def _take(self, now: float) -> None:
        self._next_look = now + MESSAGES_SECONDS
        found: Any = self._broker.lmpop(len(QUEUES), *QUEUES, direction="RIGHT", count=len(self._free))
        for content in found[1] if found else ():
            message = json.loads(content)
            keys, *_ = json.loads(b64decode(message["body"]))
            # Reductions that were sent, too, are done by whoever made them ready.
            if message["headers"]["task"] == "score_shard" and self._shards.keys() >= set(keys):
                connection = self._free.pop()
                connection.task = self._replay([self._shards[key] for key in keys], connection.looks.due)
                self._busy += 1
                self._go_on(connection, None)

    def _replay(self, shards: Sequence[Values], looks: Callable[[], bool]) -> Generator[bytes | float, bytes, None]:
        """What a message causes: a real worker claims and stores all of it at once, here those of each evaluation."""
        for some in runs(shards, self._scripts):
            yield from replay(self._scripts[len(some)], batch(some), self._hold * len(some), looks)

    def _go_on(self, connection: Connection, answer: bytes | None) -> None:
        assert connection.task is not None
        try:
            step = connection.task.send(answer)  # type: ignore[arg-type]
        except StopIteration:
            pass
        except Refused as error:
            self.refused.append(str(error))
            rolling = _roll_back()
            connection.socket.sendall(next(rolling))
            connection.task = rolling
            return
        else:
            if isinstance(step, float):
                heapq.heappush(self._timers, (time.monotonic() + step, next(self._order), connection))
            else:
                connection.socket.sendall(step)
            return
        connection.task = None
        self._free.append(connection)
        self._busy -= 1


def _roll_back() -> Generator[bytes, bytes, None]:
    yield query("ROLLBACK")


def main() -> None:
    """Work until SIGTERM; print what PostgreSQL has refused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--processes", type=int, required=True, help="of each worker")
    parser.add_argument("--hold", type=float, required=True, help="seconds that a shard takes")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1], help="of messages, in shards, beside 1")
    options = parser.parse_args()
    settings = Settings()
    with recorded(settings, sorted({1, *options.sizes})) as scripts:
        clients = Clients(settings, scripts, options.workers, options.processes, options.hold)

        def stop(*_: object) -> None:
            clients.stopping = True

        signal.signal(signal.SIGTERM, stop)
        beats = [
            Heartbeat(WorkerContext(settings, options.processes), options.processes, forks=False)
            for _ in range(options.workers)
        ]
        for beat in beats:
            beat.start()
        clients.run()
        for beat in beats:
            beat.stop()
    print("refused, at most the last 20:", *clients.refused, sep="\n")


if __name__ == "__main__":
    main()
