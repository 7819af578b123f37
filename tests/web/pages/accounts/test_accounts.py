"""Pages of accounts, teams, tokens and the audit log."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from campaigns.accounts.principal import COMMAND_LINE
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from models.schema.roles import Scope, SiteRole
from tests.service.people import PASSWORD, submit, with_password
from tests.service.service import Service
from tests.web.pages.accounts.forms import link_on, sign_in
from web.pages.accounts import audit

pytestmark = pytest.mark.usefixtures("quick_hashing")


def test_name_address_and_password_are_changed_on_the_page(service: Service) -> None:
    mary = with_password(service, service.account("mary"))
    here, there = service.browser(mary), service.browser(mary)
    assert submit(here, "/account", "/account/name", name="").status_code == 422
    assert submit(here, "/account", "/account/name", name="Mary Q.").headers["Location"] == "/account?note=name"
    wrong = submit(here, "/account", "/account/email", email="m@example.org", own_password="wrong")
    assert wrong.status_code == 422
    assert 'value="m@example.org"' in wrong.text
    done = submit(here, "/account", "/account/email", email="m@example.org", own_password=PASSWORD)
    assert done.headers["Location"] == "/account?note=email"
    change = {"old_password": PASSWORD, "new_password": "another horse battery"}
    assert submit(here, "/account", "/account/password", **change).headers["Location"] == "/account?note=password"
    assert there.get("/api/v1/me").json()["signed_in"] is False
    shown = here.get("/account?note=password").text
    assert "All other browsers were signed out" in shown
    assert "Mary Q." in shown
    answer = submit(here, "/account", "/account/sign-out-everywhere")
    assert here.get("/api/v1/me").json()["signed_in"] is False
    # The browser forgets its session, too.
    assert re.search(r'="?"?; .*Max-Age=0', answer.headers["Set-Cookie"])
    with reading(service.engine) as connection:
        last = connection.execute(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert last is not None
    assert (last.action, last.account_id, last.details) == ("session.end_all", mary, {"sessions": 1})


def test_a_token_is_made_on_the_page_and_shown_once(service: Service) -> None:
    mary = service.account("mary")
    client = service.browser(mary)
    wrong = submit(client, "/account/tokens", name="laptop", days="many", scopes=["read"])
    assert wrong.status_code == 422
    assert 'value="laptop"' in wrong.text
    assert submit(client, "/account/tokens", name="laptop", days="7").status_code == 422
    longest = service.settings.token_days
    for days in (0, longest + 1, 10**8):
        assert submit(client, "/account/tokens", name="laptop", days=str(days), scopes=["read"]).status_code == 422
    shown = submit(client, "/account/tokens", name="laptop", days=str(longest), scopes=["read", "submit"])
    found = re.search(r"sty_[\w-]{43}", shown.text)
    assert found
    assert shown.headers["Cache-Control"] == "no-store"
    assert found[0] not in client.get("/account/tokens").text
    program = service.client(headers={"Authorization": f"Bearer {found[0]}"})
    assert program.get("/api/v1/me").json()["scopes"] == ["read", "submit"]
    revoke = re.search(r'action="(/account/tokens/\d+/revoke)"', client.get("/account/tokens").text)
    assert revoke
    assert submit(service.browser(service.account("eve")), "/account/tokens", revoke[1]).status_code == 404
    submit(client, "/account/tokens", revoke[1])
    assert program.get("/api/v1/me").status_code == 401
    # A token makes no tokens, on pages neither.
    other = service.program(mary, Scope.ORGANISE)
    assert other.post("/account/tokens", data={"name": "x", "days": "7", "scopes": "read"}).status_code == 403


def test_a_team_on_its_page(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    lead = service.browser(mary)
    assert submit(lead, "/teams", name="a/b").status_code == 422
    assert (
        submit(lead, "/teams", name="harbour", affiliation="Port").headers["Location"] == "/teams/harbour?note=created"
    )
    assert submit(service.browser(zoe), "/teams", name="Harbour").status_code == 409
    link = link_on(submit(lead, "/teams/harbour", "/teams/harbour/invitations", role="member").text)
    member = service.browser(zoe)
    submit(member, link)
    page = member.get("/teams/harbour").text
    assert "Leave" in page
    assert "Invite a member" not in page
    own, other = f"/teams/harbour/members/{mary}", f"/teams/harbour/members/{zoe}"
    assert submit(member, "/teams/harbour", own, do="remove").status_code == 403
    assert submit(lead, "/teams/harbour", own, do="remove").status_code == 409
    assert submit(lead, "/teams/harbour", other, do="crown").status_code == 422
    assert submit(lead, "/teams/harbour", other, do="lead").status_code == 303
    assert submit(member, "/teams/harbour", publication_name="Team 3").status_code == 422
    assert submit(member, "/teams/harbour", publication_name="The Harbour").status_code == 303
    assert submit(lead, "/teams/harbour", own, do="remove").headers["Location"] == "/teams"
    assert lead.get("/teams/harbour").status_code == 404
    assert "The Harbour" in member.get("/teams").text


def test_accounts_on_the_page_of_administrators(service: Service) -> None:
    root, mary = service.account("root", SiteRole.ADMINISTRATOR), service.account("mary")
    admin, browser = service.browser(with_password(service, root)), service.browser(mary)
    assert browser.get("/accounts").status_code == 403
    assert submit(browser, "/teams", f"/accounts/{mary}", do="role", role="administrator").status_code == 403
    assert submit(admin, "/accounts", f"/accounts/{mary}", do="role", role="organiser").status_code == 303
    assert browser.get("/api/v1/me").json()["role"] == "organiser"
    assert submit(admin, "/accounts", f"/accounts/{mary}", do="role", role="king").status_code == 422
    assert submit(admin, "/accounts", f"/accounts/{mary}", do="sign-out").status_code == 303
    assert browser.get("/api/v1/me").json()["signed_in"] is False
    assert submit(admin, "/accounts", f"/accounts/{mary}", do="disable").status_code == 303
    assert "disabled" in admin.get("/accounts?search=MARY").text
    assert "root@" not in admin.get("/accounts?search=MARY").text
    assert submit(admin, "/accounts", f"/accounts/{root}", do="disable").status_code == 409
    assert submit(admin, "/accounts", email="mary@example.org", name="M").status_code == 409
    made = submit(admin, "/accounts", email="new@example.org", name="New", role="viewer")
    assert submit(service.client(), link_on(made.text), password=PASSWORD).status_code == 303
    assert sign_in(service.client(), "new@example.org").status_code == 303


def test_the_audit_log_is_shown_to_those_who_may_see_it(service: Service) -> None:
    olga = service.account("olga", SiteRole.ORGANISER)
    service.campaign("regatta", organisers=(olga,))
    organiser = service.browser(olga)
    submit(organiser, "/campaigns/regatta/invitations", email="zoe@example.org", role="viewer")
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    shown = root.get("/audit").text
    for word in ("invitation.make", "olga@example.org", "testclient", "zoe@example.org", "regatta"):
        assert word in shown
    assert "invitation.make" not in root.get("/audit?search=token").text
    assert organiser.get("/audit").status_code == 403
    own = organiser.get("/campaigns/regatta/audit").text
    assert "invitation.make" in own
    assert "testclient" not in own
    assert service.browser(service.account("eve")).get("/campaigns/regatta/audit").status_code == 403


def test_the_pages_of_the_audit_log_leave_nothing_out(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "SHOWN", 2)
    with writing(service.engine) as connection:
        for number in range(5):
            COMMAND_LINE.audit(connection, "trial", f"subject {number}")
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    address, pages = "/audit?search=trial", []
    while address:
        text = root.get(address).text
        pages.append(re.findall(r"subject \d", text))
        (address,) = re.findall(r'href="(/audit\?[^"]*after=[^"]*)"', text) or [""]
        address = address.replace("&amp;", "&")
    assert pages == [["subject 4", "subject 3"], ["subject 2", "subject 1"], ["subject 0"]]


def test_an_administrator_confirms_an_address_and_nothing_unknown_is_done(service: Service) -> None:
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    created = root.post("/api/v1/accounts", json={"email": "eve@example.org", "name": "Eve"}).json()
    place = f"/accounts/{created['id']}"
    assert root.get(f"/api/v1{place}").json()["verified_at"] is None
    unknown = submit(root, "/accounts", place, do="erase")
    assert (unknown.status_code, "Unknown action &#39;erase&#39;." in unknown.text) == (422, True)
    assert root.get(f"/api/v1{place}").json()["verified_at"] is None
    done = submit(root, "/accounts", place, do="verify")
    assert done.headers["Location"] == "/accounts?search=eve%40example.org"
    assert root.get(f"/api/v1{place}").json()["verified_at"] is not None


def test_a_server_without_mail_sends_none_and_says_so(service: Service) -> None:
    mary = service.browser(service.account("mary"))
    assert submit(mary, "/account", "/account/confirmation").headers["Location"] == "/account"
    stranger = service.client()
    says = "This server does not send e-mail. Ask its administrator for a link to set a new password."
    assert says in stranger.get("/password/forgotten").text
    asked = submit(stranger, "/sign-in", "/password/forgotten", email="mary@example.org")
    assert (asked.status_code, says in asked.text) == (200, True)
    with reading(service.engine) as connection:
        assert connection.scalars(select(AuditEntry.action)).all() == []
