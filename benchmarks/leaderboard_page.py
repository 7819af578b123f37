"""How long the leaderboard's page takes with a thousand submissions.

    python -m benchmarks.leaderboard_page [--submissions 1000] [--requests 400] [--clients 4]

A server of its own on loopback, over a SQLite file in which scores and replicates by three metrics have been put as a
campaign leaves them. Real HTTP clients ask for the board as the pages link to it: ranked by each metric, further down,
all systems, as JSON. Then new submissions come in between, so that the board changes all the time.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
from sqlalchemy import Engine, insert, update

from benchmarks.harness.web_service import served
from models.database import migrate
from models.database.session import make_engine, writing
from models.schema.base import now
from models.schema.campaigns import Campaign, Declaration
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.roles import Visibility
from models.storage.arrays import pack
from runtime.service_settings import WebSettings
from scheduler.ingest.campaigns import IngestResult, NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric

METRICS = ("bleu", "chrf", "ter")
NAME = "thousand"
SEGMENTS = 2_000


def percentile(seconds: Sequence[float], share: float) -> float:
    """In milliseconds, by the nearest rank."""
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def take(
    engine: Engine,
    settings: WebSettings,
    first: int,
    count: int,
    replicates: int,
    campaign: str = NAME,
    segments: int = SEGMENTS,
    teams: int = 10**6,
) -> Sequence[int]:
    """Store so many submissions of as many or fewer teams, done, with scores that lie as close as in a campaign."""
    lines = "\n".join(f"{campaign} {number}" for number in range(segments))
    job: IngestResult = ingest_campaign(
        engine,
        settings,
        campaign=campaign,
        test_set=NewTestSet(campaign, {"A": lines.encode()}),
        submissions=[
            NewSubmission(f"system{number // teams or ''}", f"{number}{lines}".encode(), f"team{number % teams:04}")
            for number in range(first, first + count)
        ],
        protocols=[NewProtocol(["A"], [parse_metric(metric) for metric in METRICS], replicates)],
    )
    draw = np.random.default_rng(first)
    scores, declarations = [], []
    for place, (submission, evaluation) in enumerate(zip(job.submissions, job.evaluations[0], strict=True)):
        row = {"submission_id": submission, "campaign_id": job.campaign_id, "test_set_id": job.test_set_id}
        # One of a team is its primary submission.
        kind = "primary" if first + place < teams else "contrastive"
        declarations.append({**row, "team": f"team{(first + place) % teams:04}", "kind": kind})
        middle = 20 + 20 * draw.random()
        for position, metric in enumerate(METRICS):
            parsed = parse_metric(metric)
            value = middle if parsed.higher_is_better else 100 - middle
            around = value + 0.6 * draw.standard_normal(replicates)
            scores.append(
                {
                    "evaluation_id": evaluation,
                    "metric": position,
                    "specification": metric,
                    "title": parsed.title,
                    "signature": f"{metric}|benchmark",
                    "higher_is_better": parsed.higher_is_better,
                    "scale": parsed.scale,
                    "columns": ["n"],
                    "sums": b"",
                    "score": float(value),
                    "replicate_scores": pack(around),
                }
            )
    with writing(engine) as connection:
        connection.execute(insert(Score), scores)
        connection.execute(insert(Declaration), declarations)
        done = Evaluation.id.in_(job.evaluations[0])
        connection.execute(update(Evaluation).where(done).values(state="done", finished_at=now()))
        connection.execute(update(Campaign).where(Campaign.name == campaign).values(visibility=Visibility.PUBLIC))
    return job.submissions


ADDRESSES = (
    f"/campaigns/{NAME}/leaderboard",
    f"/campaigns/{NAME}/leaderboard?metric=chrf",
    f"/campaigns/{NAME}/leaderboard?metric=ter&shown=all",
    f"/campaigns/{NAME}/leaderboard?first=100",
    f"/api/v1/campaigns/{NAME}/leaderboard?limit=100",
)


def ask(client: httpx.Client, address: str) -> float:
    """Seconds until the whole answer is there."""
    begin = time.perf_counter()
    client.get(address).raise_for_status()
    return time.perf_counter() - begin


def measure(url: str, requests: int, clients: int) -> list[float]:
    """Seconds of each request; all clients ask all the time."""

    def one(number: int) -> list[float]:
        with httpx.Client(base_url=url, timeout=60) as client:
            return [ask(client, ADDRESSES[(number + each) % len(ADDRESSES)]) for each in range(requests // clients)]

    with ThreadPoolExecutor(clients) as pool:
        return [seconds for found in pool.map(one, range(clients)) for seconds in found]


def report(what: str, seconds: Sequence[float]) -> None:
    """A row of a Markdown table."""
    middle = 1000 * statistics.median(seconds)
    print(
        f"| {what} | {middle:.0f} ms | {percentile(seconds, 0.95):.0f} ms | {1000 * max(seconds):.0f} ms |", flush=True
    )


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--replicates", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'steelyard.db'}"
        migrate.upgrade(url)
        settings = WebSettings(database_url=url)
        engine = make_engine(url)
        take(engine, settings, 0, options.submissions, options.replicates)

        def add(first: int, count: int) -> None:
            take(engine, settings, first, count, options.replicates)

        with served(url) as (address, _):
            run(address, options, add)
        engine.dispose()


def run(address: str, options: argparse.Namespace, add: Callable[[int, int], None]) -> None:
    """All situations, one after the other."""
    print(f"{options.submissions:,} submissions, {len(METRICS)} metrics, {options.clients} clients\n")
    print("| situation | median | p95 | slowest |\n|---|---|---|---|")
    with httpx.Client(base_url=address, timeout=60) as client:
        report("first page of a server that has just started", [ask(client, ADDRESSES[0])])
        begin = time.perf_counter()
        report("while all pairs are being tested", measure(address, options.requests // 4, options.clients))
        board = f"/api/v1/campaigns/{NAME}/leaderboard"
        for metric in METRICS:
            while client.get(board, params={"metric": metric, "limit": 1}).json()["ranking"]["testing"]:
                time.sleep(0.2)
        tested = time.perf_counter() - begin
        report("one client", [ask(client, ADDRESSES[each % len(ADDRESSES)]) for each in range(options.requests)])
        report(f"{options.clients} clients", measure(address, options.requests, options.clients))
        seconds = []
        for number in range(40):
            add(options.submissions + number, 1)
            seconds += [ask(client, ADDRESSES[0]), ask(client, ADDRESSES[1])]
        report("one client, a new submission before every other request", seconds)
        tag = client.get(ADDRESSES[0]).headers["ETag"]
        unchanged = []
        for _ in range(options.requests // 4):
            begin = time.perf_counter()
            assert client.get(ADDRESSES[0], headers={"If-None-Match": tag}).status_code == 304
            unchanged.append(time.perf_counter() - begin)
        report("not changed (304)", unchanged)
    print(f"\nAll pairs of {len(METRICS)} metrics were tested after {tested:.0f} s.")


if __name__ == "__main__":
    main()
