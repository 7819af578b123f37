"""How the command of a schedule is ended, what it has left behind, and what it is told."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from scheduler.nightly.commands import CommandStopped, run_command
from tests.faults.cluster import until

TIDIES = """
trap 'echo tidied > end; exit 0' TERM
echo > begun
while :; do sleep 0.02; done
"""
LEAVES = """
sh -c 'trap "" TERM; echo $$ > begun.part; mv begun.part begun; exec sleep 600' &
while [ ! -e begun ]; do sleep 0.02; done
"""
"""A process that is deaf to SIGTERM stays when the command has ended."""


def run(folder: Path, script: str, stop: threading.Event) -> None:
    run_command(["sh", "-c", script], folder=str(folder), environment={}, seconds=600.0, stop=stop)


def test_a_command_that_is_stopped_may_tidy_up(tmp_path: Path) -> None:
    stop = threading.Event()

    def stop_it() -> None:
        until((tmp_path / "begun").exists, "the command")
        stop.set()

    watcher = threading.Thread(target=stop_it, daemon=True)
    watcher.start()
    with pytest.raises(CommandStopped):
        run(tmp_path, TIDIES, stop)
    watcher.join()
    assert (tmp_path / "end").read_text() == "tidied\n"


def test_what_a_command_leaves_behind_is_ended_even_if_it_ignores_signals(tmp_path: Path) -> None:
    run(tmp_path, LEAVES, threading.Event())
    left = int((tmp_path / "begun").read_text())

    def has_ended() -> bool:
        try:
            return f"{left} (sleep) Z" in Path(f"/proc/{left}/stat").read_text()
        except OSError:
            return True

    try:
        until(has_ended, "what was left behind")
    finally:
        with suppress(ProcessLookupError):
            os.kill(left, signal.SIGKILL)


def test_what_is_told_counts_more_than_what_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scheduler itself may have been started with a variable of that name."""
    monkeypatch.setenv("STEELYARD_DATE", "1999-12-31")
    run_command(
        ["sh", "-c", 'echo "$STEELYARD_DATE" > date'],
        folder=str(tmp_path),
        environment={"STEELYARD_DATE": "2026-11-22"},
        seconds=600.0,
        stop=threading.Event(),
        passed_on=["STEELYARD_DATE"],
    )
    assert (tmp_path / "date").read_text() == "2026-11-22\n"
