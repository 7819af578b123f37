"""Workers of two releases at one queue."""

import signal
from pathlib import Path

import pytest
from celery import Celery
from sqlalchemy import select, text, update

from models.database.session import reading, writing
from models.schema.queue import Compatibility, Shard, Worker
from models.schema.states import LeaseState, QueueClass
from steelyard.metrics.metric import EDITION as OURS
from steelyard.metrics.metric import edition_name
from tests.faults.campaigns import Job, Outcomes, outcomes, undisturbed
from tests.faults.cluster import PATIENCE, Cluster, until
from tests.faults.program import EDITION, IGNORANT, VERSION
from worker.messaging.celery_tasks import MESSAGE_HEADER
from worker.tasks import MESSAGE_VERSION

pytestmark = pytest.mark.faults

NEXT = OURS + 1

NEW = Job(21, ("troubled:pause=0.2",), segments=256 * 4, systems=1)
LONG = Job(22, ("troubled:pause=0.5", "careful"), segments=256 * 8, systems=1)
SETTINGS = {
    "concurrency": 1,
    "sweep_seconds": 0.2,
    "beat_seconds": 0.3,
    "silent_seconds": 30.0,
    "stop_seconds": 0.1,
    # Little is in flight when the scheduler goes.
    "smallest_window": 1,
    "window_factor": 1.0,
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Outcomes:
    file = tmp_path_factory.mktemp("undisturbed") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    return undisturbed(f"sqlite:///{file}", [NEW, LONG])


def shards(cluster: Cluster) -> list[tuple[int, str, str | None]]:
    with reading(cluster.engine) as connection:
        rows = connection.execute(select(Shard.edition, Shard.state, Shard.worker).order_by(Shard.id))
        return [(row.edition, row.state, row.worker) for row in rows]


def names(cluster: Cluster) -> dict[str, str]:
    with reading(cluster.engine) as connection:
        return {row.version: row.id for row in connection.execute(select(Worker.version, Worker.id))}


@pytest.mark.long
def test_a_rolling_upgrade(expected: Outcomes, tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS) as cluster:
        cluster.start("scheduler", "scheduler")
        old = cluster.start_worker("old", **{VERSION: "0.0.9", IGNORANT: "1"})
        # Messages that it does not understand harm nobody.
        with Celery(broker=redis_url, set_as_current=False) as app:
            app.send_task("not_yet", (1,), queue=QueueClass.CAMPAIGN.queue_of(OURS))
            app.send_task(
                "score_shard",
                (1,),
                queue=QueueClass.CAMPAIGN.queue_of(OURS),
                headers={MESSAGE_HEADER: MESSAGE_VERSION + 1},
            )
        until(lambda: cluster.log("old").count("Dropping a message") == 2, "two messages that are dropped")

        # A metric that only the new release knows.
        new = cluster.start_worker("new", **{VERSION: "0.1.1"})
        worker = names(cluster)["0.1.1"]
        cluster.freeze("new")
        NEW.queue(cluster.engine)
        until(lambda: "passed on to workers of other releases" in cluster.log("old"), "a worker that does not know it")
        cluster.thaw("new")
        until(lambda: {state for _, state, _ in shards(cluster)} == {LeaseState.DONE}, "all shards")
        assert {each for _, _, each in shards(cluster)} == {worker}
        until(lambda: finished(cluster, expected, "campaign 21"), "the scores")

        # The next release makes other numbers: its workers do not touch what was begun, until nobody else is there.
        old.send_signal(signal.SIGTERM)
        assert old.wait(PATIENCE) == 0
        cluster.start_worker("next", **{EDITION: str(NEXT)})
        LONG.queue(cluster.engine)
        until(lambda: (OURS, LeaseState.DONE, worker) in shards(cluster)[4:], "a shard of the first edition")
        cluster.kill("scheduler")
        new.send_signal(signal.SIGTERM)
        assert new.wait(PATIENCE) == 0
        assert {state for edition, state, _ in shards(cluster)[4:] if edition == OURS} == {"done", "pending"}
        scheduler = cluster.start("next scheduler", "scheduler", **{EDITION: str(NEXT)})
        until(lambda: finished(cluster, expected, "campaign 22"), "the scores of the next edition")
        assert f"1 evaluations of edition {edition_name(OURS)}" in cluster.log("next scheduler")
        done = [edition for edition, state, _ in shards(cluster)[4:] if state == LeaseState.DONE]
        assert NEXT in done, "what was begun anew was cut anew, too"

        # Tables with which they cannot work any more.
        with writing(cluster.engine) as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '29990101'"))
            connection.execute(update(Compatibility).values(oldest="29990101"))
        assert cluster.processes["next"].wait(PATIENCE) == 1
        assert scheduler.wait(PATIENCE) == 1
        for each in ("next", "next scheduler"):
            assert "Install the newer release" in cluster.log(each)
        logs = "".join(cluster.log(each) for each in ("old", "new", "next", "scheduler"))
        assert "Traceback" not in logs, logs


def finished(cluster: Cluster, expected: Outcomes, campaign: str) -> bool:
    def its(found: Outcomes) -> Outcomes:
        return {key: outcome for key, outcome in found.items() if key[0] == campaign}

    return its(outcomes(cluster.engine)) == its(expected)
