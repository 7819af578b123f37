"""The app behind a real server on loopback, for clients."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn

from models.queue.kinds.metrics_task_parts import METRICS_TASK_PART
from models.schema.roles import Scope
from steelyard_client import Client, RetryPolicy
from tests.scheduler.jobs import work_off
from tests.service.service import Service

START_SECONDS = 120.0


@dataclass
class Live:
    """Where it is, and those who use it."""

    service: Service
    url: str
    stack: ExitStack

    @classmethod
    def start(cls, database_url: str, stack: ExitStack, **settings: Any) -> "Live":
        """On a free port, until the stack closes."""
        service = Service.start(database_url, stack, **settings)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        server = uvicorn.Server(
            uvicorn.Config(service.app, log_config=None, access_log=False, ws="none", proxy_headers=False)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.005)

        def stop() -> None:
            server.should_exit = server.force_exit = True
            thread.join(START_SECONDS)

        stack.callback(stop)
        return cls(service, f"http://127.0.0.1:{listener.getsockname()[1]}", stack)

    def token(self, account_id: int, *scopes: Scope) -> str:
        """A token for a program of an account, by default for everything."""
        program = self.service.program(account_id, *scopes)
        return str(program.headers["Authorization"].partition(" ")[2])

    def client(self, account_id: int | None = None, *scopes: Scope, **options: Any) -> Client:
        """A client of an account, or of nobody."""
        token = None if account_id is None else self.token(account_id, *scopes)
        options.setdefault("patience", RetryPolicy(first_seconds=0.01))
        return self.stack.enter_context(Client(self.url, token, **options))

    def work(self) -> None:
        """Measure everything that is queued now."""
        work_off(self.service.settings, METRICS_TASK_PART)


@pytest.fixture
def live(service_url: str) -> Iterator[Live]:
    """An app on a database of its own, behind a server."""
    with ExitStack() as stack:
        yield Live.start(service_url, stack)
