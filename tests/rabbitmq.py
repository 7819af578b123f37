"""A real RabbitMQ for tests, where the machine has one: no wheel brings it (Debian: `rabbitmq-server`).

STEELYARD_TEST_RABBITMQ_URL names a server to use instead; all that waits in our queues there is deleted.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import amqp
import pytest

from models.schema.states import QueueClass
from steelyard.metrics.metric import EDITION
from tests.servers import free_port

START_SECONDS = 240.0
PROGRAM = "rabbitmq-server"
BEHIND_THE_WRAPPER = "/usr/lib/rabbitmq/bin"
"""Where Debian has the program itself: what it has in the path runs it as another user, in folders of the system."""


@pytest.fixture(scope="session")
def rabbitmq_server() -> Iterator[str]:
    """The address of a server that speaks AMQP."""
    given = os.environ.get("STEELYARD_TEST_RABBITMQ_URL")
    if given:
        yield given
        return
    program = shutil.which(PROGRAM, path=f"{BEHIND_THE_WRAPPER}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        missing = "There is no RabbitMQ: install rabbitmq-server, or name one by STEELYARD_TEST_RABBITMQ_URL."
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    home = Path(tempfile.mkdtemp(prefix="steelyard-amqp-", dir="/tmp"))
    ports = [free_port() for _ in range(3)]
    names = subprocess.Popen(["epmd", "-address", "127.0.0.1", "-port", str(ports[2])], stdin=subprocess.DEVNULL)
    server = None
    try:
        with (home / "output").open("wb") as output:
            server = subprocess.Popen(
                [program],
                env={**os.environ, **_settings(home, *ports)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        url = f"amqp://guest:guest@127.0.0.1:{ports[0]}//"
        deadline = time.monotonic() + START_SECONDS
        while not _answers(ports[0]):
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"RabbitMQ did not start: {(home / 'output').read_text()[-2000:]}")
            time.sleep(0.5)
        yield url
    finally:
        if server is not None:
            # At once: everything is thrown away.
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
        names.kill()
        names.wait()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def rabbitmq_url(rabbitmq_server: str) -> str:
    """The address of a RabbitMQ without messages for us."""
    port = int(rabbitmq_server.rpartition(":")[2].partition("/")[0])
    with closing(_connected(port)) as connection:
        for queue_class in QueueClass:
            connection.channel().queue_delete(queue_class.queue_of(EDITION))
    return rabbitmq_server


def _settings(home: Path, port: int, distribution_port: int, names_port: int) -> dict[str, str]:
    return {
        "HOME": str(home),
        "ERL_EPMD_PORT": str(names_port),
        "RABBITMQ_NODENAME": f"steelyard{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(distribution_port),
        "RABBITMQ_MNESIA_BASE": str(home / "data"),
        "RABBITMQ_LOG_BASE": str(home / "log"),
        "RABBITMQ_CONFIG_FILE": str(home / "none"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "plugins"),
        "RABBITMQ_PID_FILE": str(home / "pid"),
    }


def _connected(port: int) -> amqp.Connection:
    connection = amqp.Connection(f"127.0.0.1:{port}", connect_timeout=5)
    connection.connect()
    return connection


def _answers(port: int) -> bool:
    try:
        _connected(port).close()
    except (OSError, amqp.AMQPError):
        return False
    return True
