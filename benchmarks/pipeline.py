"""The whole pipeline on the embedded default: store, queue, score, reduce, rank and report, as one command.

    python -m benchmarks.pipeline [DIR] [--reference LABEL] [--rounds 5]

DIR is a campaign folder (source.txt, refs/, systems/); without one, the demo campaign of the project.
Prints wall and CPU seconds of the command (its worker processes included), and what the queue itself took: from the
moment when everything was stored to the last score.
"""

from __future__ import annotations

import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.campaign import arguments, campaigns
from benchmarks.timing import whole_process


def main() -> None:
    """Run the command some times in empty folders."""
    parser = arguments(__doc__)
    parser.add_argument("--metrics", nargs="+", default=["bleu", "chrf", "ter"])
    options = parser.parse_args()
    program = str(Path(sys.executable).parent / "steelyard")
    (campaign,) = campaigns(options)
    walls, processors, queued, peaks = [], [], [], []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as empty:
            command = [
                program,
                "evaluate",
                str(campaign.reference.parents[1].resolve()),
                "--references",
                campaign.reference.stem,
                "-m",
                *options.metrics,
            ]
            command += ["--output", f"{empty}/report", "--database", f"sqlite:///{empty}/steelyard.db"]
            start = time.monotonic()
            seconds, memory = whole_process(command)
            walls.append(time.monotonic() - start)
            processors.append(seconds)
            peaks.append(memory)
            with sqlite3.connect(f"{empty}/steelyard.db") as connection:
                query = "SELECT max(finished_at) - min(created_at) FROM evaluation"
                queued.append(connection.execute(query).fetchone()[0])
    for name, values in (("wall s", walls), ("CPU s", processors), ("queued to scored s", queued), ("peak MiB", peaks)):
        print(f"{name}: {min(values):.2f} to {max(values):.2f}, median {statistics.median(values):.2f}")


if __name__ == "__main__":
    main()
