"""What runs with SQLite on one machine needs no Celery: it is not even imported."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.commands import environment
from tests.faults.cluster import until

WITHOUT = """
import sys
# Whoever imports one of them gets an ImportError.
sys.modules.update(dict.fromkeys(("amqp", "billiard", "celery", "kombu"), None))
from cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file, text in {"refs/ref.txt": "a b c d e\n", "systems/one.txt": "a b c d f\n"}.items():
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_text(text * 30)
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        ["score", "refs/ref.txt", "-i", "systems/one.txt", "-m", "bleu", "ter"],
        ["evaluate", ".", "--name", "c", "--database", "sqlite:///c.db", "-m", "bleu", "nist", "--output", "report"],
    ],
    ids=lambda command: command[0],
)
def test_a_command_that_ends(folder: Path, command: list[str]) -> None:
    arguments = [sys.executable, "-c", WITHOUT, *command]
    ended = subprocess.run(arguments, cwd=folder, env=environment(), capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "BLEU" in ended.stdout + ended.stderr


def test_everything_in_one_command(folder: Path) -> None:
    log = folder / "up.log"
    arguments = [sys.executable, "-c", WITHOUT, "up", "--database", "sqlite:///c.db", "--processes", "1"]
    with log.open("w") as file, subprocess.Popen(arguments, cwd=folder, env=environment(), stderr=file) as up:
        until(lambda: up.poll() is not None or "Working on" in log.read_text(), "the pool to be there")
        assert up.poll() is None, log.read_text()
        os.kill(up.pid, signal.SIGTERM)
    assert up.returncode == 0, log.read_text()
