"""Somebody steers the queue while a real worker works on it."""

import json
import signal
from pathlib import Path

import pytest
from sqlalchemy import select, update

from cli.main import main
from models.database.session import make_engine, reading, writing
from models.schema.queue import Evaluation, Shard, ShardEvaluation
from models.schema.results import Statistics
from models.schema.states import LeaseState
from tests.faults.cluster import Cluster, Scores, stored_scores, until
from tests.scheduler.jobs import one_block_shards, queue_job, work_off

pytestmark = pytest.mark.faults

BLOCKS = 12
SETTINGS = {
    "concurrency": 2,
    "smallest_window": 4,
    "sweep_seconds": 0.2,
    "beat_seconds": 0.3,
    "retry_seconds": 0.1,
}


def queue(engine, url: str) -> list[int]:
    """Twelve shards of one block, for two systems."""
    settings = one_block_shards(url)
    job = queue_job(engine, settings, segments=256 * BLOCKS - 9, systems=2, metrics=["troubled:pause=0.3"])
    return job.all_evaluations


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Scores:
    """The scores of the job when nobody does anything."""
    file = tmp_path_factory.mktemp("undisturbed") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    url = f"sqlite:///{file}"
    engine = make_engine(url, pooled=False)
    queue(engine, url)
    with writing(engine) as connection:
        # One shard, so that it pauses once.
        first = select(Shard.id).order_by(Shard.id).limit(1).scalar_subquery()
        connection.execute(update(Shard).where(Shard.id == first).values(last_block=BLOCKS))
        connection.execute(update(Shard).where(Shard.id != first).values(state=LeaseState.CANCELLED))
        connection.execute(update(Evaluation).values(remaining=1))
    work_off(one_block_shards(url))
    return stored_scores(engine)


def test_cancelled_in_the_middle_and_tried_again(
    tmp_path: Path,
    postgres_url: str,
    redis_url: str,
    undisturbed: Scores,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in {
        "DATABASE_URL": postgres_url,
        "BROKER_URL": redis_url,
        "SHORTEST_SHARD_SECONDS": "1e-9",
        "CONCURRENCY": "1000",
    }.items():
        monkeypatch.setenv(f"STEELYARD_{name}", value)

    def status() -> dict:
        assert main(["status", "-f", "json"]) == 0
        return json.loads(capsys.readouterr().out)

    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS) as cluster:
        scheduler = cluster.start("scheduler", "scheduler")
        cluster.start_worker()
        until(lambda: status()["scheduler"] is True, "the scheduler")
        evaluations = queue(cluster.engine, postgres_url)
        until(lambda: cluster.done() >= 3, "shards that are done")
        # Nothing more is handed out while we look and type; at once, for the rest takes little more than a second.
        scheduler.send_signal(signal.SIGSTOP)
        seen = status()
        assert [worker["processes"] for worker in seen["workers"]] == [2]
        assert seen["last_minute"]["shards"] >= 3
        assert seen["last_minute"]["hypotheses"] == 512 * seen["last_minute"]["shards"]
        assert seen["seconds_left"] > 0
        assert main(["submission", "cancel", "--campaign", "trial", "--yes", "--reason", "Wrong file."]) == 0
        assert "Cancelled: 2 evaluations." in capsys.readouterr().out
        assert cluster.shards(LeaseState.CANCELLED), "nothing was left to be cancelled"
        scheduler.send_signal(signal.SIGCONT)
        # Those that run, and messages that are on their way, come to nothing.
        until(lambda: not status()["work"][1]["running"] and not status()["work"][1]["sent"], "the end of what runs")
        with reading(cluster.engine) as connection:
            rows = connection.execute(select(Evaluation.state, Evaluation.reason)).all()
            kept = set(connection.scalars(select(Statistics.first_block)))
            before = list(connection.scalars(select(Shard.id)))
        assert [tuple(row) for row in rows] == [("cancelled", "Wrong file.")] * 2
        assert 3 <= len(kept) < BLOCKS, "it was not cancelled in the middle"
        assert main(["submission", "retry", *map(str, evaluations), "--yes", "--wait"]) == 0
        assert "Done: 2, failed: 0, cancelled: 0." in capsys.readouterr().out
        assert stored_scores(cluster.engine) == undisturbed
        with reading(cluster.engine) as connection:
            fresh = connection.execute(
                select(Shard.first_block, Shard.attempts).where(Shard.id.not_in(before)).order_by(Shard.first_block)
            ).all()
            members = set(connection.scalars(select(ShardEvaluation.evaluation_id)))
        assert [row.first_block for row in fresh] == sorted(set(range(BLOCKS)) - kept)
        assert {row.attempts for row in fresh} == {1}
        assert members == set(evaluations)
