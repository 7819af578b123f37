"""What has happened is written down once, reaches those who want it by the channels they chose, and no mail twice."""

from __future__ import annotations

import json
import smtplib
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import delete, func, insert, select, update

import runtime.mail
from models.database.session import reading, writing
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignTestSet, Correction, Declaration, Participation, Phase
from models.schema.corpus import Protocol
from models.schema.notices import Notice, NoticeChoice, NoticeDelivery
from models.schema.queue import Evaluation
from models.schema.roles import PhaseKind
from models.schema.states import EvaluationState, LeaseState
from scheduler.ingest.campaigns import NewProtocol, store_protocols
from scheduler.notices.courier import UNCERTAIN, send_notices
from scheduler.notices.plan import plan_notices
from steelyard.metrics.registry import parse_metric
from steelyard_client.vocabulary import NoticeChannel, NoticeKind
from tests.scheduler.webhooks.receiver import genuine, receiver
from tests.service.port import Port, output
from tests.service.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.service_settings import WebSettings

DAY = 86400.0


class Mailbox:
    """A mail server: what it was given, and how it fails."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.unreachable = False
        self.dies_with: type[BaseException] | None = None
        self.meanwhile: Callable[[], None] = lambda: None
        """Called when the server is reached."""


@pytest.fixture
def mailbox(monkeypatch: pytest.MonkeyPatch) -> Mailbox:
    box = Mailbox()

    class Server:
        def __enter__(self) -> Server:
            if box.unreachable:
                raise OSError("no route")
            box.meanwhile()
            return self

        def __exit__(self, *_: object) -> None: ...

        def send_message(self, message: Any, to_addrs: list[str]) -> None:
            box.mails.append((to_addrs[0], message["Subject"], message))
            if box.dies_with is not None:
                raise box.dies_with

    monkeypatch.setattr(runtime.mail, "_connected", lambda _: Server())
    return box


def settings_of(port: Port, **more: Any) -> WebSettings:
    given = {"mail_url": "smtp://localhost", "public_url": "https://mt.example.org", "webhook_private": True, **more}
    return port.service.settings.model_copy(update=given)


def planned(port: Port, *, mails: bool = True) -> int:
    with writing(port.service.engine) as connection:
        return plan_notices(connection, mails=mails)


def told(port: Port) -> list[tuple[str, str]]:
    with reading(port.service.engine) as connection:
        return [(row.kind, row.title) for row in connection.execute(select(Notice).order_by(Notice.id))]


def states(port: Port) -> list[str]:
    with reading(port.service.engine) as connection:
        return list(connection.scalars(select(NoticeDelivery.state).order_by(NoticeDelivery.id)))


def choose(port: Port, who: str, kind: NoticeKind, channel: NoticeChannel, *, wanted: bool) -> None:
    row = {"account_id": port.accounts[who], "kind": kind, "channel": channel, "wanted": wanted}
    with writing(port.service.engine) as connection:
        connection.execute(NoticeChoice.__table__.insert().values(**row))  # type: ignore[attr-defined]


def test_each_thing_is_told_once_however_often_one_looks(port_anywhere: Port) -> None:
    port = port_anywhere
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(starts_at=now() - 60, ends_at=now() + DAY / 2))
        correction = {"old_test_set_id": port.test_set, "new_test_set_id": port.test_set, "reason": "A typo."}
        connection.execute(Correction.__table__.insert().values(campaign_id=port.campaign, **correction))  # type: ignore[attr-defined]
    assert planned(port) == 3
    assert planned(port) == 0
    assert [kind for kind, _ in told(port)] == ["phase", "deadline", "correction"]
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() + DAY / 3))
    assert planned(port) == 1, "another deadline"
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() - 1))
        over = {"name": "over", "kind": PhaseKind.PUBLISHED, "starts_at": now() - 0.5}
        connection.execute(Phase.__table__.insert().values(campaign_id=port.campaign, **over))  # type: ignore[attr-defined]
    assert planned(port) == 1
    assert told(port)[-1] == ("results", "port 1: the results are published")


def test_what_is_long_past_or_far_ahead_is_not_told(port: Port) -> None:
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(starts_at=now() - 2 * DAY, ends_at=now() + 2 * DAY))
    assert planned(port) == 0
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() + DAY / 2))
        connection.execute(update(Campaign).values(frozen_at=now()))
    assert planned(port) == 0, "nothing can be submitted until then"
    with writing(port.service.engine) as connection:
        connection.execute(update(Campaign).values(frozen_at=None))
    assert planned(port) == 1
    ahead = port.service.phase(port.campaign, "next", PhaseKind.OPEN, begins=2 * DAY)
    with writing(port.service.engine) as connection:
        correction = {"old_test_set_id": port.test_set, "new_test_set_id": port.test_set, "reason": "A typo."}
        connection.execute(insert(Correction).values(campaign_id=port.campaign, **correction))
        connection.execute(update(CampaignTestSet).values(phase_id=ahead))
    assert planned(port) == 0, "only organisers know that there is this test set"
    with writing(port.service.engine) as connection:
        connection.execute(update(CampaignTestSet).values(phase_id=port.phase))
    assert planned(port) == 1


def test_submissions_of_a_team_are_told_together_and_to_the_team_alone(port_anywhere: Port) -> None:
    port = port_anywhere
    port.submit(port.program("mary"))
    port.submit(port.program("mary"), output(2), system="keel")
    port.submit(port.program("zoe"), output(3), system="lamp")
    planned(port)
    before = len(told(port))
    port.work_off()
    with writing(port.service.engine) as connection:
        of_guests = Declaration.submission_id == Evaluation.submission_id, Declaration.team == "guests"
        connection.execute(update(Evaluation).where(*of_guests).values(finished_at=Evaluation.finished_at - 60.0))
    assert planned(port) == 2, "also of who was done before the other was told"
    assert planned(port) == 0
    scored = told(port)[before:]
    assert scored == [
        ("scored", "port 1: 2 submissions of harbour were scored"),
        ("scored", "port 1: 1 submission of guests was scored"),
    ]
    seen = [each["title"] for each in port.program("mary").get("/api/v1/notices").json()["items"]]
    assert scored[0][1] in seen
    assert scored[1][1] not in seen
    port.submit(port.program("mary"), output(4), system="sail")
    assert planned(port) == 0, "it is being scored"
    port.work_off()
    assert planned(port) == 1
    assert told(port)[-1][1] == "port 1: 1 submission of harbour was scored", "of the new one alone"
    with reading(port.service.engine) as connection:
        text = connection.scalar(select(Notice.text).order_by(Notice.id.desc()).limit(1))
    assert text is not None
    assert text.startswith("- sail on quay (submission ")


def test_a_team_that_only_has_the_same_name_is_told_nothing(port: Port) -> None:
    """As that of an export of another server, in a campaign that its members must not know of."""
    port.submit(port.program("mary"))
    port.work_off()
    with writing(port.service.engine) as connection:
        there = connection.execute(select(Participation).where(Participation.campaign_id == port.campaign)).mappings()
        rows = [dict(each) for each in there]
        connection.execute(delete(Participation).where(Participation.campaign_id == port.campaign))
    planned(port)
    assert "scored" not in dict(told(port))
    with writing(port.service.engine) as connection:
        connection.execute(insert(Participation), rows)
    planned(port)
    assert "scored" in dict(told(port))


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


def test_a_webhook_of_this_network_is_refused(port: Port) -> None:
    refused = port.program("mary").patch("/api/v1/notices/settings", json={"webhook": "http://127.0.0.1:9/x"})
    assert refused.status_code == 422


def test_without_a_mail_server_there_is_nothing_to_send(port: Port) -> None:
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(starts_at=now() - 60))
        plan_notices(connection, mails=False)
        assert connection.scalar(select(func.count()).select_from(NoticeDelivery)) == 0
        assert connection.scalar(select(func.count()).select_from(Notice)) == 1


def test_a_withdrawn_submission_is_not_told(port: Port) -> None:
    port.submit(port.program("mary"))
    port.work_off()
    with writing(port.service.engine) as connection:
        connection.execute(update(Declaration).values(withdrawn_at=now()))
    planned(port)
    assert all(kind != "scored" for kind, _ in told(port))


def test_a_submission_has_failed_if_one_of_its_evaluations_has(port_anywhere: Port) -> None:
    port = port_anywhere
    failed = {"state": EvaluationState.FAILED, "finished_at": now()}
    first, second = (
        port.submit(port.program("mary"), output(number), system=f"mast {number}").json()["id"] for number in (2, 3)
    )
    port.work_off()
    with writing(port.service.engine) as connection:
        (other,) = store_protocols(connection, port.test_set, [NewProtocol(["A"], [parse_metric("ter")], 0)])
        connection.execute(update(Evaluation).where(Evaluation.submission_id == first).values(**failed))
        for submission, state in ((first, EvaluationState.DONE), (second, EvaluationState.FAILED)):
            row = {"submission_id": submission, "protocol_id": other, **failed, "state": state}
            connection.execute(insert(Evaluation).values(**row))
    planned(port)
    assert told(port)[-1] == ("failed", "port 1: 2 submissions of harbour could not be scored")


def test_what_organisers_try_on_submissions_is_not_told(port: Port) -> None:
    """A parameter sweep scores what was scored before, on no leaderboard."""
    port.submit(port.program("mary"))
    port.work_off()
    with writing(port.service.engine) as connection:
        connection.execute(update(Protocol).values(sweep=True))
    planned(port)
    assert all(kind != "scored" for kind, _ in told(port))
