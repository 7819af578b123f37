"""Schedulers that are killed and frozen while they write and send notices: none is lost, and no mail is sent twice."""

from __future__ import annotations

import json
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from html import unescape
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from models.database.session import reading, writing
from models.schema.accounts import Account
from models.schema.base import now
from models.schema.campaigns import Phase
from models.schema.notices import Notice, NoticeAddress, NoticeChoice, NoticeDelivery
from models.schema.roles import PhaseKind
from models.schema.states import LeaseState
from scheduler.notices.courier import UNCERTAIN
from steelyard_client.vocabulary import NoticeChannel, NoticeKind
from tests.faults.cluster import Cluster, until
from tests.faults.post import ANSWER, CONTENT, GREETING, SENDER, Holds, Hook, MailServer, listening
from tests.scheduler.webhooks.receiver import genuine
from tests.service.port import Port
from tests.service.service import Service

pytestmark = pytest.mark.faults

SECRET = "whisper"
SENT = (NoticeChannel.MAIL, NoticeChannel.WEBHOOK)
PLANNING = "planning"
"""While notices of several things are being written, in one transaction."""
SETTINGS = {"silent_seconds": 2.0, "sweep_seconds": 0.2, "beat_seconds": 0.3}
ENVIRONMENT = {
    "STEELYARD_PUBLIC_URL": "https://mt.example.org",
    "STEELYARD_WEBHOOK_PRIVATE": "true",
    "STEELYARD_WEBHOOK_SECONDS": "5",
    "STEELYARD_WEBHOOK_RETRY_SECONDS": "0.1",
    "STEELYARD_NOTICE_MAILS_PER_DAY": "1000",
}


class Bay:
    """A campaign whose people want to be told of every phase, by mail and by webhook."""

    def __init__(self, cluster: Cluster, port: Port, mails: MailServer, hook: Hook, seed: int) -> None:
        self.cluster, self.port, self.engine = cluster, port, cluster.engine
        self.mails, self.hook, self.holds = mails, hook, mails.holds
        self.draw = random.Random(seed)
        self.running = ""
        self.started = self.phases = 0
        self.faults = Counter[str]()
        self.again = 0
        with writing(self.engine) as connection:
            # What was there before has begun long ago.
            connection.execute(update(Phase).values(starts_at=now() - 9 * 86400.0, ends_at=None))
            connection.execute(update(Account).values(verified_at=now()))
            for account in port.accounts.values():
                address = {"webhook": hook.url, "webhook_secret": SECRET, "unsubscribe_secret": f"u{account}"}
                connection.execute(
                    insert(NoticeAddress).values(account_id=account, feed_secret=f"f{account}", **address)
                )
                for channel in SENT:
                    choice = {"account_id": account, "kind": NoticeKind.PHASE, "channel": channel, "wanted": True}
                    connection.execute(insert(NoticeChoice).values(**choice))

    def start(self) -> str:
        """One more scheduler."""
        self.started += 1
        name = f"scheduler {self.started}"
        slow = str(self.cluster.folder / PLANNING)
        self.cluster.start(name, "notices", slow, STEELYARD_MAIL_URL=self.mails.url, **ENVIRONMENT)
        return name

    def begin_phases(self, number: int) -> None:
        """That much happens, at once."""
        with writing(self.engine) as connection:
            for _ in range(number):
                self.phases += 1
                phase = {
                    "name": f"phase {self.phases}",
                    "kind": PhaseKind.OPEN,
                    "starts_at": now() - 1 - 0.001 * self.phases,
                }
                connection.execute(insert(Phase).values(campaign_id=self.port.campaign, **phase))

    def deliveries(self) -> list[tuple[str, str, int, str | None]]:
        """Channel, state, attempts and reason of each."""
        row = NoticeDelivery
        with reading(self.engine) as connection:
            found = connection.execute(select(row.channel, row.state, row.attempts, row.error).order_by(row.id))
            return [(each.channel, each.state, each.attempts, each.error) for each in found]

    def all_ended(self) -> bool:
        """Whether everything was told to everybody, as far as can be."""
        found = self.deliveries()
        ended = all(state in (LeaseState.DONE, LeaseState.FAILED) for _, state, _, _ in found)
        return ended and len(found) == self.phases * len(self.port.accounts) * 2

    def hit(self, place: str, *, freeze: bool) -> None:
        """Kill or freeze the scheduler at this place, and let another one go on."""
        hit = self.running
        with self._held(place) as reached:
            self.begin_phases(2)
            until(reached, f"a scheduler at {place}")
            if freeze:
                self._freeze(hit, in_transaction=place == PLANNING)
            else:
                self.cluster.kill(hit)
            self.faults[f"{'frozen' if freeze else 'killed'} at {place}"] += 1
            self.running = self.start()
            # SQLite has one writer, and PostgreSQL one who writes a key: a frozen planner holds others up.
            if not (freeze and place == PLANNING):
                until(self.all_ended, f"the end of what was hit at {place}")
        if freeze:
            self.cluster.thaw(hit)
            until(self.all_ended, f"the end of what was frozen at {place}")
            # It goes on where it was: what it was sending comes now, or never.
            until(lambda: "is gone" if not self._sends(hit) else "", "the end of what it was doing")
            self.cluster.kill(hit)

    def _held(self, place: str):  # type: ignore[no-untyped-def]
        return _planning(self.cluster.folder / PLANNING) if place == PLANNING else _reached(self.holds, place)

    def _freeze(self, name: str, *, in_transaction: bool) -> None:
        """Freeze a scheduler; unless it is to be in a transaction, in none that others would wait for."""
        self.cluster.freeze(name)
        while not in_transaction and self._holds_others_up():
            self.cluster.thaw(name)
            time.sleep(0.01)
            self.cluster.freeze(name)

    def _holds_others_up(self) -> bool:
        if self.engine.dialect.name == "postgresql":
            return self.cluster.in_transaction() > 0
        with closing(sqlite3.connect(str(self.engine.url.database), timeout=0.0)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
        return False

    def _sends(self, name: str) -> bool:
        """Whether it has a connection to the mail server or the receiver."""
        ports = {f"{port:04X}" for port in (self.mails.server_address[1], self.hook.server_port)}
        table = Path(f"/proc/{self.cluster.processes[name].pid}/net/tcp").read_text().splitlines()[1:]
        own = {
            link.readlink().name for link in Path(f"/proc/{self.cluster.processes[name].pid}/fd").iterdir()
            if link.is_symlink()
        }  # fmt: skip
        return any(f"socket:[{row.split()[9]}]" in own and row.split()[2][-4:] in ports for row in table)

    def check(self) -> None:
        """Nothing is lost, no mail was handed over twice, and webhooks came at least once, with one identity each."""
        with reading(self.engine) as connection:
            titles = list(connection.scalars(select(Notice.title).order_by(Notice.id)))
            emails = {row.id: row.email for row in connection.execute(select(Account.id, Account.email))}
            rows = connection.execute(
                select(NoticeDelivery, Notice.title).join(Notice, Notice.id == NoticeDelivery.notice_id)
            ).all()
        told = [f'port 1: the phase "phase {number}" has begun' for number in range(1, self.phases + 1)]
        assert sorted(titles) == sorted(told), "each thing is told once"
        people = self.port.accounts.values()
        expected = Counter((title, who, channel) for title in told for who in people for channel in SENT)
        assert Counter((row.title, row.account_id, row.channel) for row in rows) == expected
        by_mail = [row for row in rows if row.channel == NoticeChannel.MAIL]
        uncertain = [row for row in by_mail if row.state == LeaseState.FAILED]
        assert all((row.error, row.sent_at is None) == (UNCERTAIN, False) for row in uncertain), uncertain
        identities = Counter(identity for identity, _ in self.mails.mails)
        assert set(identities.values()) == {1}, "no mail twice"
        recipients = Counter(recipient for _, recipient in self.mails.mails)
        for who in people:
            done = sum(row.state == LeaseState.DONE for row in by_mail if row.account_id == who)
            unknown = sum(row.account_id == who for row in uncertain)
            assert done <= recipients[emails[who]] <= done + unknown
        by_hook = [row for row in rows if row.channel == NoticeChannel.WEBHOOK]
        assert {row.state for row in by_hook} == {LeaseState.DONE}
        came: dict[str, set[bytes]] = {}
        for headers, body in self.hook.messages:
            assert genuine(SECRET, headers["Steelyard-Signature"], body, tolerance=900.0)
            came.setdefault(json.loads(body)["delivery"], set()).add(body)
        for who in people:
            feed = unescape(self.port.service.program(who).get(f"/notices/f{who}/feed.xml").text)
            assert [title for title in told if title not in feed] == []
        assert len(came) == len(by_hook)
        assert all(len(bodies) == 1 for bodies in came.values()), "a second copy is the same"


class _reached:  # noqa: N801 - a context
    def __init__(self, holds: Holds, place: str) -> None:
        self._hold = holds.hold(place)

    def __enter__(self) -> Callable[[], bool]:
        return self._hold.__enter__().is_set

    def __exit__(self, *error: object) -> None:
        self._hold.__exit__(None, None, None)


class _planning:  # noqa: N801 - a context
    """Let planners rest after each notice, and see that one does."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __enter__(self) -> Callable[[], bool]:
        self._file.write_text("")
        return lambda: bool(self._file.read_text())

    def __exit__(self, *error: object) -> None:
        self._file.unlink()


@pytest.fixture
def bay(database_url: str, redis_url: str, tmp_path: Path) -> Iterator[Bay]:
    with ExitStack() as stack:
        holds = Holds()
        mails, hook = MailServer(holds), Hook(holds)
        stack.enter_context(listening(mails, hook))
        service = Service.start(database_url, stack)
        port = Port.opened(service)
        cluster = stack.enter_context(Cluster(tmp_path, database_url, redis_url, **SETTINGS))
        yield Bay(cluster, port, mails, hook, seed=7)


@pytest.mark.long
def test_nothing_is_lost_and_no_mail_comes_twice(bay: Bay) -> None:
    bay.running = bay.start()
    kills = [(place, False) for place in (PLANNING, GREETING, SENDER, CONTENT, ANSWER)]
    freezes = [(place, True) for place in (PLANNING, GREETING, SENDER, CONTENT, ANSWER)]
    faults = [*kills, *freezes]
    bay.draw.shuffle(faults)
    for place, freeze in faults:
        bay.hit(place, freeze=freeze)
        print(place, "frozen" if freeze else "killed", Counter(bay.deliveries()), flush=True)
    assert sum(bay.faults.values()) == len(bay.faults) == len(faults)
    # Each of these faults hit a delivery under a lease, which somebody else then took up; planners have none.
    again = [attempts for _, _, attempts, _ in bay.deliveries() if attempts > 1]
    assert len(again) >= len(faults) - 2
    assert sum(state == LeaseState.FAILED for _, state, _, _ in bay.deliveries()) >= 4, "of mails in doubt"
    copies = Counter(json.loads(body)["delivery"] for _, body in bay.hook.messages)
    assert sum(number > 1 for number in copies.values()) >= 2, "webhooks that were hit"
    bay.check()
