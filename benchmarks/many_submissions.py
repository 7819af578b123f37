"""How long pages and the API take on a server that holds a hundred thousand submissions.

    python -m benchmarks.many_submissions [--campaigns 500] [--rate 10] [--clients 4] [--postgres]

Fills the tables with public campaigns whose submissions are scored, as `benchmarks.leaderboard_page` does for one, and
starts a server of its own on loopback. Clients ask for leaderboards of campaigns drawn by lot, as visitors, and for
what programs ask the API for, with a token. Two things are measured:

- how long a request takes that arrives at a time drawn by lot, so many a second on average, from the moment of its
  arrival, also where it waits for others: what people notice, and what is compared with the aims;
- how many requests a second a saturated server answers, and how long each then takes. Some clients ask all the time,
  each for the next thing when it has the last one, so this is the time of a request times the number of clients.

The server answers all of the second first, once, so that what it keeps is what it keeps in the long run. Server and
clients share the machine.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from sqlalchemy import insert

from benchmarks.harness.servers import running
from benchmarks.harness.web_service import served
from benchmarks.leaderboard_page import percentile, take
from campaigns.accounts.secrets import hash_of, new_secret
from models.database import migrate
from models.database.session import make_engine, writing
from models.schema.accounts import Account, ApiToken
from models.schema.roles import Scope, SiteRole
from runtime.service_settings import WebSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Engine

SEGMENTS = 200
PAGE, API = "leaderboard", "API"
AIMS = {PAGE: 100, API: 50}
"""Milliseconds at the 95th percentile, of requests that arrive by lot."""
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
    parser.add_argument("--requests", type=int, default=4000, help="of the saturated server")
    parser.add_argument("--clients", type=int, default=4, help="that saturate it")
    parser.add_argument("--rate", type=float, default=10.0, help="requests a second that arrive by lot")
    parser.add_argument("--seconds", type=float, default=120.0, help="for which they arrive")
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
        address, _ = stack.enter_context(served(url))
        asked = Asked(address, submissions, token)
        saturate(asked, options)
        begun = time.monotonic()
        saturated = saturate(asked, options)
        each_second = sum(map(len, saturated.values())) / (time.monotonic() - begun)
        report(f"{options.rate:g} requests a second", arrive(asked, options), AIMS)
        report(f"Saturated by {options.clients} clients: {each_second:.0f} requests a second", saturated, {})


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


Taken = dict[tuple[str, str], list[float]]
"""Seconds of each request, by kind and address."""


@dataclass(frozen=True)
class Asked:
    """A server, and what it is asked for."""

    url: str
    submissions: dict[str, Sequence[int]]
    token: str

    def client(self) -> httpx.Client:
        """A client of the server."""
        return httpx.Client(base_url=self.url, timeout=120.0)

    def ask(self, client: httpx.Client, draw: random.Random, begin: float | None = None) -> tuple[str, str, float]:
        """Ask for something drawn by lot: its kind, its address and the seconds since `begin`."""
        kind = draw.choice((PAGE, API))
        address = draw.choice(ADDRESSES[kind])
        campaign = draw.choice(list(self.submissions))
        shown = address.format(campaign=campaign, submission=draw.choice(self.submissions[campaign]))
        headers = {"Authorization": f"Bearer {self.token}"} if kind == API else {}
        begin = time.perf_counter() if begin is None else begin
        client.get(shown, headers=headers).raise_for_status()
        return kind, address, time.perf_counter() - begin


def saturate(asked: Asked, options: argparse.Namespace) -> Taken:
    """Some clients ask one thing after another, the same at each call."""

    def one(number: int) -> list[tuple[str, str, float]]:
        draw = random.Random(number)
        with asked.client() as client:
            return [asked.ask(client, draw) for _ in range(options.requests // options.clients)]

    with ThreadPoolExecutor(options.clients) as pool:
        return by_address(each for of_one in pool.map(one, range(options.clients)) for each in of_one)


def arrive(asked: Asked, options: argparse.Namespace) -> Taken:
    """Requests arrive at their times, whether the ones before are answered or not."""
    draw = random.Random("arrivals")
    with asked.client() as client, ThreadPoolExecutor(100) as pool:
        at = begun = time.perf_counter()
        answers = []
        while (at := at + draw.expovariate(options.rate)) < begun + options.seconds:
            time.sleep(max(0.0, at - time.perf_counter()))
            answers.append(pool.submit(asked.ask, client, random.Random(draw.random()), at))
        return by_address(each.result() for each in answers)


def by_address(answers: Iterable[tuple[str, str, float]]) -> Taken:
    """Their seconds, by kind and address."""
    taken: Taken = defaultdict(list)
    for kind, address, seconds in answers:
        taken[kind, address].append(seconds)
    return taken


def report(title: str, taken: Taken, aims: Mapping[str, int]) -> None:
    """A Markdown table."""
    print(f"\n{title}\n\n| what | requests | median | p95 | slowest | aim (p95) |\n|---|---|---|---|---|---|")
    for kind in (PAGE, API):
        every = [seconds for (of, _), some in taken.items() if of == kind for seconds in some]
        rows = {f"**{kind}**": every} | {
            f"`{address}`": some for (of, address), some in sorted(taken.items()) if of == kind
        }
        for name, some in rows.items():
            middle, slowest = 1000 * statistics.median(some), 1000 * max(some)
            aim = f"{aims[kind]} ms" if some is every and kind in aims else ""
            print(
                f"| {name} | {len(some)} | {middle:.0f} ms | {percentile(some, 0.95):.0f} ms | {slowest:.0f} ms "
                f"| {aim} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
