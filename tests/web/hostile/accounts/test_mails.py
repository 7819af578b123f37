"""Mails go to whom they say, as many as somebody may cause, in words of ours."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from campaigns.accounts.accounts import normalize_email
from campaigns.errors import BadRequest
from models.database.session import reading, writing
from models.schema.accounts import Account
from models.schema.roles import SiteRole
from runtime.mail import Email, send_email
from tests.service.people import PASSWORD, submit, with_password
from tests.service.postman import Postman
from tests.service.service import Service

ODD = (
    "=?x?q?collab=40psres.net=3e=00?=foo@company.org",
    "=?utf-8?q?a=0ab?=@company.org",
    "=?x?b?YUBi?=@company.org",
    "a=?b@company.org",
    '"a b"@company.org',
    '"eve@evil.example"@company.org',
    "eve(company)@evil.example",
    "eve@(company.org)evil.example",
    "eve@[192.0.2.1]",
    "eve@[IPv6:2001:db8::1]",
    "eve@192.0.2.1",
    "eve@3221225985",
    "eve@0xc0000201",
    "eve%evil.example@company.org",
    "evil.example!eve@company.org",
    "@evil.example:eve@company.org",
    "eve@company.org,eve@evil.example",
    "<eve@company.org>",
    "Eve <eve@company.org>",
    "eve@company.org\r\nBcc: x@evil.example",
    "eve\x00@company.org",
    "eve@company.org\u202e",
    "eve@comp\u200bany..org",
    "eve@evil.example@company.org",
    "éve@company.org",
    ".eve@company.org",
    "eve.@company.org",
    "eve@company_.org",
    "eve@-company.org",
    "eve@company.org.",
    "eve@",
    "@company.org",
    f"{'e' * 65}@company.org",
    f"eve@{'a.' * 130}org",
)


@pytest.mark.parametrize("given", ODD, ids=ascii)
def test_what_other_programs_take_for_another_address_is_none(given: str) -> None:
    with pytest.raises(BadRequest, match="is not an e-mail address"):
        normalize_email(given)


def test_an_address_is_folded_and_its_domain_is_what_the_resolver_asks_for() -> None:
    same = {"Mary@Company.ORG": "mary@company.org", " a.b+c_d@x-y.example ": "a.b+c_d@x-y.example"}
    same |= {
        "mary@Bücher.example": "mary@xn--bcher-kva.example",
        "mary@XN--BCHER-KVA.example": "mary@xn--bcher-kva.example",
    }
    same |= {"mary@ｃｏｍｐａｎｙ.org": "mary@company.org", "o'neil@localhost": "o'neil@localhost"}
    for given, stored in same.items():
        assert normalize_email(given) == stored
        assert normalize_email(stored) == stored


def test_the_mail_server_is_given_the_address_itself(mailing: Service, postman: Postman) -> None:
    # Not by any door of ours any more; but rows may be older than the door.
    for odd in ODD[:3]:
        fault = send_email(mailing.settings, Email(odd, "Hello", "Hello"))
        assert "psres" not in str(postman.recipients)
        assert fault or postman.recipients[-1] == [odd]
    assert send_email(mailing.settings, Email("mary@company.org", "Hello", "Hello")) == ""
    assert postman.recipients[-1] == ["mary@company.org"]


@pytest.fixture
def lead(mailing: Service) -> TestClient:
    mary = mailing.account("mary")
    mailing.team("harbour", mary)
    mailing.team("quay", mary)
    return mailing.program(mary)


def limited(service: Service, **settings: Any) -> None:
    state = service.app.state.steelyard
    state.settings = state.settings.model_copy(update=settings)


def invited(client: TestClient, email: str = "", **values: Any) -> Any:
    return client.post("/api/v1/invitations", json={"email": email, "team": "harbour", **values})


def test_invitations_are_counted_for_who_makes_them_and_for_who_gets_them(
    mailing: Service, postman: Postman, lead: TestClient
) -> None:
    limited(mailing, invitations_per_day=5)
    assert [invited(lead, "zoe@example.org").status_code for _ in range(4)] == [201, 201, 201, 429]
    assert [invited(lead, f"zoe{n}@example.org").status_code for n in range(3)] == [201, 201, 429]
    assert len(postman.mails) == 5
    answer = invited(lead, "yet@example.org")
    assert (answer.json()["error"]["code"], "Retry-After" in answer.headers) == ("too_many", True)
    assert invited(lead, "yet@example.org", team="quay").status_code == 429, "another team of the same account"
    assert invited(lead).status_code == 201, "a link to hand on is no mail"
    other = mailing.account("zoe")
    mailing.team("pier", other)
    assert invited(mailing.program(other), "zoe@example.org", team="pier").status_code == 429, "the same mailbox"
    assert len(postman.mails) == 5


def test_a_team_sends_no_more_for_having_many_leads(mailing: Service, postman: Postman, lead: TestClient) -> None:
    limited(mailing, invitations_per_day=3)
    for n in range(3):
        assert invited(lead, f"a{n}@example.org").status_code == 201
    joan = mailing.account("joan")
    mary = TestClient(mailing.app, base_url="https://mt.example.org", headers=dict(lead.headers))
    link = mary.post("/api/v1/invitations", json={"team": "harbour", "team_role": "lead"}).json()["link"]
    second = mailing.program(joan)
    assert second.post("/api/v1/invitations/accept", json={"secret": link.rpartition("/")[2]}).status_code == 200
    assert invited(second, "b@example.org").status_code == 429
    assert len(postman.mails) == 3


def test_who_has_not_confirmed_his_address_sends_nobody_a_mail(
    mailing: Service, postman: Postman, lead: TestClient
) -> None:
    with writing(mailing.engine) as connection:
        connection.execute(update(Account).values(verified_at=None))
    answer = invited(lead, "zoe@example.org")
    assert answer.status_code == 403
    assert "Confirm your own address" in answer.text
    assert not postman.mails
    assert invited(lead).status_code == 201


def test_what_people_call_themselves_is_quoted_and_links_nowhere(mailing: Service, postman: Postman) -> None:
    bait = 'Your account is locked" go to https://evil.example/x or www.evil.example now, mail eve@evil.example!'
    eve = mailing.account("eve", SiteRole.ORGANISER)
    campaign = mailing.campaign("harbour", organisers=(eve,), title=bait)
    with writing(mailing.engine) as connection:
        connection.execute(update(Account).where(Account.id == eve).values(name=bait[:100]))
    assert campaign
    client = mailing.program(eve)
    answer = client.post("/api/v1/invitations", json={"email": "zoe@example.org", "campaign": "harbour"})
    assert answer.json()["mailed"] is True
    text = postman.last()
    assert "evil.example" not in text
    assert "eve@" not in text
    assert re.findall(r"https?://\S+", text) == ["https://mt.example.org", f"https://mt.example.org{postman.link()}"]
    assert text.startswith('The account "Your account is locked\' go to https: / /..." invites you to participate in')
    assert postman.mails[-1]["Subject"] == "Invitation to Steelyard"
    assert max(len(line) for line in text.splitlines()) < 200


def test_what_was_not_delivered_is_said_to_be_so(mailing: Service, postman: Postman, lead: TestClient) -> None:
    good = invited(lead, "zoe@example.org").json()
    assert (good["mailed"], good["not_mailed"]) == (True, "")
    postman.refuses = True
    bad = invited(lead, "nobody@example.org").json()
    assert bad["mailed"] is False
    assert "mail server" in bad["not_mailed"]
    mary = mailing.stack.enter_context(TestClient(mailing.app, base_url="https://mt.example.org"))
    with reading(mailing.engine) as connection:
        with_password(mailing, connection.scalar(select(Account.id).where(Account.name == "mary")) or 0)
    submit(mary, "/sign-in", email="mary@example.org", password=PASSWORD)
    page = submit(mary, "/teams/harbour", "/teams/harbour/invitations", email="none@example.org", role="member")
    assert "no e-mail was sent" in page.text
    with writing(mailing.engine) as connection:
        connection.execute(update(Account).values(verified_at=None))
    sent = submit(mary, "/account", "/account/confirmation")
    assert "could not be sent" in mary.get(sent.headers["Location"]).text
    assert lead.post("/api/v1/account/confirmation").status_code == 503


def test_who_changes_his_address_learns_whether_it_was_written_to(mailing: Service, postman: Postman) -> None:
    here = mailing.program(with_password(mailing, mailing.account("mary")))

    def changed(**values: str) -> tuple[bool, str]:
        answer = here.patch("/api/v1/account", json={"password": PASSWORD, **values})
        assert answer.status_code == 200, answer.text
        return answer.json()["mailed"], answer.json()["not_mailed"]

    assert changed(email="m@example.org") == (True, "")
    assert postman.recipients[-1] == ["m@example.org"]
    assert changed(email="m@example.org", name="M") == (False, ""), "the address is the one that it was"
    postman.refuses = True
    mailed, why = changed(email="mm@example.org")
    assert not mailed
    assert "mail server" in why
    limited(mailing, mail_url=None)
    assert changed(email="mmm@example.org") == (False, "This server does not send e-mail.")


def test_nobody_without_an_account_has_us_write_to_many(mailing: Service, postman: Postman) -> None:
    limited(mailing, mails_per_network=4)
    client = mailing.stack.enter_context(TestClient(mailing.app, base_url="https://mt.example.org"))
    for n in range(6):
        mailing.account(f"mary{n}")
    answers = [submit(client, "/password/forgotten", email=f"mary{n}@example.org").status_code for n in range(6)]
    assert answers == [303, 303, 303, 303, 429, 429]
    assert submit(client, "/sign-up", email="new@example.org", name="New", password=PASSWORD).status_code == 429
    assert len(postman.mails) == 4


def test_the_page_of_a_new_account_says_that_no_mail_went_out(mailing: Service, postman: Postman) -> None:
    page = "A confirmation link was sent.", "No confirmation link is pending"
    for number, refuses in enumerate((False, True)):
        postman.refuses = refuses
        address = f"new{number}@example.org"
        browser = mailing.stack.enter_context(TestClient(mailing.app, base_url="https://mt.example.org"))
        answer = submit(browser, "/sign-up", email=address, name="New", password=PASSWORD)
        # Nobody learns from the answer whether there is an account, or a mailbox.
        assert answer.headers["Location"] == "/sign-in?note=mail"
        submit(browser, "/sign-in", email=address, password=PASSWORD)
        account = browser.get("/account").text
        assert [each in account for each in page] == [not refuses, refuses]
        if refuses:
            asked = submit(browser, "/account", "/account/confirmation")
            told = browser.get(asked.headers["Location"]).text
            assert "No e-mail was sent. " in told or "could not be sent" in told
            assert page[1] in told
