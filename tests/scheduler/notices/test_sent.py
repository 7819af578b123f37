"""Notices reach those who want them by the channels they chose, and no mail goes out twice."""

from __future__ import annotations

import json
import smtplib
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select, update

from models.database.session import reading, writing
from models.schema.base import now
from models.schema.campaigns import Phase
from models.schema.notices import Notice, NoticeDelivery
from models.schema.states import LeaseState
from runtime.mail import NO_MAILS, REFUSED
from scheduler.notices.courier import UNCERTAIN, send_notices
from scheduler.notices.plan import plan_notices
from steelyard_client.vocabulary import NoticeChannel, NoticeKind
from tests.scheduler.notices.mailbox import Mailbox, choose, settings_of, states
from tests.scheduler.notices.mailbox import mailbox as mailbox
from tests.scheduler.webhooks.receiver import genuine, receiver
from tests.service.port import Port
from tests.service.service import Service

if TYPE_CHECKING:
    from runtime.service_settings import WebSettings

DAY = 86400.0


def test_mails_go_to_those_who_want_them(port_anywhere: Port, mailbox: Mailbox) -> None:
    port = port_anywhere
    choose(port, "zoe", NoticeKind.ANNOUNCEMENT, NoticeChannel.MAIL, wanted=False)
    sam, olga = port.service.account("sam"), port.service.account("olga")
    port.service.campaign("another", organisers=(olga,), teams=(port.service.team("strangers", sam),))
    announce(port)
    for path in ("notices", "campaigns/another/announcements"):
        for stranger in (sam, olga):
            assert port.service.program(stranger).get(f"/api/v1/{path}").json()["items"] == []
    assert send_notices(port.service.engine, settings_of(port)) == 2
    to = {address: message for address, _, message in mailbox.mails}
    assert set(to) == {"ann@example.org", "mary@example.org"}
    message = to["mary@example.org"]
    assert message["Subject"] == "port 1: New deadline"
    body = message.get_content()
    assert body.startswith("It is <b>Friday</b>.")
    assert "https://mt.example.org/campaigns/port%201" in body
    leave = message["List-Unsubscribe"].strip("<>")
    assert leave in body
    assert states(port) == [LeaseState.DONE, LeaseState.DONE]
    # The link works without signing in, asks first, and ends mails of this kind for this person alone.
    path = leave.removeprefix("https://mt.example.org")
    visitor = port.service.client()
    assert "No more mails of this kind" in visitor.get(path).text
    from tests.service.people import submit

    assert "no more of these mails" in submit(visitor, path, path.partition("?")[0], kind="announcement").text
    choices = port.program("mary").get("/api/v1/notices/settings").json()["choices"]
    assert [each["kind"] for each in choices if each["channel"] == "mail" and each["wanted"]].count("failed") == 1
    announce(port)
    assert send_notices(port.service.engine, settings_of(port)) == 1
    assert mailbox.mails[-1][0] == "ann@example.org"
    assert visitor.get("/unsubscribe/guessed").status_code == 404


def announce(port: Port) -> None:
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.notices.announcements import announce as write

    with writing(port.service.engine) as connection:
        write(connection, settings_of(port), COMMAND_LINE, "port 1", "New deadline", "It is <b>Friday</b>.")


@pytest.mark.parametrize("died", [KeyboardInterrupt, SystemExit])
def test_a_sender_that_dies_while_a_mail_is_sent_sends_it_no_second_time(
    port_anywhere: Port, mailbox: Mailbox, died: type[BaseException]
) -> None:
    port = port_anywhere
    for who in ("mary", "zoe"):
        choose(port, who, NoticeKind.ANNOUNCEMENT, NoticeChannel.MAIL, wanted=False)
    announce(port)
    mailbox.dies_with = died
    with pytest.raises(died):
        send_notices(port.service.engine, settings_of(port))
    mailbox.dies_with = None
    assert states(port) == [LeaseState.RUNNING]
    with writing(port.service.engine) as connection:
        connection.execute(update(NoticeDelivery).values(lease_until=now() - 1))
    from models.queue.kinds.notice_deliveries import NOTICE_DELIVERY

    with writing(port.service.engine) as connection:
        overdue(connection, NOTICE_DELIVERY, settings_of(port))
    with writing(port.service.engine) as connection:
        connection.execute(update(NoticeDelivery).values(not_before=0.0))
    assert send_notices(port.service.engine, settings_of(port)) == 1
    assert len(mailbox.mails) == 1
    with reading(port.service.engine) as connection:
        assert connection.scalar(select(NoticeDelivery.error)) == UNCERTAIN
    assert states(port) == [LeaseState.FAILED]


def overdue(connection: Any, kind: Any, settings: WebSettings) -> None:
    from models.queue.task_kind import release

    row = connection.execute(select(NoticeDelivery)).one()
    assert release(connection, kind, row.id, row.owner, "its lease ended", kind.policy(settings))


def test_two_senders_at_once_send_one_mail_each(port_anywhere: Port, mailbox: Mailbox) -> None:
    port = port_anywhere
    announce(port)
    both = [threading.Thread(target=send_notices, args=(port.service.engine, settings_of(port))) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert sorted(to for to, _, _ in mailbox.mails) == ["ann@example.org", "mary@example.org", "zoe@example.org"]


def test_who_has_lost_a_notice_to_another_sender_sends_nothing(port: Port, mailbox: Mailbox) -> None:
    announce(port)

    def taken_over() -> None:
        with writing(port.service.engine) as connection:
            connection.execute(update(NoticeDelivery).values(owner="another"))

    mailbox.meanwhile = taken_over
    send_notices(port.service.engine, settings_of(port))
    assert mailbox.mails == []


def test_a_mail_server_that_is_not_reached_is_tried_again(port: Port, mailbox: Mailbox) -> None:
    announce(port)
    mailbox.unreachable = True
    assert send_notices(port.service.engine, settings_of(port)) == 3
    assert set(states(port)) == {LeaseState.PENDING}
    assert not mailbox.mails
    mailbox.unreachable = False
    assert send_notices(port.service.engine, settings_of(port)) == 0, "not at once"
    with writing(port.service.engine) as connection:
        connection.execute(update(NoticeDelivery).values(not_before=0.0))
    assert send_notices(port.service.engine, settings_of(port)) == 3
    assert len(mailbox.mails) == 3


def test_a_connection_that_breaks_while_a_mail_is_given_over_is_no_reason_for_another(
    port: Port, mailbox: Mailbox
) -> None:
    announce(port)
    mailbox.dies_with = smtplib.SMTPServerDisconnected
    send_notices(port.service.engine, settings_of(port))
    assert set(states(port)) == {LeaseState.FAILED}
    assert len(mailbox.mails) == 3
    mailbox.dies_with = None
    announce(port)
    with writing(port.service.engine) as connection:
        connection.execute(update(Notice).values(created_at=Notice.created_at - DAY))
    send_notices(port.service.engine, settings_of(port))
    assert len(mailbox.mails) == 3, "a day late it helps nobody"
    assert set(states(port)) == {LeaseState.FAILED}


@pytest.mark.parametrize(
    ("dies_with", "mail_url", "reason"),
    [
        (smtplib.SMTPRecipientsRefused({}), "smtp://localhost", REFUSED),
        (None, None, NO_MAILS),
        (smtplib.SMTPServerDisconnected(), "smtp://localhost", UNCERTAIN),
    ],
)
def test_what_another_attempt_would_not_mend_ends_at_once_with_its_own_reason(
    port: Port, mailbox: Mailbox, dies_with: Any, mail_url: str | None, reason: str
) -> None:
    announce(port)
    mailbox.dies_with = dies_with
    assert send_notices(port.service.engine, settings_of(port, mail_url=mail_url)) == 3
    assert set(states(port)) == {LeaseState.FAILED}
    with reading(port.service.engine) as connection:
        assert {*connection.scalars(select(NoticeDelivery.error))} == {reason}


def test_nobody_gets_more_mails_in_a_day_than_the_limit(port: Port, mailbox: Mailbox) -> None:
    for _ in range(4):
        announce(port)
    send_notices(port.service.engine, settings_of(port, notice_mails_per_day=2))
    assert sorted(to for to, _, _ in mailbox.mails) == [
        f"{who}@example.org" for who in ("ann", "mary", "zoe") for _ in "12"
    ]
    assert len(port.program("mary").get("/api/v1/notices").json()["items"]) == 4, "all are on the page"


def test_who_is_disabled_or_changes_their_mind_gets_nothing_that_waits(port: Port, mailbox: Mailbox) -> None:
    announce(port)
    choose(port, "mary", NoticeKind.ANNOUNCEMENT, NoticeChannel.MAIL, wanted=False)
    from models.schema.accounts import Account

    with writing(port.service.engine) as connection:
        connection.execute(update(Account).where(Account.id == port.accounts["zoe"]).values(disabled_at=now()))
    send_notices(port.service.engine, settings_of(port))
    assert [to for to, _, _ in mailbox.mails] == ["ann@example.org"]
    assert sorted(states(port)) == ["cancelled", "cancelled", "done"]
    announce(port)
    with writing(port.service.engine) as connection:
        connection.execute(update(Account).values(disabled_at=None, verified_at=None))
    send_notices(port.service.engine, settings_of(port))
    assert len(mailbox.mails) == 1, "nobody has shown that the address is theirs"


def test_a_webhook_gets_signed_json(service_url: str, mailbox: Mailbox) -> None:
    with ExitStack() as stack, receiver(503, 204) as hook:
        port = Port.opened(Service.start(service_url, stack, webhook_private=True))
        changed = port.program("mary").patch("/api/v1/notices/settings", json={"webhook": hook.url})
        secret = changed.json()["webhook_secret"]
        assert port.program("mary").get("/api/v1/notices/settings").json()["webhook_secret"] is None, "shown once"
        choose(port, "mary", NoticeKind.ANNOUNCEMENT, NoticeChannel.MAIL, wanted=False)
        announce(port)
        send_notices(port.service.engine, settings_of(port))
        with writing(port.service.engine) as connection:
            connection.execute(update(NoticeDelivery).values(not_before=0.0))
        send_notices(port.service.engine, settings_of(port))
        (_, first), (headers, body) = hook.messages
    payload = json.loads(body)
    assert payload["delivery"] == json.loads(first)["delivery"] == headers["Steelyard-Delivery"]
    assert (payload["kind"], payload["campaign"], payload["text"]) == ("announcement", "port 1", "It is <b>Friday</b>.")
    assert genuine(secret, headers["Steelyard-Signature"], body)
    assert len(mailbox.mails) == 2, "to the others"


def test_each_gets_it_at_their_own_address_signed_with_their_own_secret(service_url: str, mailbox: Mailbox) -> None:
    """Two of three people have a webhook; by mail nobody wants it."""
    with ExitStack() as stack, receiver(204) as marys, receiver(204) as zoes:
        port = Port.opened(Service.start(service_url, stack, webhook_private=True))
        secrets = {}
        for who, hook in (("mary", marys), ("zoe", zoes)):
            changed = port.program(who).patch("/api/v1/notices/settings", json={"webhook": hook.url})
            secrets[who] = changed.json()["webhook_secret"]
        for who in ("mary", "zoe", "ann"):
            choose(port, who, NoticeKind.ANNOUNCEMENT, NoticeChannel.MAIL, wanted=False)
        announce(port)
        assert send_notices(port.service.engine, settings_of(port)) == 2
    assert mailbox.mails == []
    for who, hook in (("mary", marys), ("zoe", zoes)):
        ((headers, body),) = hook.messages
        assert [genuine(secrets[each], headers["Steelyard-Signature"], body) for each in ("mary", "zoe")] == [
            who == "mary",
            who == "zoe",
        ]


def test_a_metric_that_failed_is_told_by_mail_and_webhook_alike(service_url: str, mailbox: Mailbox) -> None:
    with ExitStack() as stack, receiver(204) as hook:
        port = Port.opened(Service.start(service_url, stack, webhook_private=True))
        port.program("mary").patch("/api/v1/notices/settings", json={"webhook": hook.url})
        number = port.submit(port.program("mary")).json()["id"]
        port.work_off()
        port.fail_metric(number, "no words")
        with writing(port.service.engine) as connection:
            connection.execute(update(Phase).values(starts_at=0.0, ends_at=None))
            plan_notices(connection, mails=True)
        send_notices(port.service.engine, settings_of(port))
        (seen,) = port.program("mary").get("/api/v1/notices").json()["items"]
    ((_, body),) = hook.messages
    ((address, subject, message),) = mailbox.mails
    assert address == "mary@example.org"
    title = "port 1: chrF2 failed for 1 submission of harbour"
    assert {seen["title"], json.loads(body)["title"], subject} == {title}
    for text in (seen["text"], json.loads(body)["text"], message.get_content()):
        assert text.startswith(f"- mast on quay (submission {number}): scored, but chrF2 failed")


def test_a_webhook_of_this_network_is_refused(port: Port) -> None:
    refused = port.program("mary").patch("/api/v1/notices/settings", json={"webhook": "http://127.0.0.1:9/x"})
    assert refused.status_code == 422


def test_without_a_mail_server_there_is_nothing_to_send(port: Port) -> None:
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(starts_at=now() - 60))
        plan_notices(connection, mails=False)
        assert connection.scalar(select(func.count()).select_from(NoticeDelivery)) == 0
        assert connection.scalar(select(func.count()).select_from(Notice)) == 1
