"""Each class gets its share while all want more, with real processes: whatever a broker hands out first."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, update

from models.database.session import reading, writing
from models.schema.queue import Shard
from models.schema.states import LeaseState, QueueClass
from tests.faults.campaigns import Job
from tests.faults.cluster import Cluster, until

pytestmark = pytest.mark.faults

SHARDS = 200


@pytest.fixture
def cluster(tmp_path: Path, postgres_url: str, redis_url: str) -> Iterator[Cluster]:
    with Cluster(tmp_path, postgres_url, redis_url, concurrency=2) as cluster:
        yield cluster


def test_all_classes_get_their_share(cluster: Cluster) -> None:
    jobs = {
        each: Job(int(each), ("troubled:pause=0.02", "bleu"), 256 * SHARDS, 1, each.queue, each) for each in QueueClass
    }
    for job in jobs.values():
        job.queue(cluster.engine)
    with writing(cluster.engine) as connection:
        assert connection.execute(update(Shard).values(cost=0.03)).rowcount == 3 * SHARDS
    cluster.start_worker()
    cluster.start("scheduler", "scheduler")

    def ended() -> Counter[int]:
        with reading(cluster.engine) as connection:
            done = select(Shard.queue_class).where(Shard.state == LeaseState.DONE)
            return Counter(connection.scalars(done))

    until(lambda: ended()[QueueClass.INTERACTIVE] >= SHARDS - 20, "interactive work")
    done = ended()
    # Their shares are 5/8, 2/8 and 1/8 of the seconds, and a process that must wait makes some tasks longer.
    assert done[QueueClass.INTERACTIVE] < SHARDS, "it still waited"
    assert 5 * SHARDS / 12 > done[QueueClass.CAMPAIGN] > SHARDS / 5, done
    assert 5 * SHARDS / 12 > done[QueueClass.NIGHTLY] > SHARDS / 10, done
