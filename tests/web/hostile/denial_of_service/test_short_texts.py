"""What people type is measured before it is composed: marks in a row would take the square of their number."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response
from sqlalchemy import select

from campaigns.errors import BadRequest
from campaigns.fields.short_text import short_text
from models.database.session import reading
from models.schema.accounts import Account, Team
from models.schema.campaigns import Campaign
from models.schema.roles import SiteRole
from tests.service.people import submit
from tests.service.service import Service

MARKS = "a" + "\u0327\u0301" * 40_000
"""Marks of two classes in turn, which have to be put in order: Python takes ten seconds to compose them."""

HIDDEN = ("\u202e", "\u2066", "\u200f", "\u200b", "\x1b", "\x9b", "\x00", "\ufeff", "\U000e0041")

FIELDS: dict[str, Callable[[TestClient, str], Response]] = {
    "account": lambda client, text: client.patch("/api/v1/account", json={"name": text}),
    "token": lambda client, text: client.post("/api/v1/tokens", json={"name": text}),
    "team": lambda client, text: client.post("/api/v1/teams", json={"name": text}),
    "publication name": lambda client, text: client.patch("/api/v1/teams/quay", json={"publication_name": text}),
    "affiliation": lambda client, text: client.patch("/api/v1/teams/quay", json={"affiliation": text}),
    "campaign": lambda client, text: client.post("/api/v1/campaigns", json={"name": text}),
    "title": lambda client, text: client.patch("/api/v1/campaigns/harbour", json={"title": text}),
    "description": lambda client, text: client.patch("/api/v1/campaigns/harbour", json={"description": text}),
    "metric": lambda client, text: client.patch("/api/v1/campaigns/harbour", json={"ranked_by": text}),
    "phase": lambda client, text: client.post(
        "/api/v1/campaigns/harbour/phases", json={"name": text, "kind": "open", "starts": "2026-01-01T00:00"}
    ),
    "search": lambda client, text: client.get("/api/v1/accounts", params={"search": text[:800]}),
    "page of the account": lambda client, text: client.post("/account/name", data={"name": text}),
    "page of teams": lambda client, text: client.post("/teams", data={"name": text, "affiliation": text}),
    "page of tokens": lambda client, text: client.post("/account/tokens", data={"name": text, "days": "3"}),
    "page of campaigns": lambda client, text: client.post("/campaigns", data={"name": text, "description": text}),
}


@pytest.fixture
def organiser(service: Service) -> TestClient:
    mary = service.account("mary", SiteRole.ADMINISTRATOR)
    service.team("quay", mary)
    service.campaign("harbour", organisers=(mary,))
    return service.browser(mary)


@pytest.mark.parametrize("field", FIELDS)
def test_marks_without_end_are_not_composed(organiser: TestClient, field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = _longest_normalized(monkeypatch)
    for count in (80_001, 19_000):
        answer = FIELDS[field](organiser, MARKS[:count])
        assert answer.status_code in (400, 404, 409, 422) or field in ("search", "description"), answer.text[:300]
    assert longest() <= 4 * (20_000 if "campaigns" in field or field == "description" else 200)


def test_nobody_stops_the_site_by_signing_up(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    open_to_all = Service.start(service.settings.database_url, service.stack, sign_up="open")
    longest = _longest_normalized(monkeypatch)
    answer = submit(open_to_all.client(), "/sign-up", email="eve@example.org", name=MARKS, password="long enough 4 us")
    assert answer.status_code == 422
    assert "80,001 characters" in answer.text
    for fields in ({"email": MARKS, "password": "x"}, {"email": "mary@example.org", "password": MARKS}):
        assert submit(open_to_all.client(), "/sign-in", **fields).status_code == 401
    assert longest() <= 1000
    with reading(service.engine) as connection:
        assert connection.execute(select(Account.id)).first() is None


def _longest_normalized(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How long the longest text was that was composed from now on; none that would stop the test is."""
    seen = [0]
    normalize = unicodedata.normalize

    def noted(form: Any, text: str) -> str:
        seen.append(len(text))
        return normalize(form, text[:1000])

    monkeypatch.setattr(unicodedata, "normalize", noted)
    return lambda: max(seen)


@pytest.mark.parametrize("odd", HIDDEN, ids=ascii)
def test_nothing_hides_in_what_people_type(organiser: TestClient, service: Service, odd: str) -> None:
    text = f"one{odd}two"
    for field in ("account", "token", "team", "affiliation", "campaign", "title", "description", "phase"):
        answer = FIELDS[field](organiser, text)
        assert answer.status_code == 422, (field, answer.text[:300])
        assert odd not in answer.text or odd == "\x00", field
    with reading(service.engine) as connection:
        assert connection.scalar(select(Team.affiliation)) == ""
        assert connection.execute(select(Campaign.title, Campaign.description)).one() == ("", "")


def test_what_people_type_is_nfc_and_kept() -> None:
    decomposed = unicodedata.normalize("NFD", "Nguyễn Văn Ánh 한국어")
    assert short_text(f"  {decomposed}\u2028 ", "The name", 20) == "Nguyễn Văn Ánh 한국어"
    assert short_text("a\r\n\r\n b\tc\n", "The text", 20, lines=True) == "a\n\n b\tc"
    assert short_text("क्\u200dष", "The name", 10) == "क्\u200dष", "joiners are letters of some scripts"
    assert short_text(unicodedata.normalize("NFD", "ễ" * 100), "The name", 100) == "ễ" * 100
    for text, count in (("", "0 characters"), ("x" * 101, "101"), (unicodedata.normalize("NFD", "ễ" * 101), "101")):
        with pytest.raises(BadRequest, match=rf"The name has {count}.*; 1 to 100 characters are allowed"):
            short_text(text, "The name", 100, shortest=1)
