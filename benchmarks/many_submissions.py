"""How long pages and the API take on a server that holds a hundred thousand submissions.

    python -m benchmarks.many_submissions [--campaigns 500] [--submissions 200] [--requests 4000] [--postgres]

Fills the tables with public campaigns whose submissions are scored, as `benchmarks.leaderboard_page` does for one, and
starts a server of its own on loopback. Clients ask for leaderboards of campaigns drawn by lot, as visitors, and for
what programs ask the API for, with a token. What is drawn is asked for in two rounds, of which the second is measured:
whoever asks first for a leaderboard has all pairs of systems tested.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import socket
import statistics
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from sqlalchemy import insert

from benchmarks.harness.servers import running
from benchmarks.leaderboard_page import percentile, serve, take, wait_for
from campaigns.accounts.secrets import hash_of, new_secret
from models.database import migrate
from models.database.session import make_engine, writing
from models.schema.accounts import Account, ApiToken
from models.schema.roles import Scope, SiteRole
from runtime.service_settings import WebSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

SEGMENTS = 200
PAGE, API = "leaderboard", "API"
AIMS = {PAGE: 100, API: 50}
"""Milliseconds at the 95th percentile."""
ADDRESSES = {
    PAGE: ("/campaigns/{campaign}/leaderboard", "/campaigns/{campaign}/leaderboard?metric=chrf"),
    API: (
        "/api/v1/me",
        "/api/v1/campaigns?limit=50",
        "/api/v1/campaigns/{campaign}",
        "/api/v1/campaigns/{campaign}/phases",
        "/api/v1/campaigns/{campaign}/test-sets",
        "/api/v1/campaigns/{campaign}/leaderboards",
        "/api/v1/campaigns/{campaign}/submissions?limit=50",
        "/api/v1/submissions/{submission}",
    ),
}


def main() -> None:
    """Fill the tables and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=500)
    parser.add_argument("--submissions", type=int, default=200, help="of each campaign")
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--postgres", action="store_true", help="instead of SQLite")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = f"sqlite:///{folder / 'steelyard.db'}"
        if options.postgres:
            url = stack.enter_context(running())["STEELYARD_DATABASE_URL"]
        migrate.upgrade(url)
        engine = make_engine(url)
        stack.callback(engine.dispose)
        begun = time.monotonic()
        submissions, token = fill(engine, WebSettings(database_url=url), options)
        print(
            f"{sum(map(len, submissions.values())):,} submissions stored in {time.monotonic() - begun:.0f} s",
            flush=True,
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = multiprocessing.get_context("spawn").Process(target=serve, args=(url, port), daemon=True)
        server.start()
        stack.callback(server.terminate)
        wait_for(port)
        report(ask_all(f"http://127.0.0.1:{port}", submissions, token, options))


def fill(engine: Engine, settings: WebSettings, options: argparse.Namespace) -> tuple[dict[str, Sequence[int]], str]:
    """The submissions of each campaign, and a token that may see all of them."""
    submissions = {
        name: take(engine, settings, 0, options.submissions, options.replicates, name, SEGMENTS)
        for name in (f"campaign{number:03}" for number in range(options.campaigns))
    }
    token = new_secret("sty_")
    with writing(engine) as connection:
        person = {"email": "root@example.org", "name": "root", "role": SiteRole.ADMINISTRATOR}
        account = connection.execute(insert(Account).values(**person).returning(Account.id)).scalar_one()
        row = {"account_id": account, "name": "benchmark", "scopes": [*Scope], "secret_hash": hash_of(token)}
        connection.execute(insert(ApiToken).values(**row))
    return submissions, token


def ask_all(
    url: str, submissions: dict[str, Sequence[int]], token: str, options: argparse.Namespace
) -> dict[tuple[str, str], list[float]]:
    """Seconds of each request of the second round, by kind and address."""

    def one(number: int) -> list[tuple[tuple[str, str], float]]:
        draw = random.Random(number)
        found = []
        with httpx.Client(base_url=url, timeout=120.0) as client:
            for _ in range(options.requests // options.clients):
                kind = draw.choice((PAGE, API))
                address = draw.choice(ADDRESSES[kind])
                campaign = draw.choice(list(submissions))
                shown = address.format(campaign=campaign, submission=draw.choice(submissions[campaign]))
                headers = {"Authorization": f"Bearer {token}"} if kind == API else {}
                begin = time.perf_counter()
                client.get(shown, headers=headers).raise_for_status()
                found.append(((kind, address), time.perf_counter() - begin))
        return found

    taken: dict[tuple[str, str], list[float]] = {}
    for _ in range(2):
        taken = defaultdict(list)
        # The same draws again.
        with ThreadPoolExecutor(options.clients) as pool:
            for part in pool.map(one, range(options.clients)):
                for which, seconds in part:
                    taken[which].append(seconds)
    return taken


def report(taken: dict[tuple[str, str], list[float]]) -> None:
    """A Markdown table."""
    print("\n| what | requests | median | p95 | slowest | aim (p95) |\n|---|---|---|---|---|---|")
    for kind in AIMS:
        every = [seconds for (of, _), some in taken.items() if of == kind for seconds in some]
        rows = {f"**{kind}**": every} | {
            f"`{address}`": some for (of, address), some in sorted(taken.items()) if of == kind
        }
        for name, some in rows.items():
            middle, slowest = 1000 * statistics.median(some), 1000 * max(some)
            aim = f"{AIMS[kind]} ms" if some is every else ""
            print(
                f"| {name} | {len(some)} | {middle:.0f} ms | {percentile(some, 0.95):.0f} ms | {slowest:.0f} ms "
                f"| {aim} |"
            )


if __name__ == "__main__":
    main()
