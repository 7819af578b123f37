"""Texts that raise, hang, kill their process and eat memory, on a worker of its own: each harms only itself."""

from pathlib import Path

import pytest
from sqlalchemy import select

from models.database.session import reading
from models.schema.queue import Evaluation
from models.schema.results import Score
from tests.faults.cluster import Cluster
from tests.scheduler.jobs import one_block_shards, queue_job

pytestmark = pytest.mark.faults

SETTINGS = {
    "concurrency": 2,
    "sweep_seconds": 0.2,
    "retry_seconds": 0.1,
    "max_attempts": 1,
    "lost_process_seconds": 0.2,
    # Long enough for all that does end, on a machine that is busy with other tests.
    "task_seconds": 8.0,
    "task_bytes": 256 * 2**20,
}

TROUBLE = {1: b"KILL ", 2: b"RAISE ", 3: b"HANG ", 4: b"EAT "}


@pytest.mark.long
def test_bad_texts_fail_alone_and_with_a_reason(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS) as cluster:
        cluster.start("scheduler", "scheduler")
        worker = cluster.start_worker()
        settings = one_block_shards(postgres_url)
        metrics = ["troubled", "chrf"]
        job = queue_job(cluster.engine, settings, segments=400, systems=6, metrics=metrics, trouble=TROUBLE)
        cluster.wait(job.all_evaluations)
        assert worker.poll() is None
        with reading(cluster.engine) as connection:
            rows = connection.execute(select(Evaluation).order_by(Evaluation.id)).all()
            scored = set(connection.scalars(select(Score.evaluation_id)))
    assert [row.state for row in rows] == ["done", "failed", "failed", "failed", "failed", "done"]
    assert scored == {rows[0].id, rows[5].id}
    killed, raised, hung, eaten = (row.reason for row in rows[1:5])
    start = "Segments 1 to 256 could not be scored (tried once): "
    assert killed.startswith(f"{start}its process died")
    assert "SIGKILL" in killed
    assert raised == f"{start}RuntimeError: this text makes trouble"
    assert hung.startswith(f"{start}it took longer than 8 s. Look for very long segments")
    assert eaten.startswith(f"{start}it needs more memory than the 256 MiB that each process may use")
    assert "STEELYARD_TASK_BYTES" in eaten
