"""Whose account a page is about, and what of a form is for whom: two people, two teams, two kinds of mails."""

from __future__ import annotations

import re

import pytest

from campaigns.accounts.principal import COMMAND_LINE
from models.database.session import writing
from models.schema.roles import SiteRole
from tests.service.people import PASSWORD, submit, with_password
from tests.service.service import Service
from tests.web.pages.accounts.forms import link_on, sign_in
from tests.web.pages.forms_of import form_with
from web.dependencies import FORM_FIELD, SESSION_COOKIE
from web.pages.accounts import invitations, teams
from web.pages.accounts.account import NOTES

pytestmark = pytest.mark.usefixtures("quick_hashing")


def test_a_link_to_set_a_password_is_for_the_account_it_was_asked_for(service: Service) -> None:
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    accounts = {who: service.account(who) for who in ("mary", "zoe")}
    shown = submit(root, "/accounts", f"/accounts/{accounts['mary']}", do="link")
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "no-store")
    # It is sent by hand to whom the page names: a wrong name gives the account away.
    assert "Send this link to <bdi>mary@example.org</bdi>" in shown.text
    listed = re.findall(r"<td><bdi>(\w+)@example.org</bdi>", shown.text)
    assert listed == ["mary"]
    assert submit(service.client(), link_on(shown.text), password=PASSWORD).status_code == 303
    assert sign_in(service.client(), "mary@example.org").status_code == 303
    assert sign_in(service.client(), "zoe@example.org").status_code != 303


def test_the_pages_of_teams_leave_none_out(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teams, "SHOWN", 2)
    mary = service.account("mary")
    for number in range(5):
        service.team(f"team {number}", mary)
    browser, address, found = service.browser(mary), "/teams", []
    for _ in range(3):
        text = browser.get(address).text
        found.append(re.findall(r'href="/teams/team%20(\d)"', text))
        address = next(iter(re.findall(r'href="(/teams\?[^"]*after=[^"]*)"', text)), "")
    assert ([len(each) for each in found], address) == ([2, 2, 1], "")
    assert sorted(each for page in found for each in page) == [*"01234"]


def test_who_signs_up_in_a_browser_of_somebody_else_ends_that_session(opened: Service) -> None:
    eve = opened.account("eve")
    planted = opened.session(eve)
    client = opened.client(cookies={SESSION_COOKIE: planted})
    token = re.search(rf'name="{FORM_FIELD}" value="([0-9a-f]+)"', client.get("/teams").text)
    assert token
    fields = {"email": "zoe@example.org", "name": "Zoë", "password": PASSWORD, FORM_FIELD: token[1]}
    assert client.post("/sign-up", data=fields, follow_redirects=False).headers["Location"] == "/"
    assert client.get("/api/v1/me").json()["email"] == "zoe@example.org"
    assert opened.client(cookies={SESSION_COOKIE: planted}).get("/api/v1/me").json()["signed_in"] is False


def test_forms_of_strangers_keep_what_was_filled_in_but_no_password(opened: Service) -> None:
    given = {"email": "zoe@example.org", "name": "Zoë <b>"}
    wrong = submit(opened.client(), "/sign-up", **given, password="short")
    assert wrong.status_code == 422
    kept = form_with(wrong.text, [*given, "password"])
    assert {each: kept[each] for each in given} == {each: [text] for each, text in given.items()}
    assert kept["password"] in ([], ["on"], [""])
    assert "short" not in re.findall(r'value="([^"]*)"', wrong.text)
    unknown = sign_in(opened.client(), "Zoe@example.org", "not the one", next="/teams")
    kept = form_with(unknown.text, ["email", "next"])
    assert (kept["email"], kept["next"]) == (["Zoe@example.org"], ["/teams"])
    mary = with_password(opened, opened.account("mary"))
    opened.team("harbour", mary)
    odd = {"publication_name": "Team 3", "affiliation": "Quay"}
    refused = submit(opened.browser(mary), "/teams/harbour", **odd)
    assert refused.status_code == 422
    kept = form_with(refused.text, odd)
    assert {each: kept[each] for each in odd} == {each: [text] for each, text in odd.items()}


def test_pages_with_secrets_are_not_kept_and_cancelling_leads_back(service: Service) -> None:
    mary = service.browser(service.account("mary"))
    for page in ("/account", "/account/tokens", "/account/notices", "/account/delete"):
        assert mary.get(page).headers["Cache-Control"] == "no-store", page
    assert '<a href="/account">Cancel</a>' in mary.get("/account/delete").text
    service.team("harbour", service.account("zoe"))
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    assert '<a href="/teams/harbour">Cancel</a>' in root.get("/teams/harbour/delete").text


def test_a_new_account_has_the_role_that_was_chosen_and_its_link_is_for_its_address(service: Service) -> None:
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    for role in ("viewer", "organiser", "administrator"):
        form = {"email": f" {role}@example.org ", "name": role, "role": role}
        made = submit(root, "/accounts", **form)
        assert f"Send this link to <bdi>{role}@example.org</bdi>" in made.text
        client = service.client()
        assert submit(client, link_on(made.text), password=PASSWORD).status_code == 303
        assert sign_in(client, f"{role}@example.org").status_code == 303
        assert client.get("/api/v1/me").json()["role"] == role


def test_the_pages_of_invitations_leave_none_out(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invitations, "SHOWN", 2)
    olga = service.account("olga", SiteRole.ORGANISER)
    service.campaign("regatta", organisers=(olga,))
    browser = service.browser(olga)
    for place, role in (("/invitations", "participant"), ("/campaigns/regatta/invitations", "viewer")):
        for number in range(5):
            made = submit(browser, place, email=f"m{number}@{role}.org", role=role)
        page = browser.get(link_on(made.text).partition("?")[0])
        assert page.headers["Cache-Control"] == "no-store", "its address is a secret"
        address, found = place, []
        while address and len(found) < 10:
            text = browser.get(address).text
            found.append(re.findall(rf"<td><bdi>m(\d)@{role}", text))
            address = next(iter(re.findall(rf'href="({place}\?[^"]*after=[^"]*)"', text)), "")
        assert [each for page in found for each in page] == [*"43210"], place


@pytest.mark.parametrize("note", ["refused", "unsent", "sent"])
def test_mails_that_were_not_sent_are_no_success(service: Service, note: str) -> None:
    shown = service.browser(service.account("mary")).get("/account", params={"note": note}).text
    assert NOTES[note].split(".")[0] in shown
    assert ('class="notice warning"' in shown) == (note != "sent")


def test_what_was_changed_is_told_in_full_in_the_audit_log(service: Service) -> None:
    with writing(service.engine) as connection:
        COMMAND_LINE.audit(connection, "trial", "x", names=["one", "two"], count=3, text="<b>", mixed=["a", 1])
    shown = service.browser(service.account("root", SiteRole.ADMINISTRATOR)).get("/audit").text
    for words in ("one, two", ">3<", "&lt;b&gt;", "[&#34;a&#34;, 1]"):
        assert words in shown, words
