"""Signing up, in and out, as people with browsers do it."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select, update

from models.database.session import reading, writing
from models.schema.accounts import Account, WebSession
from models.schema.base import now
from tests.service.people import PASSWORD, audited, everything_stored, submit, with_password
from tests.service.service import Service
from tests.web.pages.accounts.forms import secure, sign_in
from web.dependencies import FORM_FIELD, SESSION_COOKIE, VISITOR_COOKIE

pytestmark = pytest.mark.usefixtures("quick_hashing")


def test_signing_in_begins_a_session_of_its_own_and_signing_out_ends_it(service: Service) -> None:
    with_password(service, service.account("mary"))
    client = service.client()
    assert client.get("/account", follow_redirects=False).headers["Location"] == "/sign-in?next=%2Faccount"
    forms = (
        client.get("/sign-in?next=%2Faccount").text,
        sign_in(client, "mary@example.org", "wrong", next="/account").text,
    )
    for form in forms:
        assert '<input type="hidden" name="next" value="/account">' in form, "also after a mistake"
    answer = sign_in(client, "Mary@example.org", next="/account")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account")
    cookie = next(each for each in answer.headers.get_list("Set-Cookie") if each.startswith(SESSION_COOKIE))
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    secret = client.cookies[SESSION_COOKIE]
    assert VISITOR_COOKIE not in client.cookies
    page = client.get("/account")
    assert page.headers["Cache-Control"] == "no-store"
    assert "mary@example.org" in page.text
    assert client.get("/sign-in", follow_redirects=False).status_code == 303
    out = submit(client, "/account", "/sign-out")
    assert out.headers["Location"] == "/sign-in?note=out"
    assert SESSION_COOKIE not in client.cookies
    client.cookies.set(SESSION_COOKIE, secret)
    assert client.get("/api/v1/me").json()["signed_in"] is False
    assert secret not in everything_stored(service)
    assert [what for _, what, _ in audited(service)] == ["session.begin", "session.end"]


def test_a_session_that_somebody_else_has_planted_is_good_for_nothing(service: Service) -> None:
    mary, eve = with_password(service, service.account("mary")), service.account("eve")
    planted, client = service.session(eve), service.client()
    client.cookies.set(SESSION_COOKIE, planted, domain="testserver.local")
    page = client.get("/teams")
    token = re.search(rf'name="{FORM_FIELD}" value="([0-9a-f]+)"', page.text)
    assert token
    client.post("/sign-in", data={FORM_FIELD: token[1], "email": "mary@example.org", "password": PASSWORD})
    assert client.cookies[SESSION_COOKIE] != planted
    assert client.get("/api/v1/me").json()["email"] == "mary@example.org"
    with reading(service.engine) as connection:
        assert connection.scalars(select(WebSession.account_id)).all() == [mary]


def test_errors_at_sign_in_are_the_same_for_everybody(service: Service) -> None:
    with_password(service, service.account("mary"))
    gone = with_password(service, service.account("gone"))
    service.account("fresh")
    with writing(service.engine) as connection:
        connection.execute(update(Account).where(Account.id == gone).values(disabled_at=now()))
    pages = set()
    for name, password in (
        ("mary", "wrong"),
        ("nobody", PASSWORD),
        ("gone", PASSWORD),
        ("fresh", ""),
        ("fresh", PASSWORD),
    ):
        client = service.client()
        answer = sign_in(client, f"{name}@example.org", password)
        assert answer.status_code == 401
        assert SESSION_COOKIE not in client.cookies
        pages.add(re.sub(rf'value="[0-9a-f]{{64}}"|{name}', "", answer.text))
    assert len(pages) == 1
    assert "There is no account with this address and this password." in pages.pop()


def test_guessing_ends_with_a_time_to_wait(service: Service) -> None:
    with_password(service, service.account("mary"))
    client = service.client()
    for _ in range(service.settings.sign_in_tries):
        assert sign_in(client, "mary@example.org", "wrong").status_code == 401
    answer = sign_in(client, "mary@example.org")
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert "Wait before you try again" in answer.text


@pytest.mark.parametrize(
    "bad",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "/sign-out", "/a\nb", "/ä"],
)
def test_no_link_leads_elsewhere_through_us(service: Service, bad: str) -> None:
    mary = with_password(service, service.account("mary"))
    assert (
        service.browser(mary).get("/sign-in", params={"next": bad}, follow_redirects=False).headers["Location"] == "/"
    )
    assert sign_in(service.client(), "mary@example.org", next=bad).headers["Location"] == "/"


def test_signing_up_where_it_is_open(opened: Service) -> None:
    client = opened.client()
    wrong = submit(client, "/sign-up", email="zoe@example.org", name="Zoë", password="short")
    assert wrong.status_code == 422
    assert 'value="zoe@example.org"' in wrong.text
    assert "short" not in wrong.text.replace("shortcut", "")
    assert submit(client, "/sign-up", email="Zoe@example.org", name="Zoë", password=PASSWORD).status_code == 303
    me = client.get("/api/v1/me").json()
    assert (me["email"], me["name"], me["role"], me["verified"]) == ("zoe@example.org", "Zoë", "participant", False)
    taken = submit(opened.client(), "/sign-up", email="zoe@example.org", name="Eve", password=PASSWORD)
    assert taken.status_code == 409
    assert PASSWORD not in everything_stored(opened)


def test_an_address_does_not_make_accounts_without_end(opened: Service) -> None:
    codes = []
    for each in range(opened.settings.sign_in_tries + 1):
        fields = {"email": f"zoe{each}@example.org", "name": "Zoë", "password": PASSWORD}
        codes.append(submit(opened.client(), "/sign-up", **fields).status_code)
    assert codes == [303] * opened.settings.sign_in_tries + [429]


def test_cookies_are_of_this_host_alone_where_there_is_https(mailing: Service) -> None:
    client = secure(mailing)
    cookie = client.get("/sign-in").headers["Set-Cookie"]
    with_password(mailing, mailing.account("mary"))
    both = [cookie, next(iter(sign_in(client, "mary@example.org").headers.get_list("Set-Cookie")))]
    for each, name in zip(both, (VISITOR_COOKIE, SESSION_COOKIE), strict=True):
        assert each.startswith(f"__Host-{name}=")
        assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/"} <= {part.strip() for part in each.split(";")}
        assert "domain" not in each.lower()
