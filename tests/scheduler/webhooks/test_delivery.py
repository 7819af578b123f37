"""Messages to webhooks, sent to a real server."""

from __future__ import annotations

import ipaddress
import json
import logging
import socket

import pytest
from sqlalchemy import Engine, insert, select, update

from models.database.session import make_engine, reading, writing
from models.nightly.failed_deliveries import FailedDelivery, read_failed_deliveries
from models.queue.kinds.deliveries import DELIVERY
from models.queue.lease import complete_rows
from models.queue.retention import prune_finished
from models.queue.task_kind import release
from models.schema.base import now
from models.schema.campaigns import Campaign
from models.schema.nightly import Delivery, NightlyRun, Schedule
from models.schema.states import LeaseState, NightlyRunState
from runtime.settings import Settings
from scheduler import due_tasks
from scheduler.recovery import sweep
from scheduler.webhooks import delivery as webhook
from scheduler.webhooks.address import BadWebhook, check_webhook, is_public
from scheduler.webhooks.delivery import deliver_due
from tests.analysis.nightly_runs import add_schedule
from tests.scheduler.webhooks.receiver import genuine, receiver

SECRET = "quite a secret"


@pytest.fixture
def engine(database_url: str) -> Engine:
    return make_engine(database_url)


def settings_of(**others: object) -> Settings:
    return Settings(**{"webhook_private": True, "webhook_retry_seconds": 0.0, "webhook_attempts": 3, **others})


def add_delivery(engine: Engine, url: str | None, campaign: str = "gate", **schedule: object) -> None:
    """A message that is due, about a run that failed."""
    with writing(engine) as connection:
        campaign_id = connection.execute(insert(Campaign).values(name=campaign).returning(Campaign.id)).scalar_one()
    values = {"name": "gate", "webhook": url, "webhook_secret": SECRET, **schedule}
    schedule_id = add_schedule(engine, campaign_id, **values)
    nightly_run = {"schedule_id": schedule_id, "due_at": 1.0, "date": "2027-03-01", "state": NightlyRunState.FAILED}
    with writing(engine) as connection:
        nightly_run_id = connection.execute(
            insert(NightlyRun).values(**nightly_run, reason="Nothing.").returning(NightlyRun.id)
        ).scalar_one()
        connection.execute(insert(Delivery).values(nightly_run_id=nightly_run_id))


def delivery(engine: Engine) -> tuple[str, int, str | None]:
    with reading(engine) as connection:
        return tuple(connection.execute(select(Delivery.state, Delivery.attempts, Delivery.error)).one())


def failed_deliveries(engine: Engine) -> list[FailedDelivery]:
    with reading(engine) as connection:
        return list(read_failed_deliveries(connection).values())


def test_a_message_arrives_once_and_signed(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with receiver(200) as server:
        add_delivery(engine, server.url)
        assert deliver_due(engine, settings_of()) == 1
        assert deliver_due(engine, settings_of()) == 0
    assert delivery(engine) == (LeaseState.DONE, 1, None)
    ((headers, body),) = server.messages
    assert genuine(SECRET, headers["Steelyard-Signature"], body)
    assert not genuine(SECRET, headers["Steelyard-Signature"], body + b" ")
    assert not genuine("another secret", headers["Steelyard-Signature"], body)
    assert headers["Host"] == f"127.0.0.1:{server.server_port}"
    assert headers["Content-Type"] == "application/json"
    message = json.loads(body)
    assert (message["schedule"], message["date"], message["state"]) == ("gate", "2027-03-01", "failed")
    assert (message["reason"], message["wrong"], message["verdict"]) == ("Nothing.", True, None)
    assert SECRET not in body.decode() + caplog.text


def test_messages_without_attempts_are_given_up_and_others_arrive(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer attempts are allowed than these had; and more of them wait than are looked at together."""
    monkeypatch.setattr(due_tasks, "AT_ONCE", 2)
    with receiver(200) as server:
        add_delivery(engine, server.url)
        with writing(engine) as connection:
            schedule = connection.scalar(select(NightlyRun.schedule_id))
            connection.execute(update(Delivery).values(attempts=5, error="The webhook answered with status 500."))
            for number in range(1, 5):
                nightly_run = {"schedule_id": schedule, "due_at": 1.0 + number, "date": "2027-03-01", "state": "failed"}
                key = connection.execute(insert(NightlyRun).values(nightly_run).returning(NightlyRun.id)).scalar_one()
                connection.execute(insert(Delivery).values(nightly_run_id=key, attempts=5 if number < 3 else 0))
        fewer = settings_of(webhook_attempts=4)
        assert deliver_due(engine, fewer) == 2
        assert sweep(engine, fewer) == 3
    assert len(server.messages) == 2
    with reading(engine) as connection:
        rows = connection.execute(select(Delivery.state, Delivery.attempts, Delivery.error).order_by(Delivery.id)).all()
    given_up = "No further attempt is allowed: STEELYARD_WEBHOOK_ATTEMPTS is 4."
    assert [tuple(row) for row in rows] == [
        ("failed", 5, f"The webhook answered with status 500. {given_up}"),
        ("failed", 5, given_up),
        ("failed", 5, given_up),
        ("done", 1, None),
        ("done", 1, None),
    ]


def test_a_failure_is_tried_again(engine: Engine) -> None:
    """After a while; the receiver sees one and the same delivery."""
    with receiver(500, 200) as server:
        add_delivery(engine, server.url)
        assert deliver_due(engine, settings_of(webhook_retry_seconds=3600.0)) == 1
        assert delivery(engine) == (LeaseState.PENDING, 1, "The webhook answered with status 500.")
        assert failed_deliveries(engine) == [
            FailedDelivery("2027-03-01", 1, False, "The webhook answered with status 500.")
        ]
        assert deliver_due(engine, settings_of()) == 0
        with writing(engine) as connection:
            connection.execute(update(Delivery).values(not_before=0.0))
        assert deliver_due(engine, settings_of()) == 1
    assert delivery(engine) == (LeaseState.DONE, 2, None)
    assert failed_deliveries(engine) == []
    assert len({headers["Steelyard-Delivery"] for headers, _ in server.messages}) == 1
    # The body is what is signed: a header alone could be changed.
    assert all(json.loads(body)["delivery"] == headers["Steelyard-Delivery"] for headers, body in server.messages)
    assert len(server.messages) == 2


def test_a_message_whose_webhook_was_removed_is_given_up_at_once(engine: Engine) -> None:
    with receiver(200) as server:
        add_delivery(engine, server.url)
        with writing(engine) as connection:
            connection.execute(update(Schedule).values(webhook=None))
        assert deliver_due(engine, settings_of()) == 1
        assert deliver_due(engine, settings_of()) == 0
    assert not server.messages
    assert delivery(engine) == (LeaseState.FAILED, 1, "The schedule's webhook was removed.")


def test_attempts_end(engine: Engine) -> None:
    with receiver(503) as server:
        add_delivery(engine, server.url)
        deliver_due(engine, settings_of())
    assert delivery(engine) == (LeaseState.FAILED, 3, "The webhook answered with status 503.")
    assert len(server.messages) == 3
    assert failed_deliveries(engine) == [FailedDelivery("2027-03-01", 3, True, "The webhook answered with status 503.")]


def test_delays_grow(engine: Engine) -> None:
    delays = []
    with receiver(503) as server:
        add_delivery(engine, server.url)
        for _ in range(3):
            deliver_due(engine, settings_of(webhook_retry_seconds=1000.0, webhook_attempts=9))
            with writing(engine) as connection:
                delays.append(connection.scalar(select(Delivery.not_before - now())))
                connection.execute(update(Delivery).values(not_before=0.0))
    assert [round(delay / 1000) for delay in delays] == [1, 2, 4]


def test_a_delay_has_an_end(sqlite_url: str) -> None:
    """Each attempt is held for as long as a request may take, and some more."""
    engine = make_engine(sqlite_url)
    add_delivery(engine, "https://hooks.example.org/gate")
    for attempts, delay in ((5, 16000.0), (6, 21600.0), (4000, 21600.0)):
        with writing(engine) as connection:
            held = {"state": LeaseState.RUNNING, "owner": "me", "attempts": attempts}
            connection.execute(update(Delivery).values(**held))
        settings = settings_of(webhook_retry_seconds=1000.0, webhook_attempts=5000)
        with writing(engine) as connection:
            for owner in ("another", "me"):
                released = release(connection, DELIVERY, 1, owner, "no", DELIVERY.policy(settings))
                assert released == (owner == "me")
        with reading(engine) as connection:
            waits = connection.scalar(select(Delivery.not_before - now()))
        assert waits == pytest.approx(delay, abs=60)
        assert delivery(engine) == (LeaseState.PENDING, attempts, "no")


@pytest.mark.parametrize(
    ("status", "state"),
    [(199, "pending"), (200, "done"), (299, "done"), (300, "pending"), (399, "pending"), (400, "pending")],
)
def test_which_answers_say_that_it_was_received(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, status: int, state: str
) -> None:
    """What is sent is held by who sends it, for as long as that may take."""
    engine, held = make_engine(sqlite_url), []

    def post(url: str, *_: object, seconds: float, private: bool) -> int:
        with reading(engine) as connection:
            row = connection.execute(select(Delivery, now().label("now"))).one()
        held.append((url, seconds, private, row.state, round(row.lease_until - row.now, -1)))
        return status

    monkeypatch.setattr("scheduler.webhooks.request.post", post)
    add_delivery(engine, "https://hooks.example.org/gate")
    settings = settings_of(webhook_private=False, webhook_retry_seconds=500.0, webhook_seconds=70.0)
    assert deliver_due(engine, settings) == 1
    assert held == [("https://hooks.example.org/gate", 70.0, False, "running", 100.0)]
    assert delivery(engine)[0] == state
    assert ("redirects" in (delivery(engine)[2] or "")) == (300 <= status < 400)


def test_each_schedule_reports_its_own_runs(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what another courier is about to send is left to it, however often it was tried."""
    engine, told = make_engine(sqlite_url), []

    def post(url: str, body: bytes, headers: dict[str, str], **_: object) -> int:
        told.append((url, json.loads(body)["schedule"], headers["Steelyard-Delivery"]))
        return 200

    monkeypatch.setattr("scheduler.webhooks.request.post", post)
    with writing(engine) as connection:
        campaign = connection.execute(insert(Campaign).values(name="gate").returning(Campaign.id)).scalar_one()
    for name in ("one", "two", "held"):
        values = {"name": name, "webhook": f"https://{name}.example.org/", "webhook_secret": SECRET}
        schedule = add_schedule(engine, campaign, **values)
        nightly_run = {"schedule_id": schedule, "due_at": 1.0, "date": "2027-03-01", "state": "failed"}
        with writing(engine) as connection:
            key = connection.execute(insert(NightlyRun).values(nightly_run).returning(NightlyRun.id)).scalar_one()
            connection.execute(insert(Delivery).values(nightly_run_id=key))
    with writing(engine) as connection:
        busy = {"state": "running", "owner": "x", "lease_until": now() + 60, "attempts": 9}
        connection.execute(update(Delivery).where(Delivery.id == 3).values(busy))
    sweep(engine, settings_of())
    assert deliver_due(engine, settings_of()) == 2
    assert [each[:2] for each in told] == [("https://one.example.org/", "one"), ("https://two.example.org/", "two")]
    assert len({each[2] for each in told}) == 2
    with reading(engine) as connection:
        states = list(connection.scalars(select(Delivery.state).order_by(Delivery.id)))
    assert states == ["done", "done", "running"]


def test_a_crash_between_sending_and_noting_sends_it_twice(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one identity, by which a receiver drops the second; whoever comes back late changes nothing."""

    def crash(*_: object) -> bool:
        raise KeyboardInterrupt

    with receiver(200) as server:
        add_delivery(engine, server.url)
        with monkeypatch.context() as patched:
            patched.setattr(webhook, "complete", crash)
            with pytest.raises(KeyboardInterrupt):
                deliver_due(engine, settings_of())
        assert delivery(engine)[0] == LeaseState.RUNNING
        assert len(server.messages) == 1
        assert sweep(engine, settings_of()) == deliver_due(engine, settings_of()) == 0, "its lease holds"
        with writing(engine) as connection:
            late = connection.scalar(select(Delivery.owner))
            connection.execute(update(Delivery).values(owner="the next"))
            assert not release(connection, DELIVERY, 1, late, "late", DELIVERY.policy(settings_of()))
        assert delivery(engine)[0] == LeaseState.RUNNING, "the next one has it"
        with writing(engine) as connection:
            connection.execute(update(Delivery).values(lease_until=0.0))
        assert sweep(engine, settings_of()) == 1
        assert delivery(engine) == (LeaseState.PENDING, 1, "the lease of courier expired.")
        assert deliver_due(engine, settings_of()) == 1
    assert delivery(engine)[:2] == (LeaseState.DONE, 2)
    assert len(server.messages) == 2
    assert len({headers["Steelyard-Delivery"] for headers, _ in server.messages}) == 1
    with writing(engine) as connection:
        assert not complete_rows(connection, Delivery, {1: {}}, late)
        assert not release(connection, DELIVERY, 1, late, "late", DELIVERY.policy(settings_of()))
    assert delivery(engine)[0] == LeaseState.DONE


def test_a_private_address_is_refused_and_nothing_is_sent(sqlite_url: str) -> None:
    """Unless the schedule or the installation allows it; also behind a name."""
    engine = make_engine(sqlite_url)
    with receiver(200) as server:
        add_delivery(engine, f"http://localhost:{server.server_port}/")
        deliver_due(engine, settings_of(webhook_private=False))
        state, attempts, error = delivery(engine)
        assert (state, attempts) == (LeaseState.FAILED, 1)
        assert "no public address" in error
        assert not server.messages
        with writing(engine) as connection:
            connection.execute(update(Schedule).values(webhook_private=True))
            connection.execute(update(Delivery).values(state=LeaseState.PENDING))
        deliver_due(engine, settings_of(webhook_private=False))
        assert len(server.messages) == 1


def test_the_checked_address_is_the_one_that_is_called(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads elsewhere when it is asked again leads nowhere: it is asked once."""
    engine, asked, called = make_engine(sqlite_url), [], []

    def answer(host: str, port: int, *_: object, **__: object) -> list[object]:
        asked.append(host)
        address = "93.184.215.14" if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    def connect(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        called.append(address)
        raise ConnectionRefusedError("refused")

    add_delivery(engine, "https://hooks.example.org/gate")
    monkeypatch.setattr(socket, "getaddrinfo", answer)
    monkeypatch.setattr(socket, "create_connection", connect)
    deliver_due(engine, settings_of(webhook_private=False, webhook_attempts=1))
    assert asked == ["hooks.example.org"]
    assert called == [("93.184.215.14", 443)]
    assert "cannot be reached" in delivery(engine)[2]
    # One public and one private address: refused as a whole.
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, **_: answer(host, port) + answer(host, port))
    with writing(engine) as connection:
        connection.execute(update(Delivery).values(state=LeaseState.PENDING, attempts=0))
    asked.clear()
    deliver_due(engine, settings_of(webhook_private=False))
    assert "127.0.0.1, which is no public address" in delivery(engine)[2]
    assert len(called) == 1


def test_redirects_are_not_followed(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    with receiver(200) as inside, receiver(307, location=inside.url) as server:
        add_delivery(engine, server.url)
        deliver_due(engine, settings_of(webhook_attempts=1))
        assert len(server.messages) == 1
        assert not inside.messages
    assert delivery(engine) == (
        *(LeaseState.FAILED, 1), "The webhook answered with status 307; redirects are not followed.",
    )  # fmt: skip


def test_a_receiver_that_drips_is_given_up(sqlite_url: str) -> None:
    """Each of its bytes comes in time, but the whole answer does not."""
    engine = make_engine(sqlite_url)
    with receiver(silent=True) as server:
        add_delivery(engine, server.url)
        deliver_due(engine, settings_of(webhook_attempts=1, webhook_seconds=2.0))
        assert server.dripped > 1
    assert delivery(engine) == (LeaseState.FAILED, 1, "The webhook did not answer within 2 s.")


def test_nobody_listens_and_nobody_wants_to_know(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    with receiver(200) as server:
        url = server.url
    add_delivery(engine, url)
    deliver_due(engine, settings_of(webhook_attempts=1))
    assert delivery(engine)[2].startswith("The webhook cannot be reached: ")
    with writing(engine) as connection:
        connection.execute(update(Schedule).values(webhook=None))
        connection.execute(update(Delivery).values(state=LeaseState.PENDING, attempts=0))
    deliver_due(engine, settings_of())
    assert delivery(engine) == (LeaseState.FAILED, 1, "The schedule's webhook was removed.")


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),
        *("::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1", "fec0::1", "::7f00:1"),
        *("::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1"),
        *("2002:7f00:1::", "2001:0:1::1"),
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.org", "ftp://example.org/", "file:///etc/passwd", "https://", "https:///path", "//example.org"),
        *("https://user:word@example.org/", "https://example.org:0/", "https://example.org:99999/"),
        *("https://exa mple.org/", "https://example.org/\x00", "http://127.0.0.1/", "http://[::1]:80/"),
        *("http://[::ffff:10.0.0.1]/", "gopher://example.org"),
    ],
)
def test_addresses_that_cannot_be_used(url: str) -> None:
    with pytest.raises(BadWebhook):
        check_webhook(url, private=False)


def test_addresses_that_can_be_used() -> None:
    assert check_webhook("https://hooks.example.org/gate?x=1", private=False).host == "hooks.example.org"
    assert check_webhook("http://127.0.0.1:8000/", private=True).port == 8000
    assert check_webhook("https://bücher.example/", private=False).raw_host == b"xn--bcher-kva.example"


def test_a_failed_message_is_kept_until_a_later_one_of_its_schedule(engine: Engine) -> None:
    """The pages show it as long as it is the last. Those that arrived, and those of other schedules, save none."""
    for name in ("gate", "other"):
        add_delivery(engine, "http://127.0.0.1:1/", name=name, campaign=name)
    old = {"ended_at": 1.0, "attempts": 3, "error": "refused"}

    def kept() -> list[tuple[int, str]]:
        with writing(engine) as connection:
            prune_finished(connection, 60.0, 100)
            return [tuple(row) for row in connection.execute(select(Delivery.id, Delivery.state).order_by(Delivery.id))]

    with writing(engine) as connection:
        connection.execute(update(Delivery).values(state=LeaseState.FAILED, **old))
    assert kept() == [(1, "failed"), (2, "failed")]
    with writing(engine) as connection:
        run = {"schedule_id": 1, "due_at": 2.0, "date": "2027-03-02", "state": NightlyRunState.FAILED}
        later = connection.execute(insert(NightlyRun).values(**run).returning(NightlyRun.id)).scalar_one()
        connection.execute(insert(Delivery).values(nightly_run_id=later, state=LeaseState.DONE, **old))
    assert kept() == [(2, "failed")]
