"""Which notices somebody gets, on the page; announcements; the feed that is one's own."""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import Any
from xml.etree import ElementTree

from sqlalchemy import select

from models.database.session import reading
from models.schema.notices import Notice, NoticeAddress
from tests.service.people import submit
from tests.service.port import ADDRESS, Port
from tests.service.service import Service
from web.pages.accounts.notices import KINDS

ATOM = "{http://www.w3.org/2005/Atom}"
TEAMS = "/campaigns/port%201/manage/teams"
ANNOUNCE = "/campaigns/port%201/manage/announce"


def test_choices_are_kept_for_each_kind_and_channel(service_url: str) -> None:
    with ExitStack() as stack:
        port = Port.opened(Service.start(service_url, stack, mail_url="smtp://localhost"))
        mary = port.browser("mary")
        before = wanted(port)
        assert ("scored", "mail") not in before
        assert ("failed", "mail") in before
        saved = submit(mary, "/account/notices", wanted=["scored:mail", "scored:feed", "nonsense"])
        assert saved.headers["Location"] == "/account/notices?done=saved"
        assert wanted(port) == [("scored", "mail"), ("scored", "feed")]
        assert (
            'value="scored:mail" aria-label="Submissions of your team were scored: Mail" checked'
            in mary.get("/account/notices").text
        )


def test_a_server_without_mail_shows_no_choices_of_mails_and_keeps_them(port_anywhere: Port) -> None:
    port = port_anywhere
    mary = port.browser("mary")
    mails = [(kind, channel) for kind, channel in wanted(port) if channel == "mail"]
    assert mails
    page = mary.get("/account/notices").text
    assert ": Webhook" in page
    assert ": Mail" not in page
    submit(mary, "/account/notices", wanted=["scored:feed", "scored:mail"])
    assert sorted(wanted(port)) == sorted([*mails, ("scored", "feed")])


def test_a_webhook_that_is_wrong(port_anywhere: Port) -> None:
    port = port_anywhere
    mary = port.browser("mary")
    wrong = submit(mary, "/account/notices", webhook="http://127.0.0.1/x")
    assert wrong.status_code == 422
    assert settings(port)["webhook"] is None


def test_a_webhook_has_room_for_so_many_characters(port: Port) -> None:
    mary, longest = port.browser("mary"), "https://hooks.example.org/".ljust(500, "x")
    assert submit(mary, "/account/notices", webhook=longest).status_code == 200
    refused = submit(mary, "/account/notices", webhook=f"{longest}x")
    assert refused.status_code == 422
    assert "The address has 501 characters; 500 are allowed." in refused.text
    assert settings(port)["webhook"] == longest


def wanted(port: Port) -> list[tuple[str, str]]:
    choices: list[dict[str, Any]] = settings(port)["choices"]
    return [(each["kind"], each["channel"]) for each in choices if each["wanted"]]


def settings(port: Port, who: str = "mary") -> dict[str, Any]:
    found: dict[str, Any] = port.program(who).get("/api/v1/notices/settings").json()
    return found


def test_organisers_announce_and_those_inside_read_it_escaped(port_anywhere: Port) -> None:
    port = port_anywhere
    ann = port.browser("ann")
    empty = submit(ann, TEAMS, ANNOUNCE, announce_subject=" ", announce_text="x")
    assert empty.status_code == 422
    sent = submit(
        ann, TEAMS, ANNOUNCE, announce_subject="New <i>date</i>", announce_text="It is <script>x</script>.\nSee."
    )
    assert sent.headers["Location"] == f"{TEAMS}?done=announced"
    page = port.browser("mary").get("/campaigns/port%201").text
    assert "New &lt;i&gt;date&lt;/i&gt;" in page
    assert "&lt;script&gt;x&lt;/script&gt;.<br>See." in page
    assert "New &lt;i&gt;" not in port.service.client().get("/campaigns/port%201").text, "for those inside"
    assert port.service.client().get(f"{ADDRESS}/announcements").json()["items"] == []
    assert [each["kind"] for each in port.program("zoe").get("/api/v1/notices").json()["items"]] == ["announcement"]
    body = {"subject": "x", "text": "y"}
    assert port.program("mary").post(f"{ADDRESS}/announcements", json=body).status_code == 403
    assert port.count(Notice) == 1


def test_a_campaign_makes_so_many_announcements_a_day(service_url: str) -> None:
    text = {"subject": "x", "text": "y"}
    with ExitStack() as stack:
        port = Port.opened(Service.start(service_url, stack, announcements_per_day=2))
        port.service.campaign("another", organisers=(port.accounts["ann"],))
        addresses = [ADDRESS, ADDRESS, "/api/v1/campaigns/another", ADDRESS]
        answers = [port.program("ann").post(f"{each}/announcements", json=text).status_code for each in addresses]
    assert answers == [201, 201, 201, 429], "each campaign has its own"


def test_a_feed_has_what_its_owner_wants_and_ends_with_another_address(port: Port) -> None:
    port.program("ann").post(f"{ADDRESS}/announcements", json={"subject": "<b>One", "text": "Text & more"})
    address = str(settings(port)["feed"])
    path = address[address.index("/notices/") :]
    visitor = port.service.client()
    feed = ElementTree.fromstring(visitor.get(path).text)
    assert [each.text for each in feed.iter(f"{ATOM}title")][1:] == ["port 1: <b>One"]
    assert path not in visitor.get(path).text, "it does not tell its own address"
    off = {"choices": [{"kind": "announcement", "channel": "feed", "wanted": False}]}
    port.program("mary").patch("/api/v1/notices/settings", json=off)
    assert "One" not in visitor.get(path).text
    port.program("mary").patch("/api/v1/notices/settings", json={"renew_feed": True})
    assert visitor.get(path).status_code == 404
    assert str(settings(port)["feed"]) != address


def test_the_key_of_a_new_webhook_is_shown_once(port: Port) -> None:
    mary = port.browser("mary")
    made = submit(mary, "/account/notices", webhook="https://hooks.example.org/x")
    found = re.findall(r'shown only once: <code class="secret"[^>]*>([^<]+)</code>', made.text)
    assert (made.status_code, len(found)) == (200, 1)
    assert found[0] not in mary.get("/account/notices").text
    again = submit(mary, "/account/notices", webhook="https://hooks.example.org/x")
    assert again.headers["Location"] == "/account/notices?done=saved", "the same address keeps its key"
    assert settings(port)["webhook"] == "https://hooks.example.org/x"


def test_a_link_in_a_mail_says_which_mails_it_ends_and_ends_those(port: Port) -> None:
    everything = [{"kind": kind, "channel": "mail", "wanted": True} for kind in KINDS]
    port.program("mary").patch("/api/v1/notices/settings", json={"choices": everything})
    port.program("zoe").patch("/api/v1/notices/settings", json={"choices": everything})
    with reading(port.service.engine) as connection:
        mary = NoticeAddress.account_id == port.accounts["mary"]
        secret = connection.scalars(select(NoticeAddress.unsubscribe_secret).where(mary)).one()
    visitor, left = port.service.client(), [str(kind) for kind in KINDS]
    for kind, title in list(KINDS.items())[:3]:
        page = f"/unsubscribe/{secret}?kind={kind}"
        assert re.findall(r"of this kind: <strong>([^<]*)</strong>", visitor.get(page).text) == [title]
        assert [each for each, channel in wanted(port) if channel == "mail"] == left, "asking ends nothing"
        assert submit(visitor, page, f"/unsubscribe/{secret}", kind=str(kind)).status_code == 200
        left.remove(str(kind))
        assert [each for each, channel in wanted(port) if channel == "mail"] == left
    assert "of this kind" not in visitor.get(f"/unsubscribe/{secret}").text
    assert submit(visitor, f"/unsubscribe/{secret}").status_code == 200
    assert [each for each, channel in wanted(port) if channel == "mail"] == []
    others = [each for each in settings(port, "zoe")["choices"] if each["channel"] == "mail"]
    assert all(each["wanted"] for each in others), "each has a link of their own"
