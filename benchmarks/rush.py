"""The last minute before a deadline: many teams submit at once while their outputs are being scored.

    python -m benchmarks.rush [--uploads 200] [--segments 2000] [--seconds 60] [--teams 50] [--closing] [-m METRIC ...]
                              [--score-seconds 600]

Starts `steelyard up` on a database of its own with a campaign, and submits outputs over HTTP on loopback, each by a
client with a connection of its own, at moments drawn by lot (with --closing more and more of them towards the end). One
of ten breaks off in the middle of a request first and is sent again; one of ten is sent twice at the same time with the
same key. All the while the leaderboard is loaded twice a second. Then the database is asked: every output is
stored once and queued once, counts once against the quota, and its text is what was sent; and how long each took from
its submission to its scores, of those that were scored by then, or within --score-seconds more.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
from sqlalchemy import func, insert, select

from benchmarks.harness.generated import write_campaign
from campaigns.accounts.principal import COMMAND_LINE
from campaigns.accounts.secrets import hash_of, new_secret
from campaigns.changes import lock_for_change
from campaigns.measures import MeasureRequest
from campaigns.phases import PhaseRules, add_phase
from campaigns.rules import Rules, create_campaign
from campaigns.sandbox.limits import limits_of
from campaigns.sandbox.processes import scratch_folder
from campaigns.test_sets.files import InputTestSet, NamedContent, read_test_set_files
from campaigns.test_sets.stored import add_test_set
from models.database import migrate
from models.database.session import make_engine, reading, writing
from models.schema.accounts import Account, ApiToken, Membership, Team
from models.schema.campaigns import Campaign, Participation, UsageLogEntry
from models.schema.corpus import Submission, System, Text
from models.schema.queue import Evaluation, Shard
from models.schema.roles import Joining, PhaseKind, Scope, SiteRole, TeamRole, Visibility
from models.schema.states import LeaseState
from runtime.service_settings import WebSettings
from steelyard.text.names import folded
from steelyard_client import Client, ClientError

if TYPE_CHECKING:
    from collections.abc import Sequence

CAMPAIGN = "rush"
BASES = 20
"""Outputs that are generated; all others differ from one of them in a word of each tenth line."""
TOLD_SECONDS = 10.0
"""Between two lines about how far it is, on stderr."""
START_SECONDS = 60.0
LAST_LINES = 40
"""Of its log, which has warnings and errors alone."""
GRACE_SECONDS = 600.0
"""After the deadline everything is still taken: it is lateness that is measured here, not refused."""


@dataclass(frozen=True)
class Output:
    """An output of a system; all texts differ. Thousands are not held together."""

    team: str
    system: str
    base: Sequence[bytes]
    version: int

    @property
    def text(self) -> bytes:
        """Its segments, one a line."""
        lines = list(self.base)
        lines[::10] = [line + b" v%d" % self.version for line in lines[::10]]
        return b"\n".join(lines)


@dataclass
class Handed:
    """What a client saw."""

    system: str
    late: float
    """Seconds after its moment in which it began: whether the clients kept up."""
    seconds: float
    """From the request until the answer."""
    number: int
    """The submission."""


def main() -> None:
    """Run it, print what came of it; exit status 1 where anything was lost or doubled."""
    options = arguments().parse_args()
    with tempfile.TemporaryDirectory(prefix="steelyard-rush-") as folder:
        sys.exit(run(Path(folder), options))


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uploads", type=int, default=200)
    parser.add_argument("--segments", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--teams", type=int, default=50)
    parser.add_argument("--closing", action="store_true", help="twice as many a second at the end as on average")
    parser.add_argument("--score-seconds", type=float, default=0.0, help="wait so long until all are scored")
    parser.add_argument("-m", "--metrics", nargs="+", default=["bleu", "chrf", "ter"])
    parser.add_argument("--database", help="a database without tables (default: SQLite in a temporary folder)")
    return parser


def run(folder: Path, options: argparse.Namespace) -> int:
    """All of it."""
    database = options.database or f"sqlite:///{folder / 'steelyard.db'}"
    outputs = make_outputs(folder, options)
    migrate.upgrade(database)
    tokens = set_up(database, folder, options)
    draws = np.random.default_rng(7).random(options.uploads)
    moments = sorted(options.seconds * (np.sqrt(draws) if options.closing else draws))
    with served(folder, database) as url:
        shards_before = shards_done(database)
        watching = PageLoads(f"{url}/campaigns/{CAMPAIGN}/leaderboard")
        handed, faults = hand_all_in(url, moments, outputs, tokens)
        shards = shards_done(database) - shards_before
        pages = watching.stop()
        scored, missing = seconds_to_scores(database, options.score_seconds)
        faults += [*watching.faults, *check(database, outputs, handed)]
    answers = [each.seconds for each in handed]
    print(f"{len(handed)} outputs of {options.segments:,} segments in {options.seconds:g} s, {options.teams} teams")
    print(f"answer        {spread(answers)}")
    print(f"page          {spread(pages)} ({len(pages)} times)")
    print(f"scored after  {spread(scored)} ({len(scored)} evaluations, {missing} not yet)")
    print(f"clients began {max(each.late for each in handed):.2f} s after their moment at most")
    print(f"shards done meanwhile: {shards}")
    for fault in faults:
        print(f"WRONG: {fault}")
    if not faults:
        print("none lost, none double")
    return 1 if faults else 0


def make_outputs(folder: Path, options: argparse.Namespace) -> list[Output]:
    """Every output."""
    campaign = write_campaign(folder / "campaign", min(BASES, options.uploads), options.segments)
    bases = [path.read_bytes().splitlines() for path in sorted((campaign / "systems").iterdir())]
    return [
        Output(
            f"team {number % options.teams + 1}",
            f"system {number // options.teams + 1}",
            bases[number % len(bases)],
            number // len(bases),
        )
        for number in range(options.uploads)
    ]


def set_up(database: str, folder: Path, options: argparse.Namespace) -> dict[str, str]:
    """A campaign with teams of one account each; team -> token."""
    engine, settings = make_engine(database), WebSettings(database_url=database)
    tokens = {f"team {number + 1}": new_secret("sty_") for number in range(options.teams)}
    reference = NamedContent("A.txt", (folder / "campaign" / "refs" / "A.txt").read_bytes())
    source = NamedContent("source.txt", (folder / "campaign" / "source.txt").read_bytes())
    with scratch_folder() as place, writing(engine) as connection:
        read = read_test_set_files(InputTestSet([reference], source), place, limits_of(settings))
        campaign_id = create_campaign(
            connection, COMMAND_LINE, CAMPAIGN, Rules(joining=Joining.OPEN, visibility=Visibility.PUBLIC)
        )
        access = lock_for_change(connection, COMMAND_LINE, CAMPAIGN)
        rules = PhaseRules("open", PhaseKind.OPEN, time.time() - 60, time.time() + options.seconds + GRACE_SECONDS)
        add_phase(connection, access, rules)
        add_test_set(connection, settings, access, "news", read, MeasureRequest(metrics=options.metrics))
        for number, (name, token) in enumerate(tokens.items(), 1):
            person = {"email": f"{number}@example.org", "name": name, "role": SiteRole.PARTICIPANT}
            account = connection.execute(insert(Account).values(**person).returning(Account.id)).scalar_one()
            row = {"account_id": account, "name": "rush", "scopes": [*Scope], "secret_hash": hash_of(token)}
            connection.execute(insert(ApiToken).values(**row))
            named = {"name": name, "folded_name": folded(name)}
            team = connection.execute(insert(Team).values(**named).returning(Team.id)).scalar_one()
            connection.execute(insert(Membership).values(team_id=team, account_id=account, role=TeamRole.LEAD))
            connection.execute(insert(Participation).values(campaign_id=campaign_id, team_id=team, number=number))
    engine.dispose()
    return tokens


class served:  # noqa: N801 - used as a function
    """`steelyard up` as long as this is open; its address."""

    def __init__(self, folder: Path, database: str) -> None:
        self._log = folder / "up.log"
        settings = {"STEELYARD_DATABASE_URL": database, "STEELYARD_LOG_LEVEL": "warning"}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "cli.main", "up", "--port", "0"],
                env={**os.environ, **settings},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> str:
        end = time.monotonic() + START_SECONDS
        while not (found := re.search(r"Steelyard is at (http\S+)/", self._log.read_text())):
            if time.monotonic() > end or self._process.poll() is not None:
                raise RuntimeError(f"`steelyard up` did not start: {self._log.read_text()}")
            time.sleep(0.1)
        return found[1]

    def __exit__(self, *_: object) -> None:
        # What is not measured yet is of no interest.
        self._process.send_signal(signal.SIGTERM)
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(START_SECONDS)
        # The first lines are the address, and how the first account is made.
        print(*self._log.read_text().splitlines()[1:][-LAST_LINES:], sep="\n")


class PageLoads(threading.Thread):
    """Somebody who loads a page twice a second, until stopped."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url, self._over, self._seconds = url, threading.Event(), list[float]()
        self.faults: list[str] = []
        self.start()

    def run(self) -> None:
        """Load it."""
        while not self._over.wait(0.5):
            begun = time.monotonic()
            try:
                with urlopen(self._url) as answer:
                    answer.read()
            except HTTPError as error:
                # There is no leaderboard before the first output.
                if error.code != 404:
                    self.faults.append(f"a page was answered with status {error.code}")
                continue
            except OSError as error:
                self.faults.append(f"a page was not answered: {error}")
                continue
            self._seconds.append(time.monotonic() - begun)

    def stop(self) -> list[float]:
        """The seconds that it took each time."""
        self._over.set()
        self.join()
        return self._seconds


def hand_all_in(
    url: str, moments: list[float], outputs: Sequence[Output], tokens: dict[str, str]
) -> tuple[list[Handed], list[str]]:
    """Every output at its moment, by as many clients as there must be; what they saw, and who was refused."""
    begun = told = time.monotonic()
    futures: list[Future[Handed]] = []
    with ThreadPoolExecutor(len(outputs)) as pool:
        for number, (moment, output) in enumerate(zip(moments, outputs, strict=True)):
            time.sleep(max(0.0, begun + moment - time.monotonic()))
            told = tell(told, begun, number, futures)
            token, key = tokens[output.team], f"key {number}"
            if number % 10 == 3:
                pool.submit(break_off, url, token, output)
            if number % 10 == 7:
                pool.submit(submit_output, url, token, output, key, begun + moment)
            futures.append(pool.submit(submit_output, url, token, output, key, begun + moment))
        handed, faults = [], []
        for future, output in zip(futures, outputs, strict=True):
            try:
                handed.append(future.result())
            except ClientError as error:
                faults.append(f"{output.team}/{output.system} was refused: {error}")
        return handed, faults


def tell(told: float, begun: float, sent: int, futures: Sequence[Future[Handed]]) -> float:
    """Say on stderr how far it is, unless that was said a moment ago; when it was said."""
    now = time.monotonic()
    if now - told < TOLD_SECONDS:
        return told
    answers = [each.result().seconds for each in futures if each.done() and each.exception() is None]
    print(f"{now - begun:.0f} s: {sent} sent, {len(answers)} answered, {spread(answers)}", file=sys.stderr, flush=True)
    return now


def submit_output(url: str, token: str, output: Output, key: str, moment: float) -> Handed:
    """One output, by a client of its own."""
    text = output.text
    begun = time.monotonic()
    with Client(url, token) as client:
        number = client.submit_output(CAMPAIGN, text, team=output.team, system=output.system, key=key).id
    return Handed(output.system, begun - moment, time.monotonic() - begun, number)


def break_off(url: str, token: str, output: Output) -> None:
    """Half of a request, and then nothing."""
    text = output.text
    host, _, port = url.rpartition("/")[2].partition(":")
    address = f"/api/v1/campaigns/{CAMPAIGN}/submissions?team={output.team}&system={output.system}".replace(" ", "%20")
    head = (
        f"POST {address} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: text/plain\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + text[: len(text) // 2])


def shards_done(database: str) -> int:
    """Work that was done so far."""
    engine = make_engine(database, pooled=False)
    with reading(engine) as connection:
        query = select(func.count()).select_from(Shard).where(Shard.state == LeaseState.DONE)
        return connection.execute(query).scalar_one()


def seconds_to_scores(database: str, patience: float) -> tuple[list[float], int]:
    """The seconds from each submission to its scores, and how many have none even after so many seconds."""
    engine = make_engine(database, pooled=False)
    query = select(Submission.created_at, Evaluation.finished_at).join(
        Evaluation, Evaluation.submission_id == Submission.id
    )
    until = time.monotonic() + patience
    while True:
        with reading(engine) as connection:
            rows = connection.execute(query).all()
        scored = [row.finished_at - row.created_at for row in rows if row.finished_at is not None]
        if len(scored) == len(rows) or time.monotonic() > until:
            return scored, len(rows) - len(scored)
        print(f"{len(scored)} of {len(rows)} scored", file=sys.stderr, flush=True)
        time.sleep(min(TOLD_SECONDS, max(0.1, until - time.monotonic())))


def check(database: str, outputs: Sequence[Output], handed: list[Handed]) -> list[str]:
    """What is wrong in the database."""
    faults = []
    engine = make_engine(database, pooled=False)
    with reading(engine) as connection:
        rows = connection.execute(
            select(Submission.id, Text.sha256, System.team, System.name)
            .join(System, System.id == Submission.system_id)
            .join(Text, Text.id == Submission.text_id)
            .join(Campaign, Campaign.id == Submission.campaign_id)
            .where(Campaign.name == CAMPAIGN)
        ).all()
        evaluations = connection.scalars(select(Evaluation.submission_id)).all()
        entries = connection.scalars(select(UsageLogEntry.submission_id)).all()
    stored = {(row.team, row.name): row.sha256 for row in rows}
    if len(rows) != len(outputs):
        faults.append(f"{len(rows)} submissions of {len(outputs)} outputs")
    if len({each.number for each in handed}) != len(outputs):
        faults.append("two outputs are said to be the same submission")
    for output in outputs:
        if stored.get((output.team, output.system)) != hashlib.sha256(output.text + b"\n").hexdigest():
            faults.append(f"{output.team}/{output.system} is lost, or its text is another")
    for what, found in (("evaluation", evaluations), ("entry of the usage log", entries)):
        once = sorted(found) == sorted(row.id for row in rows)
        if not once:
            faults.append(f"not every submission has one {what}: {len(found)} of {len(rows)}")
    return faults


def spread(seconds: list[float]) -> str:
    """Quantiles."""
    if len(seconds) < 2:
        return "too few to tell"
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return f"p50 {cuts[49]:.3f} s, p95 {cuts[94]:.3f} s, p99 {cuts[98]:.3f} s, most {max(seconds):.3f} s"


if __name__ == "__main__":
    main()
