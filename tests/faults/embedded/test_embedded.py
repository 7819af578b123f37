"""The embedded default with trouble: texts that kill, hang and raise, commands that are stopped."""

import os
import re
import signal
from pathlib import Path

import pytest
from sqlalchemy import func, select

from models.database.session import make_engine, reading
from models.schema.queue import Evaluation, Shard, Worker
from models.schema.states import EvaluationState
from runtime.settings import Settings
from scheduler.embedded.processes import Embedded
from tests.faults.cluster import PATIENCE, Cluster, Scores, children, stored_scores, until
from tests.faults.troubled import MARKS
from tests.scheduler.jobs import one_block_shards, queue_job, run_until_done

pytestmark = [
    pytest.mark.faults,
    # From Python 3.12 on; processes that take the place of others are forked beside the heartbeat.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


def quick(url: str, **others: object) -> Settings:
    return one_block_shards(url, **others).model_copy(
        update={"concurrency": 2, "lost_process_seconds": 0.2, "sweep_seconds": 0.2}
    )


def test_bad_texts_fail_alone_and_with_a_reason(sqlite_url: str) -> None:
    settings = quick(sqlite_url, max_attempts=2, task_seconds=4.0)
    trouble = {1: b"KILL ", 2: b"RAISE ", 3: b"HANG "}
    with Embedded(settings) as embedded:
        job = queue_job(
            embedded.engine,
            settings,
            segments=400,
            systems=5,
            metrics=["troubled"],
            processes=2,
            trouble=trouble,
        )
        run_until_done(embedded, job.all_evaluations)
    with reading(make_engine(sqlite_url, pooled=False)) as connection:
        rows = connection.execute(select(Evaluation).order_by(Evaluation.id)).all()
    assert [row.state for row in rows] == ["done", "failed", "failed", "failed", "done"]
    killed, raised, hung = (row.reason for row in rows[1:4])
    start = "Segments 1 to 256 could not be scored (tried 2 times): "
    assert killed.startswith(f"{start}its process died")
    assert "SIGKILL" in killed
    assert raised == f"{start}RuntimeError: this text makes trouble"
    # Alone it is tried once: it would take as long again. Before that it may have been tried with others.
    words = (
        r"Segments 1 to 256 could not be scored \(tried (once|2 times)\): it took longer than 4 s\. Look for very long"
    )
    assert re.match(words, hung)


def test_a_shard_that_was_killed_once_is_scored(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MARKS, str(tmp_path))
    settings = quick(sqlite_url)
    with Embedded(settings) as embedded:
        job = queue_job(embedded.engine, settings, metrics=["troubled"], processes=2, trouble={0: b"KILLONCE "})
        progress = run_until_done(embedded, job.all_evaluations)
    assert progress.done == 3
    assert (tmp_path / "killed").exists(), "nothing was killed"
    with reading(make_engine(sqlite_url, pooled=False)) as connection:
        assert connection.scalar(select(func.max(Shard.attempts))) == 2
        assert connection.scalar(select(func.count()).select_from(Worker)) == 0


def test_processes_that_are_killed_while_they_wait_are_replaced(sqlite_url: str) -> None:
    settings = quick(sqlite_url)
    others = set(children(os.getpid()))
    with Embedded(settings, concurrency=2) as embedded:
        for name in ("bleu", "wer", "per"):
            for process in (pool := set(children(os.getpid())) - others):
                os.kill(process, signal.SIGKILL)
            until(lambda pool=pool: not any(map(_lives, pool)), "the end of the pool")
            job = queue_job(embedded.engine, settings, segments=100, metrics=[name])
            assert run_until_done(embedded, job.all_evaluations).done == 3


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Scores:
    file = tmp_path_factory.mktemp("undisturbed") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    settings = Settings(database_url=f"sqlite:///{file}")
    with Embedded(settings, concurrency=1) as embedded:
        job = queue_job(embedded.engine, settings, segments=2100, metrics=["troubled:pause=0.2"], processes=1)
        assert run_until_done(embedded, job.all_evaluations).done == 3
    return stored_scores(embedded.engine)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_second_command_takes_up_where_the_first_was_stopped(
    number: signal.Signals, sqlite_url: str, tmp_path: Path, undisturbed: Scores
) -> None:
    settings = {"concurrency": 2, "shortest_shard_seconds": 1e-9, "shard_seconds": 0.02}
    with Cluster(tmp_path, sqlite_url, "memory://localhost/", **settings) as cluster:
        first = cluster.start("first", "embedded", "2100", "troubled:pause=0.2")
        until(lambda: cluster.done() and cluster.running(), "a shard that is done, and one that runs")
        pool = children(first.pid)
        assert len(pool) == 2
        first.send_signal(number)
        # Python ends itself by SIGINT again when nobody catches KeyboardInterrupt.
        assert first.wait(PATIENCE) == (143 if number == signal.SIGTERM else -number)
        until(lambda: not any(_lives(pid) for pid in pool), "the end of the pool")
        done, total = cluster.done(), cluster.shards()
        assert 0 < done < total, "the command was not stopped in the middle"
        second = cluster.start("second", "embedded", "2100", "troubled:pause=0.2")
        assert second.wait(PATIENCE) == 0, cluster.log("second")
        assert stored_scores(cluster.engine) == undisturbed
        with reading(cluster.engine) as connection:
            assert set(connection.scalars(select(Evaluation.state))) == {EvaluationState.DONE}
            # An orderly stop costs no attempt.
            most = connection.scalar(select(func.max(Shard.attempts)))
            assert most == 2 if number == signal.SIGKILL else most == 1
        assert cluster.done() == cluster.shards() == total


def _lives(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
