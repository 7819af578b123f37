"""A real worker on a broker where somebody else writes, too: it goes on."""

import json
import re
from contextlib import closing
from urllib.request import urlopen

import pytest
import redis
from sqlalchemy import select

from models import Shard
from models.session import make_engine, reading
from scheduler.dispatch import dispatch
from tests.acceptance.commands import running, wait_for
from tests.scheduler.jobs import one_block_shards, queue_job, queue_named
from tests.servers import free_port
from tests.worker.strange import CHANGES, RAW, changed
from worker.app import make_app

pytestmark = pytest.mark.faults


def test_a_worker_outlives_messages_that_are_none(tmp_path, sqlite_url, redis_url):
    port = free_port()
    settings = one_block_shards(sqlite_url, broker_url=redis_url)
    engine = make_engine(sqlite_url)
    queue_job(engine, settings, segments=600)
    strange = [*RAW, *(json.dumps(changed(place, value)).encode() for place, value, _ in CHANGES)]
    environment = {
        "STEELYARD_DATABASE_URL": sqlite_url, "STEELYARD_BROKER_URL": redis_url, "STEELYARD_HTTP_PORT": str(port),
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

    with (
        running("worker", "--concurrency", "1", cwd=tmp_path, **environment) as worker,
        closing(redis.Redis.from_url(redis_url)) as client,
    ):
        wait_for(lambda: worker.poll() is not None or "messages_dropped" in metrics(), 120)
        for queue in ("interactive", "campaign", "nightly"):
            client.lpush(queue_named(queue), *strange)
        wait_for(lambda: worker.poll() is not None or dropped() >= 3 * len(strange), 120)
        log = (tmp_path / "worker.log").read_text()
        assert worker.poll() is None, log
        assert dropped() == 3 * len(strange)
        assert log.count("A message is dropped: ") == 3 * len(strange)
        assert "Traceback" not in log
        # And it still works.
        dispatch(engine, make_app(settings), settings)
        wait_for(lambda: worker.poll() is not None or states() == {"done"}, 120)
        assert worker.poll() is None
