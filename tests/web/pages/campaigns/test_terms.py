"""Terms of campaigns: read, accepted for a team by name and time, and needed again once they change."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from models.database.session import reading, writing
from models.schema.accounts import Account, AuditEntry
from models.schema.campaigns import TermsAcceptance
from tests.service.port import Port, output
from tests.service.service import Service

HERE = "/campaigns/port%201"


@pytest.fixture
def port(service: Service) -> Port:
    """A campaign with terms."""
    port = Port.opened(service)
    answer = port.browser("ann").post(f"{HERE}/manage/terms", data={"terms": "# Terms\n\nBe *kind*. <script>"})
    assert "Terms saved." in answer.text
    return port


def test_a_team_submits_once_a_member_has_accepted(port: Port) -> None:
    mary, program = port.browser("mary"), port.program("mary")
    refused = port.submit(program)
    assert refused.status_code == 403
    assert "has not accepted the terms" in refused.text
    assert f'href="{HERE}/terms"' in mary.get(f"{HERE}/submit").text
    page = mary.get(f"{HERE}/terms").text
    assert '<h2 dir="auto">Terms</h2>' in page
    assert "<em>kind</em>. &lt;script&gt;" in page
    assert "Accept for harbour" in page
    answer = mary.post(f"{HERE}/terms", data={"team": "harbour", "terms_version": "1"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{HERE}/submit")
    assert port.submit(program).status_code == 201
    assert "has not accepted" not in mary.get(f"{HERE}/submit").text
    # Each team for itself.
    assert port.submit(port.program("zoe")).status_code == 403
    with reading(port.service.engine) as connection:
        entry = connection.execute(select(AuditEntry).where(AuditEntry.action == "campaign.accept_terms")).one()
        assert (entry.actor, entry.details) == ("mary@example.org", {"version": 1})
    shown = port.browser("ann").get(f"{HERE}/manage/terms").text
    assert re.search(r"harbour</bdi></th><td class=\"number\">1</td><td><bdi>mary</bdi>", shown)


def test_a_change_must_be_accepted_anew_and_an_empty_text_ends_it(port: Port) -> None:
    ann, mary, program = port.browser("ann"), port.browser("mary"), port.program("mary")
    mary.post(f"{HERE}/terms", data={"team": "harbour", "terms_version": "1"})
    # The same text is no change.
    ann.post(f"{HERE}/manage/terms", data={"terms": "# Terms\n\nBe *kind*. <script>"})
    assert port.submit(program).status_code == 201
    assert "Accept for harbour" not in mary.get(f"{HERE}/terms").text
    ann.post(f"{HERE}/manage/terms", data={"terms": "Be honest."})
    assert port.submit(program).status_code == 403
    assert "Accept for harbour" in mary.get(f"{HERE}/terms").text
    # What was read is what is accepted.
    answer = mary.post(f"{HERE}/terms", data={"team": "harbour", "terms_version": "1"})
    assert answer.status_code == 412
    assert "Be honest." in answer.text
    mary.post(f"{HERE}/terms", data={"team": "harbour", "terms_version": "2"})
    assert port.submit(program, output(2), system="keel").status_code == 201
    ann.post(f"{HERE}/manage/terms", data={"terms": " "})
    assert port.submit(port.program("zoe")).status_code == 201
    assert mary.get(f"{HERE}/terms").status_code == 404


def test_who_may_accept_and_change(port: Port) -> None:
    zoe = port.browser("zoe")
    assert zoe.post(f"{HERE}/terms", data={"team": "harbour", "terms_version": "1"}).status_code == 403
    assert zoe.post(f"{HERE}/manage/terms", data={"terms": ""}).status_code == 403
    assert zoe.get(f"{HERE}/manage/terms").status_code == 403
    visitor = port.service.client().get(f"{HERE}/terms")
    assert visitor.status_code == 200
    assert "Accept for" not in visitor.text
    answer = port.browser("ann").post(f"{HERE}/manage/terms", data={"terms": "x" * 50_001})
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.text


def test_an_acceptance_outlives_the_account(port: Port) -> None:
    port.browser("mary").post(f"{HERE}/terms", data={"team": "harbour", "terms_version": "1"})
    with writing(port.service.engine) as connection:
        connection.execute(Account.__table__.delete().where(Account.email == "mary@example.org"))
    with reading(port.service.engine) as connection:
        assert connection.execute(select(TermsAcceptance.account_id)).one() == (None,)
    assert "deleted account" in port.browser("ann").get(f"{HERE}/manage/terms").text
