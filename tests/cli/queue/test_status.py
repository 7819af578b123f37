"""`status`: what is printed once, again and again, and as JSON."""

import io
import json
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.exc import OperationalError

import steelyard_client.commands.queue.watch
from cli.main import main
from models.database.session import make_engine, writing
from models.queue.evaluation_end import fail_evaluations
from models.queue.kinds.shards import SHARD
from models.schema.base import now
from models.schema.queue import Shard, Worker
from scheduler.ingest.campaigns import IngestResult
from steelyard_client import RetryPolicy
from steelyard_client.commands.queue.failures import what_next
from tests.cli.status import status_of
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.tasks import claim_task

LONG = "Segments 1 to 256 could not be scored (tried 3 times): the [bold] disk " + "was very " * 30 + "full."


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Path:
    """Three systems: one failed, one is half done, one waits; a worker holds a shard."""
    file = tmp_path_factory.mktemp("status") / "steelyard.db"
    shutil.copy(sqlite_template, file)
    settings = one_block_shards(f"sqlite:///{file}")
    engine = make_engine(settings.database_url, pooled=False)
    job: IngestResult = queue_job(engine, settings, segments=600, systems=3, team="harbour")
    with writing(engine) as connection:
        fail_evaluations(connection, job.all_evaluations[:1], LONG)
        connection.execute(
            insert(Worker).values(id="w", host="quay", pid=77, version="0.1.0", concurrency=2, beat_at=now() + 1e6)
        )
        first, *_ = connection.scalars(select(Shard.id).order_by(Shard.id)).all()
        claim_task(connection, SHARD, first, owner="o", worker="w", lease_seconds=1e6, max_attempts=3)
        connection.execute(update(Shard).where(Shard.id == first).values(attempts=2))
    queue_job(engine, settings, segments=20, systems=1, campaign="rehearsal")
    return file


@pytest.fixture
def database(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    shutil.copy(template, tmp_path / "steelyard.db")
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path / 'steelyard.db'}"
    monkeypatch.setenv("STEELYARD_DATABASE_URL", url)
    return url


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> Terminal:
    """Standard output is a terminal of that width. Not a fixture: pytest would put its own output there afterwards."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    for name, value in {"TERM": "xterm", "COLUMNS": str(columns), "LINES": "60"}.items():
        monkeypatch.setenv(name, value)
    return screen


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


@pytest.mark.usefixtures("database")
def test_what_a_pipe_gets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 0
    printed = capsys.readouterr().out
    lines = words(printed)
    assert ["Scheduler", "none", "at", "work"] in lines
    assert ["Workers", "1", "worker", "with", "2", "processes"] in lines
    assert ["Evaluations", "1", "queued,", "2", "running,", "1", "failed"] in lines
    assert ["trial", "0", "%", "1/3", "0/3", "1", "0"] in lines
    assert next(line for line in lines if line[:1] == ["campaign"])[:3] == ["campaign", "3", "1"]
    assert ["harbour", "2", "1"] in lines
    (worker,) = (line for line in printed.splitlines() if line.startswith("quay, process 77"))
    assert "shard 1 for " in worker
    assert worker.endswith(", attempt 2")
    assert f"  {LONG}" in printed.splitlines(), "a reason is folded, or was taken for markup"
    assert "    → `steelyard submission retry 1` tries again; what was finished is kept." in printed.splitlines()
    assert "What to do   No worker processes the open work." in printed


@pytest.mark.usefixtures("database")
def test_what_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "rehearsal"]) == 0
    printed = capsys.readouterr().out
    assert "Failed" not in printed.splitlines()
    assert "rehearsal: trial" in printed
    assert ["Evaluations", "1", "queued"] in words(printed)
    assert main(["status", "--evaluation", "1", "2"]) == 0
    lines = words(capsys.readouterr().out)
    assert ["1", "harbour/system0", "trial", "against", "A", "failed", "3"] in lines
    assert main(["status", "rehearsal", "--failed"]) == 0
    assert capsys.readouterr().out == "No evaluation has failed.\n\n"
    assert main(["status", "--failed"]) == 0
    assert capsys.readouterr().out.startswith("Failed\n  Segments 1 to 256")


@pytest.mark.usefixtures("database")
def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "-f", "json", "--evaluation", "1"]) == 0
    seen = json.loads(capsys.readouterr().out)
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "queue.md").read_text()
    assert [f"| `{key}` |" in page for key in seen] == [True] * len(seen), "a key is not described"
    assert seen["queues"][1] == {**seen["queues"][1], "queue_class": "campaign", "waiting": 3, "in_flight": 1}
    assert seen["evaluations"]["failed"] == 1
    assert seen["workers"][0]["holds"] == [{**seen["workers"][0]["holds"][0], "kind": "shards", "id": 1, "attempt": 2}]
    assert (seen["failures"][0]["reason"], seen["failures"][0]["id"]) == (LONG, 1)
    assert [each.pop("ended_seconds") >= 0 for each in (*seen["asked"], *seen["failures"])] == [True, True]
    assert seen["asked"] == seen["failures"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["harbor"], 1, 'There is no campaign or test set "harbor". There are: rehearsal, trial.'),
        (["--evaluation", "9"], 1, "There is no evaluation 9. There are 4, numbered 1 to 4."),
        (["--watch", "trial"], 2, "a NAME goes before --watch"),
        (["--watch", "0"], 2, "from 0.1 to 86400"),
        (["--watch", "1", "harbor"], 1, "There is no campaign"),
    ],
)
@pytest.mark.usefixtures("database")
def test_what_is_refused(capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, message: str) -> None:
    assert status_of(["status", *arguments]) == status
    assert message in capsys.readouterr().err


def test_watched_until_everything_is_done(
    database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = end_after(monkeypatch, 2, lambda: work_off(one_block_shards(database)), database)
    assert main(["status", "rehearsal", "--watch", "0.1", "--until-done"]) == 0
    assert len(looks) == 2
    blocks = capsys.readouterr().out.split("\n\nTime ")
    assert len(blocks) == 3
    assert [["Evaluations", "1", "done"] in words(block) for block in blocks] == [False, False, True]
    assert main(["status", "rehearsal", "--until-done", "-f", "json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["evaluations"]["done"] == 1


def end_after(monkeypatch: pytest.MonkeyPatch, looks: int, action, *_: object) -> list[float]:
    """In place of the pause after so many looks, something happens."""
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == looks:
            action()

    monkeypatch.setattr(steelyard_client.commands.queue.watch, "time", SimpleNamespace(sleep=pause))
    return pauses


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("columns", [40, 80, 140])
@pytest.mark.usefixtures("database")
def test_the_live_view_fits_and_ends_with_ctrl_c(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    screen = terminal(monkeypatch, columns)
    end_after(monkeypatch, 2, interrupt)
    assert main(["status", "--watch"]) == 0
    shown = plain(screen.getvalue())
    assert shown.count("Scheduler") >= 2
    assert "━" in shown, "there is no bar"
    assert max(map(len, shown.splitlines())) <= columns


@pytest.mark.usefixtures("database")
def test_a_terminal_gets_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch, 80)
    assert main(["status"]) == 0
    shown = plain(screen.getvalue())
    assert max(map(len, shown.splitlines())) <= 80
    assert "full." in shown
    assert "the [bold] disk" in " ".join(shown.split())


def plain(text: str) -> str:
    """Without what moves the cursor and changes colours."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.replace("\r", "\n"))


@pytest.mark.usefixtures("database")
def test_a_database_that_is_away_is_waited_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import campaigns.inspection.queue

    there = campaigns.inspection.queue.read_overview
    away = [False, True, False]

    def read(*arguments, **options):
        if away.pop(0):
            raise OperationalError("SELECT", {}, Exception("the server has gone"))
        return there(*arguments, **options)

    monkeypatch.setattr(campaigns.inspection.queue, "read_overview", read)
    monkeypatch.setattr(RetryPolicy, "wait", lambda *_, **__: None)
    end_after(monkeypatch, 3, interrupt)
    assert main(["status", "--watch"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("Scheduler") == 2
    assert "the server has gone" in captured.err


def test_what_can_be_done_about_a_failure() -> None:
    assert what_next("input", [1]).startswith("Trying again does not help")
    assert what_next("platform", [3, 1]).startswith("`steelyard submission retry 1 3`")
    assert what_next(None, [3]).startswith("`steelyard submission retry 3`")
    assert what_next(None, range(11)).startswith("`steelyard submission retry --state failed`")
