"""Commands that wait survive a connection to PostgreSQL that is cut, at whatever statement, and go on."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, event, update

from models.database.session import make_engine, reading, writing
from models.nightly.transitions import begin_run, find_open_runs
from models.queue.kinds.nightly_run_steps import NIGHTLY_STEP, waiting_steps
from models.schema.queue import Evaluation
from models.schema.states import NightlyRunState
from runtime.settings import Settings
from scheduler.embedded import wait
from scheduler.nightly.steps import check_scores, fetch, judge
from tests.campaigns.quotas.quotas import SEGMENTS, open_campaign
from tests.cli.status import status_of
from tests.scheduler.jobs import one_block_shards, similar_text, some_text, work_off
from tests.tasks import claim_task

NOBODY = "redis://127.0.0.1:9/0"
"""A broker that nobody asks: the work is done, so nothing is sent."""


CUTS = 4


class Cutter:
    """Cuts the connection of every `every`th statement after the first that `begins`, until there were CUTS."""

    rests = False
    """While others work."""

    def __init__(self, url: str, begins: Callable[[str], bool], every: int) -> None:
        self._url, self._begins, self._every = url, begins, every
        self._armed = False
        self._seen = 0
        self.cut = 0

    def __call__(self, connection: Any, cursor: Any, statement: str, *_: object) -> None:
        self._armed = self._armed or self._begins(statement)
        if not self._armed or Cutter.rests:
            return
        self._seen += 1
        if self._seen % self._every == 0 and self.cut < CUTS:
            self.cut += 1
            with psycopg.connect(self._url, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", [cursor.connection.info.backend_pid])


@contextmanager
def cutting(url: str, begins: Callable[[str], bool], every: int) -> Iterator[Cutter]:
    cutter = Cutter(url, begins, every)
    event.listen(Engine, "before_cursor_execute", cutter)
    try:
        yield cutter
    finally:
        event.remove(Engine, "before_cursor_execute", cutter)


@pytest.fixture
def url(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_DATABASE_URL", postgres_url)
    monkeypatch.setenv("STEELYARD_BROKER_URL", NOBODY)
    monkeypatch.setattr(wait, "OUTAGE_SECONDS", 0.0)
    return postgres_url


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    reference = some_text(60, 1)
    files = {"refs/A": reference, "systems/one": similar_text(reference, 2), "systems/two": similar_text(reference, 3)}
    for name, text in files.items():
        file = tmp_path / "harbour" / f"{name}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text + b"\n")
    return tmp_path / "harbour"


def stores(statement: str) -> bool:
    """The beginning of the intake."""
    return "campaign" in statement


def looked(statement: str) -> bool:
    """The first look at how far evaluations are."""
    return statement.startswith("SELECT evaluation.state, count(")


def chooses(statement: str) -> bool:
    """The look for what is to be compared."""
    return "FROM protocol" in statement


@pytest.fixture
def settings(url: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What waits is done while a command sleeps, as by workers elsewhere."""
    settings = one_block_shards(url)

    def sleep(_seconds: float) -> None:
        Cutter.rests = True
        work_off(settings)
        Cutter.rests = False

    monkeypatch.setattr(wait, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    return settings


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("every", [1, 5, 11])
def test_evaluate_and_compare(
    url: str, campaign: Path, every: int, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    evaluate = ["evaluate", str(campaign), "-m", "bleu", "--confidence", "20", "--output", "report"]
    compare = ["compare", "harbour", "--test", "randomization", "--trials", "50"]
    for command, begins in ((evaluate, stores), (compare, chooses)):
        assert status_of(command) == 0
        undisturbed = capsys.readouterr().out
        with cutting(url, begins, every) as cutter:
            assert status_of(command) == 0, capsys.readouterr().err
        assert cutter.cut, "there was nothing left to cut"
        assert capsys.readouterr().out == undisturbed
        assert "The database is available again." in caplog.text


@pytest.mark.parametrize("every", [1, 3])
def test_submit_retry_and_requeue(url: str, settings: Settings, every: int, capsys: pytest.CaptureFixture[str]) -> None:
    engine = make_engine(url, pooled=False)
    open_campaign(engine, settings, done=True)
    Path("out.txt").write_bytes(similar_text(some_text(SEGMENTS, 1), 1) + b"\n")
    submit = ["submit", "out.txt", "--campaign", "trial", "--team", "harbour", "--system", "mast"]
    with cutting(url, looked, every) as cutter:
        assert status_of(submit) == 0, capsys.readouterr().err
    assert cutter.cut
    assert capsys.readouterr().out.splitlines()[-1].split()[:2] == ["A", "BLEU"]
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.id == 2).values(state="failed", reason="A disk."))
    retry = ["submission", "retry", "2", "--yes", "--wait"]
    with cutting(url, looked, every) as cutter:
        assert status_of(retry) == 0, capsys.readouterr().err
    assert cutter.cut
    assert "Done: 1, failed: 0, cancelled: 0." in capsys.readouterr().out
    with cutting(url, looked, every) as cutter:
        assert status_of(["submission", "recompute", "2", "--yes", "--wait"]) == 0, capsys.readouterr().err
    assert cutter.cut
    assert "Done: 1, failed: 0, cancelled: 0." in capsys.readouterr().out


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("every", [1, 7])
def test_tune(
    url: str, campaign: Path, every: int, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    (campaign / "human.sys.tsv").write_text("system\tscore\none\t1.5\ntwo\t0.5\n")
    values = ("--values", "0.4,1", "--granularity", "system", "--replicates", "20", "--folds", "0")
    with cutting(url, stores, every) as cutter:
        assert status_of(["tune", "tbleu", "eps", "harbour", *values]) == 0, capsys.readouterr().err
    assert cutter.cut
    assert "The database is available again." in caplog.text
    disturbed = capsys.readouterr().out
    assert status_of(["tune", "tbleu", "eps", "harbour", *values]) == 0
    assert capsys.readouterr().out == disturbed


@pytest.mark.parametrize(("late", "every"), [(False, 1), (True, 3)], ids=["while it waits", "before its report"])
def test_nightly_run(
    url: str,
    campaign: Path,
    late: bool,
    every: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The runs themselves are made elsewhere, while the command sleeps."""
    settings, engine = one_block_shards(url), make_engine(url, pooled=False)
    go, judged = threading.Event(), threading.Event()
    create = ("schedule", "create", "gate", "--cron", "30 2 * * *", "--source", "out/{system}.txt")
    assert status_of([*create, "--test-set", "harbour", "-m", "chrf"]) == 0
    Path("out").mkdir()
    shutil.copy(campaign / "systems" / "one.txt", "out")

    def sleep(_seconds: float) -> None:
        Cutter.rests = True
        with reading(engine) as connection:
            nightly_runs = find_open_runs(connection)
        for nightly_run in nightly_runs:
            if nightly_run.state == NightlyRunState.SCORING:
                work_off(settings)
                check_scores(engine, nightly_run.id)
                continue
            with writing(engine) as connection:
                assert begin_run(connection, nightly_run)
        with reading(engine) as connection:
            waiting = waiting_steps(connection)
        for each in waiting:
            given = {"owner": "owner", "worker": "elsewhere", "lease_seconds": 60.0, "max_attempts": 9}
            with writing(engine) as connection:
                step = claim_task(connection, NIGHTLY_STEP, each.key, **given)
            if step.state == NightlyRunState.FETCHING:
                fetch(engine, settings, step, go)
            else:
                judge(engine, settings, step)
                judged.set()
        Cutter.rests = False

    monkeypatch.setattr(wait, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))

    def begins(statement: str) -> bool:
        """The first look at how far the run is, or at its end."""
        return judged.is_set() if late else statement.startswith("SELECT nightly_run.id, nightly_run.schedule_id")

    with cutting(url, begins, every) as cutter:
        assert status_of(["schedule", "run", "gate"]) == 0, capsys.readouterr().err
    assert cutter.cut
    assert "The database is available again." in caplog.text
    assert "chrf" in capsys.readouterr().out.lower()
