"""`steelyard evaluate` on the embedded default: one campaign from files to report, in an empty database each time."""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness.timing import whole_process

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = [sys.executable, "-m", "cli.main"]
THREE = ("bleu", "chrf", "ter")


@dataclass(frozen=True)
class Evaluated:
    """What it took."""

    wall: float
    """Seconds from start to exit."""
    cpu: float
    """Seconds of all its processes."""
    peak: float
    """MiB of the largest process."""
    work: float
    """Seconds from queued to scored: what is left without start-up, storing and report."""
    scores: dict[tuple[str, str], float]
    """(system, metric) -> score."""


def evaluate(
    campaign: Path,
    metrics: Sequence[str] = THREE,
    *,
    reference: str = "A",
    replicates: int = 1000,
    processes: int | None = None,
) -> Evaluated:
    """Run it once. All pairs of systems are tested."""
    with tempfile.TemporaryDirectory() as empty:
        command = [*_words(campaign, metrics, reference, empty), "--confidence", str(replicates)]
        command += ["--processes", str(processes)] if processes else []
        run = whole_process([*PROGRAM, *command])
        with sqlite3.connect(f"{empty}/steelyard.db") as connection:
            query = "SELECT max(finished_at) - min(created_at) FROM evaluation"
            (work,) = connection.execute(query).fetchone()
        connection.close()
        (board,) = json.loads(Path(empty, "report", "leaderboard.json").read_text())
    scores = {
        (each["system"], score["metric"]): score["score"] for each in board["systems"] for score in each["scores"]
    }
    return Evaluated(run.wall, run.cpu, run.peak, work, scores)


def evaluate_again(campaign: Path, times: int, *, reference: str = "A") -> list[float]:
    """Wall seconds of so many runs in a process that has made one before, each in an empty database."""
    with tempfile.TemporaryDirectory() as empty:
        for run in range(times + 1):
            Path(empty, str(run)).mkdir()
        taken = Path(empty, "taken")
        command = [sys.executable, "-m", "benchmarks.harness.repeated", str(taken), str(times + 1)]
        whole_process([*command, *_words(campaign, THREE, reference, f"{empty}/{{run}}")])
        return [float(seconds) for seconds in taken.read_text().split()[1:]]


def _words(campaign: Path, metrics: Sequence[str], reference: str, folder: str) -> list[str]:
    """The command, which puts everything into the folder."""
    words = ["evaluate", str(campaign.resolve()), "--references", reference, "-m", *metrics]
    return [*words, "--output", f"{folder}/report", "--database", f"sqlite:///{folder}/steelyard.db"]
