"""A real worker on a broker where somebody else writes, too: it goes on."""

import json
import re
from base64 import b64decode
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

import amqp
import pytest
import redis
from sqlalchemy import select

from models.database.session import make_engine, reading
from models.schema.queue import Shard
from scheduler.dispatch import dispatch
from tests.acceptance.commands import running, wait_for
from tests.scheduler.jobs import one_block_shards, queue_job, queue_named
from tests.servers import free_port
from tests.worker.strange import CHANGES, RAW, UNDECODABLE, Undecodable, bomb, changed
from worker.app import Broker

pytestmark = pytest.mark.faults
QUEUES = ("interactive", "campaign", "nightly")


def outlives(folder: Path, database: str, broker: str, send: Callable[[str], int]) -> None:
    """That a worker drops what is sent into each of its queues, and then does what it has to do."""
    port = free_port()
    settings = one_block_shards(database, broker_url=broker)
    engine = make_engine(database)
    queue_job(engine, settings, segments=600)
    environment = {
        "STEELYARD_DATABASE_URL": database, "STEELYARD_BROKER_URL": broker, "STEELYARD_HTTP_PORT": str(port),
    }  # fmt: skip

    def metrics():
        try:
            return urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
        except OSError:
            return ""

    def dropped():
        return sum(map(float, re.findall(r"^steelyard_worker_messages_dropped_total\{.*\} (\S+)$", metrics(), re.M)))

    def states():
        with reading(engine) as connection:
            return set(connection.scalars(select(Shard.state)))

    with running("worker", "--concurrency", "1", cwd=folder, **environment) as worker:
        wait_for(lambda: worker.poll() is not None or "messages_dropped" in metrics(), 120)
        sent = sum(send(queue_named(queue)) for queue in QUEUES)
        wait_for(lambda: worker.poll() is not None or dropped() >= sent, 120)
        log = (folder / "worker.log").read_text()
        assert worker.poll() is None, log
        assert dropped() == sent
        assert log.count("Dropping a message: ") == sent
        assert "Traceback" not in log
        # And it still works.
        dispatch(engine, Broker(settings), settings)
        wait_for(lambda: worker.poll() is not None or states() == {"done"}, 120)
        assert worker.poll() is None


def test_a_worker_outlives_messages_that_are_none(tmp_path, sqlite_url, redis_url):
    strange = [*RAW, *(json.dumps(changed(place, value)).encode() for place, value, _ in CHANGES)]
    with closing(redis.Redis.from_url(redis_url)) as client:

        def send(queue):
            client.lpush(queue, *strange)
            return len(strange)

        outlives(tmp_path, sqlite_url, redis_url, send)


def test_a_worker_outlives_messages_that_are_none_on_rabbitmq(tmp_path, sqlite_url, rabbitmq_url):
    """There properties and headers are fields of the protocol, which the broker hands on as they are."""
    strange = [amqp.Message(raw, content_type="application/json", content_encoding="utf-8") for raw in RAW]
    for place, value, _ in CHANGES:
        if place[0] != "properties":
            strange.append(_as_amqp(changed(place, value)))
    strange += map(Undecodable, UNDECODABLE)
    strange.append(amqp.Message(bomb(), content_type="application/json", application_headers={"compression": "zlib"}))
    with closing(amqp.Connection(rabbitmq_url.partition("@")[2].partition("/")[0])) as connection:
        connection.connect()

        def send(queue):
            channel = connection.channel()
            for message in strange:
                channel.basic_publish(message, routing_key=queue)
            return len(strange)

        outlives(tmp_path, sqlite_url, rabbitmq_url, send)


def _as_amqp(message):
    headers = message.get("headers")
    given = {"content_type": message.get("content-type"), "content_encoding": message.get("content-encoding")}
    return amqp.Message(
        b64decode(message["body"]),
        **{name: value for name, value in given.items() if value is not None},
        **({"application_headers": headers} if isinstance(headers, dict) else {}),
    )
