"""A whole WMT as one campaign: `steelyard evaluate` of a folder of many language pairs, from files to boards.

    python -m benchmarks.many_pairs [--pairs 30] [--systems 40] [--segments 1000] [--resample document] [--folder DIR]

Texts are made from a seed in WMT24's layout, ten segments a document. BLEU, chrF, chrF++ and TER with 1,000 replicates,
and all pairs of systems tested for the clusters of every metric. Says how many seconds of wall clock and processors the
whole command took, with which peak of memory, and that every pair has its board; then how long the matrix page takes,
its first time in a process and once it is known.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from fastapi.testclient import TestClient
from sqlalchemy import update

from benchmarks.harness.generated import write_campaign
from benchmarks.harness.timing import whole_process
from models.database.session import make_engine, writing
from models.schema.campaigns import Campaign
from models.schema.roles import Visibility
from runtime.service_settings import WebSettings
from web.app import create_app

METRICS = ("bleu", "chrf", "chrf:nw=2", "ter")
DOCUMENT = 10
"""Segments of a document."""
SOURCES = ("en", "cs", "ja")
TARGETS = ("cs", "de", "es", "hi", "is", "ru", "uk", "fr", "it", "pl", "et", "lt", "bg", "sr", "tr")


def pair_names(count: int) -> list[str]:
    """So many pairs of languages that 13a cuts."""
    names = [f"{source}-{target}" for source in SOURCES for target in TARGETS if source != target]
    return names[:count]


def write_pairs(folder: Path, pairs: int, systems: int, segments: int) -> Path:
    """Write sources, references, documents and outputs of so many pairs; the folder."""
    for number, pair in enumerate(pair_names(pairs)):
        made = write_campaign(folder / "made", systems, segments, seed=number + 1)
        documents = "".join(f"news\tdocument{segment // DOCUMENT}\n" for segment in range(segments))
        for place, name, path in (
            ("sources", f"{pair}.txt", made / "source.txt"),
            ("references", f"{pair}.refA.txt", made / "refs" / "A.txt"),
            *((f"system-outputs/{pair}", path.name, path) for path in sorted((made / "systems").iterdir())),
        ):
            (folder / place).mkdir(parents=True, exist_ok=True)
            path.rename(folder / place / name)
        (folder / "documents").mkdir(exist_ok=True)
        (folder / "documents" / f"{pair}.docs").write_text(documents)
        shutil.rmtree(made)
    return folder


def matrix_page(url: str, requests: int = 20) -> list[tuple[float, float]]:
    """Seconds of wall clock and of processors that the matrix page takes, asked for again and again."""
    engine = make_engine(url)
    with writing(engine) as connection:
        connection.execute(update(Campaign).values(visibility=Visibility.PUBLIC))
    engine.dispose()
    found = []
    with TestClient(create_app(WebSettings(database_url=url, requests_per_minute=10**9))) as client:
        client.get("/").raise_for_status()
        for _ in range(requests):
            wall, cpu = time.perf_counter(), time.process_time()
            client.get("/campaigns/many/matrix").raise_for_status()
            found.append((time.perf_counter() - wall, time.process_time() - cpu))
    return found


def main() -> None:
    """Make the texts, evaluate them, say what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--systems", type=int, default=40)
    parser.add_argument("--segments", type=int, default=1000)
    parser.add_argument("--resample", choices=("segment", "document"), default="document")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="keep texts, database and report there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = options.folder or Path(scratch)
        texts = home / "texts"
        if not texts.exists():
            write_pairs(texts, options.pairs, options.systems, options.segments)
        (home / "steelyard.db").unlink(missing_ok=True)
        command = [sys.executable, "-m", "cli.main", "evaluate", str(texts), "--name", "many", "-m", *METRICS]
        command += ["--resample", options.resample, "--processes", str(options.processes)]
        command += ["--output", str(home / "report"), "--database", f"sqlite:///{home / 'steelyard.db'}"]
        ended = whole_process(command)
        boards = json.loads((home / "report" / "leaderboard.json").read_text())
        scored = sum(len(system["scores"]) for board in boards for system in board["systems"])
        clusters = sum(
            score["cluster"] is not None for board in boards for each in board["systems"] for score in each["scores"]
        )
        first, *others = matrix_page(f"sqlite:///{home / 'steelyard.db'}")
    assert len(boards) == options.pairs, boards
    assert scored == clusters == options.pairs * options.systems * len(METRICS), (scored, clusters)
    print(f"{options.pairs} pairs x {options.systems} systems x {options.segments:,} segments, by {options.resample}:")
    print(f"{ended.wall:.1f} s wall, {ended.cpu:.1f} s of processors, {ended.peak:.0f} MiB in the largest process")
    print(f"matrix page: {first[0]:.2f} s ({first[1]:.2f} s of processors) the first time, then", end=" ")
    wall, cpu = (1000 * statistics.median(each) for each in zip(*others, strict=True))
    print(f"{wall:.0f} ms ({cpu:.0f} ms of processors)")


if __name__ == "__main__":
    main()
