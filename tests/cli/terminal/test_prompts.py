"""Questions at a terminal that end without an answer: Ctrl-D is no defect of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import func, select

from models.database.session import make_engine, reading
from models.schema.accounts import Account
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.acceptance.commands import environment
from tests.scheduler.jobs import one_block_shards

CTRL_D = b"\x04"


def at_a_terminal(arguments: list[str], answers: list[bytes], cwd: Path, **settings: str) -> tuple[int, str]:
    """The exit status, and all that is seen; each answer is typed once the question before it has been read."""
    terminal, theirs = os.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "cli.main", *arguments],
        cwd=cwd,
        env=environment(**settings),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        # Without a terminal of its own it asks at the one that is its input.
        start_new_session=True,
    )
    os.close(theirs)
    seen, waiting = b"", list(answers)
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other side is closed
            break
        seen += part
        if waiting and seen.rstrip(b" ").endswith((b":", b"[y/N]")):
            os.write(terminal, waiting.pop(0))
    os.close(terminal)
    return program.wait(), seen.decode()


@pytest.mark.parametrize(
    ("arguments", "answers"),
    [
        (["user", "create", "--name", "Zoe", "--set-password", "zoe@example.org"], [CTRL_D]),
        (["user", "create", "--name", "Zoe", "--set-password", "zoe@example.org"], [b"a long password\n", CTRL_D]),
        (["login", "--server", "https://mt.example.org"], [CTRL_D]),
        (["submission", "cancel", "1"], [CTRL_D]),
    ],
)
def test_an_input_that_ends_is_no_answer(arguments, answers, sqlite_url, tmp_path):
    ingest_campaign(
        make_engine(sqlite_url),
        one_block_shards(sqlite_url),
        campaign="wmt",
        test_set=NewTestSet("port", {"A": b"one\ntwo"}),
        submissions=[NewSubmission("tug", b"one\ntwo")],
        protocols=[NewProtocol(["A"], [parse_metric("bleu")], 0)],
    )
    settings = {"STEELYARD_DATABASE_URL": sqlite_url, "XDG_CONFIG_HOME": str(tmp_path)}
    status, seen = at_a_terminal(arguments, answers, tmp_path, **settings)
    assert status == 1, seen
    assert "Traceback" not in seen
    assert seen.splitlines()[-1] == "steelyard: The input ended without an answer. Nothing was changed."
    with reading(make_engine(sqlite_url)) as connection:
        assert connection.scalar(select(func.count()).select_from(Account)) == 0
        assert connection.scalars(select(Evaluation.state)).all() == [EvaluationState.QUEUED]
