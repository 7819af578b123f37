"""`steelyard up`: sees to schedules until it is stopped, and takes up what one that was killed has left."""

import os
import re
import signal
import sqlite3
from contextlib import closing
from urllib.request import urlopen

import pytest

from cli.main import main
from tests.acceptance.commands import running, wait_for
from tests.faults.cluster import until
from tests.scheduler.nightly.nightly_runs import REFERENCE, put
from tests.scheduler.nightly.test_sources import gone, group_of

pytestmark = pytest.mark.faults


def answers(address):
    try:
        return urlopen(address).status == 200
    except OSError:
        return False


def test_a_run_outlives_the_process_that_began_it(tmp_path, monkeypatch):
    (tmp_path / "trial" / "refs").mkdir(parents=True)
    (tmp_path / "trial" / "refs" / "A.txt").write_bytes(REFERENCE + b"\n")
    put(tmp_path, "", {"out": 1})
    # The first time it never ends.
    (tmp_path / "translate.sh").write_text(
        "if ! [ -e pids ]; then sleep 600 & echo $$ $! > pids; wait; fi\n"
        'mkdir "$STEELYARD_OUTPUT/trial"; cp out.txt "$STEELYARD_OUTPUT/trial/tug.txt"\n'
    )
    arguments = ("--cron", "0 0 1 1 *", "--command", "sh translate.sh", "--test-set", "trial", "-m", "chrf")
    monkeypatch.chdir(tmp_path)
    for name in ("STEELYARD_DATABASE_URL", "STEELYARD_BROKER_URL"):
        monkeypatch.delenv(name, raising=False)
    assert main(["schedule", "create", "gate", *arguments]) == 0

    def ask(statement):
        with closing(sqlite3.connect(tmp_path / "steelyard.db", isolation_level=None)) as connection:
            return connection.execute(statement).fetchall()

    ask("UPDATE schedule SET next_at = (julianday('now') - 2440587.5) * 86400.0 - 3600")
    seconds = {"SILENT": "1", "BEAT": "0.2", "SWEEP": "0.1"}
    settings = {f"STEELYARD_{name}_SECONDS": value for name, value in seconds.items()} | {"STEELYARD_CONCURRENCY": "1"}
    with running("up", cwd=tmp_path, **settings) as up:
        pids = group_of(tmp_path)
        joined = "nightly_run JOIN nightly_run_step ON nightly_run_id = nightly_run.id"
        assert ask(f"SELECT nightly_run.state, attempts FROM {joined}") == [("fetching", 1)]
        wait_for(lambda: "Steelyard is at http" in (tmp_path / "up.log").read_text())
        served = re.search(r"http://[\d.:]+/", (tmp_path / "up.log").read_text())[0]
        assert urlopen(served).status == 200
        os.kill(up.pid, signal.SIGKILL)
        up.wait()
        until(lambda: not answers(served), "the web service to end with the process that it belongs to")
        wait_for(lambda: "Stopped serving" in (tmp_path / "up.log").read_text())
        until(lambda: all(map(gone, pids)), "the command to end with the process that ran it")
    with running("up", cwd=tmp_path, **settings) as up:
        wait_for(lambda: ask("SELECT state FROM nightly_run") == [("done",)])
        # It tells what there is to do about once a second.
        wait_for(lambda: "Nothing to do." in (tmp_path / "up.log").read_text())
        wait_for(lambda: "There is no account yet." in (tmp_path / "up.log").read_text())
        os.kill(up.pid, signal.SIGTERM)
        assert up.wait(60) == 0
    assert ask("SELECT caught_up, manual, regressed FROM nightly_run") == [(1, 0, 0)]
    log = (tmp_path / "up.log").read_text()
    assert len(re.findall("There is no account yet. .*/invitations/", log)) == 1
    for part in (
        "Serving at http",
        "Stopped serving",
        "Working on steelyard.db with 1 process;",
        "judged: nothing is worse",
        "Stopped.",
    ):
        assert part in log
    assert "Traceback" not in log
