"""Commands with the embedded default that meet: with each other, with a full disk, with an impatient user."""

import os
import resource
import signal
from pathlib import Path

import pytest
from sqlalchemy import func, select

from models.database.session import reading
from models.schema.queue import Evaluation, Shard
from models.schema.results import Score
from models.schema.states import EvaluationState, LeaseState
from tests.faults.cluster import PATIENCE, Cluster, Scores, children, stored_scores, until
from tests.faults.nursery import Forked
from tests.faults.troubled import GATE
from tests.scheduler.jobs import similar_text, some_text

pytestmark = pytest.mark.faults

SETTINGS = {"concurrency": 2, "shortest_shard_seconds": 1e-9, "shard_seconds": 1e-6, "sweep_seconds": 0.2}
SEGMENTS = 256 * 8 + 7


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nine blocks of segments and two systems."""
    home = tmp_path_factory.mktemp("campaigns") / "trial"
    reference = some_text(SEGMENTS, 1)
    files = {
        "source": reference,
        "refs/A": reference,
        "systems/one": similar_text(reference, 2),
        "systems/two": similar_text(reference, 3),
    }
    for name, text in files.items():
        file = home / f"{name}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text + b"\n")
    return home


def evaluate(cluster: Cluster, name: str, campaign: Path, metric: str, **environment: str) -> Forked:
    report = ("--output", str(cluster.folder / f"{name}-report"))
    return cluster.start(
        name, "cli", "evaluate", str(campaign), "-m", metric, *report, "--confidence", "50", **environment
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, campaign: Path) -> Scores:
    folder = tmp_path_factory.mktemp("undisturbed")
    with Cluster(folder, f"sqlite:///{folder / 'steelyard.db'}", "memory://localhost/", **SETTINGS) as cluster:
        assert evaluate(cluster, "only", campaign, "troubled:pause=0.15").wait(PATIENCE) == 0, cluster.log("only")
        return stored_scores(cluster.engine)


def in_the_middle(cluster: Cluster) -> None:
    until(lambda: cluster.done() and cluster.running(), "a shard that is done, and one that runs")
    assert cluster.done() < cluster.shards()


def check(cluster: Cluster, undisturbed: Scores) -> None:
    assert stored_scores(cluster.engine) == undisturbed
    with reading(cluster.engine) as connection:
        assert set(connection.scalars(select(Evaluation.state))) == {EvaluationState.DONE}
        assert set(connection.scalars(select(Shard.state))) == {LeaseState.DONE}


def test_two_commands_at_once(tmp_path: Path, campaign: Path, undisturbed: Scores) -> None:
    """Neither finds a database; one works for both, or one after the other."""
    with Cluster(tmp_path, f"sqlite:///{tmp_path / 'steelyard.db'}", "memory://localhost/", **SETTINGS) as cluster:
        gate = tmp_path / "gate"
        commands = [
            evaluate(cluster, name, campaign, "troubled:pause=0.15", **{GATE: str(gate)}) for name in ("one", "two")
        ]
        # Whichever works has not ended before the other is there.
        waiting = "Another command is working on this database"
        until(lambda: waiting in cluster.log("one") + cluster.log("two"), "one of the commands to wait")
        gate.touch()
        for name, command in zip(("one", "two"), commands, strict=True):
            assert command.wait(PATIENCE) == 0, cluster.log(name)
            assert (tmp_path / f"{name}-report" / "report.html").is_file()
        logs = cluster.log("one") + cluster.log("two")
        assert logs.count(waiting) == 1
        assert "Traceback" not in logs
        check(cluster, undisturbed)
        with reading(cluster.engine) as connection:
            assert connection.scalar(select(func.max(Shard.attempts))) == 1


def test_a_command_takes_over_from_one_that_is_killed(
    sqlite_url: str, tmp_path: Path, campaign: Path, undisturbed: Scores
) -> None:
    with Cluster(tmp_path, sqlite_url, "memory://localhost/", **SETTINGS) as cluster:
        first = evaluate(cluster, "first", campaign, "troubled:pause=0.15")
        in_the_middle(cluster)
        second = evaluate(cluster, "second", campaign, "troubled:pause=0.15")
        os.kill(first.pid, signal.SIGSTOP)
        until(lambda: "Another command is working" in cluster.log("second"), "the second command to wait")
        assert cluster.done() < cluster.shards(), "there was nothing left to take over"
        cluster.kill("first")
        assert second.wait(PATIENCE) == 0, cluster.log("second")
        check(cluster, undisturbed)


def test_a_full_disk(sqlite_url: str, tmp_path: Path, campaign: Path, undisturbed: Scores) -> None:
    """Of which the command itself finds out, or only one of its tasks."""
    with Cluster(tmp_path, sqlite_url, "memory://localhost/", **SETTINGS) as cluster:
        before = 0
        for who in ("all", "tasks"):
            command = evaluate(cluster, who, campaign, "troubled:pause=0.15")
            until(lambda before=before: cluster.done() > before and cluster.running(), "the middle of the work")
            before = cluster.done()
            # No file may grow: what a full disk does to who writes.
            for process in [*children(command.pid), *([command.pid] if who == "all" else [])]:
                _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
                resource.prlimit(process, resource.RLIMIT_FSIZE, (4096, hard))
            assert command.wait(PATIENCE) == 1, cluster.log(who)
            said = cluster.log(who).splitlines()[-1]
            assert said.startswith(f"steelyard: The database {tmp_path / 'steelyard.db'} cannot be used: ")
            assert "See that the disk has space" in said
            assert said.endswith("run the same command again: it goes on where this one stopped.")
            assert "Traceback" not in cluster.log(who)
            assert before <= cluster.done() < cluster.shards(), "the disk was not full in the middle"
            with reading(cluster.engine) as connection:
                assert connection.scalar(select(func.count()).select_from(Score)) == 0
        assert evaluate(cluster, "last", campaign, "troubled:pause=0.15").wait(PATIENCE) == 0, cluster.log("last")
        check(cluster, undisturbed)


def test_a_second_interrupt_stops_at_once(sqlite_url: str, tmp_path: Path, campaign: Path) -> None:
    settings = {
        **SETTINGS,
        "stop_seconds": 10 * PATIENCE,
        "task_seconds": 20 * PATIENCE,
        "lease_seconds": 30 * PATIENCE,
    }
    with Cluster(tmp_path, sqlite_url, "memory://localhost/", **settings) as cluster:
        command = evaluate(cluster, "command", campaign, f"troubled:pause={10 * PATIENCE:g}")
        until(lambda: len(cluster.running()) == 2, "shards that run in both processes")
        pool = children(command.pid)
        command.send_signal(signal.SIGINT)
        until(lambda: f"may finish, for at most {10 * PATIENCE:g} s" in cluster.log("command"), "a word")
        assert command.poll() is None
        assert cluster.running(), "nothing was left to stop"
        command.send_signal(signal.SIGINT)
        assert command.wait(PATIENCE) == 130
        assert cluster.log("command").endswith("steelyard: interrupted.\n")
        assert "Traceback" not in cluster.log("command"), cluster.log("command")
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pool), "the end of the pool")
        with reading(cluster.engine) as connection:
            assert set(connection.scalars(select(Shard.state))) == {LeaseState.PENDING}
            assert connection.scalar(select(func.max(Shard.attempts))) == 0
