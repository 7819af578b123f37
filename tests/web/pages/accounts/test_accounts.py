"""Accounts, teams and invitations as people with browsers use them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from campaigns.accounts.mail import BadMailUrl, Email, send_email
from models.database.session import reading, writing
from models.schema.accounts import Account, Confirmation, Invitation, WebSession
from models.schema.base import now
from models.schema.roles import Scope, SiteRole, Visibility
from runtime.service_settings import WebSettings
from tests.service.people import PASSWORD, audited, everything_stored, submit, with_password
from tests.service.postman import Postman
from tests.service.service import Service
from web.dependencies import FORM_FIELD, SESSION_COOKIE, VISITOR_COOKIE

pytestmark = pytest.mark.usefixtures("quick_hashing")


def link_on(text: str) -> str:
    """The path of the link that a page shows once."""
    found = re.search(r'<code class="secret">https?://[^/]+(/[^<]+)</code>', text)
    assert found, text
    return found[1]


def sign_in(client: TestClient, email: str, password: str = PASSWORD, **fields: Any) -> Any:
    return submit(client, "/sign-in", email=email, password=password, **fields)


@pytest.fixture
def opened(service_url: str) -> Iterator[Service]:
    """A server where anybody may sign up, and that sends no mails."""
    with ExitStack() as stack:
        yield Service.start(service_url, stack, sign_up="open")


def secure(service: Service) -> TestClient:
    return service.stack.enter_context(TestClient(service.app, base_url="https://mt.example.org"))


def test_signing_in_begins_a_session_of_its_own_and_signing_out_ends_it(service: Service) -> None:
    with_password(service, service.account("mary"))
    client = service.client()
    assert client.get("/account", follow_redirects=False).headers["Location"] == "/sign-in?next=%2Faccount"
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


def test_what_is_wrong_is_said_in_the_same_words_whoever_it_is(service: Service) -> None:
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


def test_signing_up_by_invitation_alone(service: Service) -> None:
    assert "invitation" in service.client().get("/sign-up").text
    assert "<form" not in service.client().get("/sign-up").text
    client = service.client()
    answer = submit(client, "/sign-in", "/sign-up", email="zoe@example.org", name="Zoë", password=PASSWORD)
    assert answer.status_code == 403
    with reading(service.engine) as connection:
        assert connection.scalars(select(Account.id)).all() == []


def test_an_address_does_not_make_accounts_without_end(opened: Service) -> None:
    codes = []
    for each in range(opened.settings.sign_in_tries + 1):
        fields = {"email": f"zoe{each}@example.org", "name": "Zoë", "password": PASSWORD}
        codes.append(submit(opened.client(), "/sign-up", **fields).status_code)
    assert codes == [303] * opened.settings.sign_in_tries + [429]


def test_an_invitation_makes_an_account_in_a_team(service: Service) -> None:
    mary = service.account("mary")
    service.team("harbour", mary)
    lead = service.browser(mary)
    shown = submit(lead, "/teams/harbour", "/teams/harbour/invitations", email="Zoe@example.org", role="member")
    assert shown.headers["Cache-Control"] == "no-store"
    link = link_on(shown.text)
    assert "zoe@example.org" in lead.get("/teams/harbour").text
    client = service.client()
    page = client.get(link)
    assert "join the team harbour" in page.text
    assert 'value="zoe@example.org"' in page.text
    wrong = submit(client, link, f"{link}/sign-up", name="Zoë", password="password123")
    assert wrong.status_code == 422
    # The address is that of the invitation, whatever is sent.
    fields = {"name": "Zoë", "password": PASSWORD, "email": "eve@example.org"}
    done = submit(client, link, f"{link}/sign-up", **fields)
    assert (done.status_code, done.headers["Location"]) == (303, "/teams/harbour")
    assert client.get("/api/v1/me").json()["teams"] == {"harbour": "member"}
    assert client.get("/api/v1/me").json()["email"] == "zoe@example.org"
    assert service.client().get(link).status_code == 404


def test_an_invitation_is_accepted_by_who_has_an_account(service: Service) -> None:
    mary, zoe = service.account("mary"), with_password(service, service.account("zoe"))
    service.team("harbour", mary)
    link = link_on(submit(service.browser(mary), "/teams/harbour", "/teams/harbour/invitations", role="lead").text)
    client = service.client()
    followed = re.search(r'href="(/sign-in\?next=[^"]+)"', client.get(link).text)
    assert followed
    onward = submit(client, followed[1], "/sign-in", email="zoe@example.org", password=PASSWORD, next=link)
    assert onward.headers["Location"] == link
    assert submit(client, link).headers["Location"] == "/teams/harbour"
    assert client.get("/api/v1/me").json()["teams"] == {"harbour": "lead"}
    again = submit(service.browser(mary), "/teams/harbour", "/teams/harbour/invitations", role="member")
    twice = submit(service.browser(zoe), link_on(again.text))
    assert twice.status_code == 409
    assert "already in the team harbour" in twice.text


def test_an_invitation_brings_a_team_into_a_campaign(service: Service) -> None:
    olga = service.account("olga", SiteRole.ORGANISER)
    service.campaign("regatta", organisers=(olga,), visibility=Visibility.PRIVATE, title="The Regatta")
    organiser, address = service.browser(olga), "/campaigns/regatta/invitations"
    link = link_on(submit(organiser, address, role="team").text)
    client = service.client()
    assert "The Regatta" in client.get(link).text
    fields = {"email": "zoe@example.org", "name": "Zoë", "password": PASSWORD}
    assert submit(client, link, f"{link}/sign-up", **fields, new_team="a/b").status_code == 422
    assert submit(client, link, f"{link}/sign-up", **fields, new_team="").status_code == 422
    done = submit(client, link, f"{link}/sign-up", **fields, new_team="pier")
    assert done.headers["Location"] == "/campaigns/regatta"
    assert client.get("/api/v1/me").json()["teams"] == {"pier": "lead"}
    assert "The Regatta" in client.get("/").text
    listed = organiser.get(address).text
    assert "accepted by" in listed
    assert service.browser(service.account("eve")).get(address).status_code == 404
    actions = [what for _, what, _ in audited(service)]
    assert actions == ["invitation.make", "account.add", "invitation.use", "team.found", "team.join", "session.begin"]


def test_invitations_to_the_server_are_made_by_those_who_run_it(service: Service) -> None:
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    organiser = service.browser(service.account("olga", SiteRole.ORGANISER))
    assert service.browser(service.account("eve")).get("/invitations").status_code == 403
    assert submit(organiser, "/invitations", role="administrator").status_code == 403
    assert submit(root, "/invitations", role="emperor").status_code == 422
    link = link_on(submit(root, "/invitations", role="organiser").text)
    assert "Withdraw" not in organiser.get("/invitations").text
    found = re.search(r'action="(/invitations/\d+/withdraw)"', root.get("/invitations").text)
    assert found
    assert submit(organiser, "/invitations", found[1]).status_code == 404
    assert service.client().get(link).status_code == 200
    assert submit(root, "/invitations", found[1], back="https://evil.example").headers["Location"] == "/invitations"
    assert service.client().get(link).status_code == 404


def test_old_invitations_are_over(service: Service) -> None:
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    link = link_on(submit(root, "/invitations", role="organiser").text)
    with writing(service.engine) as connection:
        connection.execute(update(Invitation).values(expires_at=now() - 1))
    assert service.client().get(link).status_code == 404


def test_a_password_is_set_by_a_link_that_an_administrator_hands_on(service: Service) -> None:
    root, mary = service.account("root", SiteRole.ADMINISTRATOR), service.account("mary")
    admin, old, program = service.browser(root), service.browser(mary), service.program(mary)
    with writing(service.engine) as connection:
        connection.execute(update(Account).where(Account.id == mary).values(verified_at=None))
    first = link_on(submit(admin, "/accounts", f"/accounts/{mary}", do="link").text)
    link = link_on(submit(admin, "/accounts", f"/accounts/{mary}", do="link").text)
    client = service.client()
    assert client.get(first).status_code == 404
    assert submit(client, link, password="mary@example.org").status_code == 422
    assert submit(client, link, password=PASSWORD).headers["Location"] == "/sign-in?note=password"
    assert client.get(link).status_code == 404
    assert old.get("/api/v1/me").json()["signed_in"] is False
    assert program.get("/api/v1/me").status_code == 401
    assert sign_in(client, "mary@example.org").status_code == 303
    # Nobody has seen the owner's mail.
    assert client.get("/api/v1/me").json()["verified"] is False


def test_without_mails_nobody_is_told_to_wait_for_one(service: Service) -> None:
    client = service.client()
    assert "Ask its administrator" in client.get("/password/forgotten").text
    assert "<form" not in client.get("/password/forgotten").text


def test_signing_up_by_mail_does_not_tell_who_has_an_account(mailing: Service, postman: Postman) -> None:
    answers = []
    for _ in range(2):
        client = secure(mailing)
        answer = submit(client, "/sign-up", email="zoe@example.org", name="Zoë", password=PASSWORD)
        answers.append((answer.status_code, answer.headers["Location"], answer.content))
        assert "__Host-steelyard_session" not in client.cookies
    assert answers[0] == answers[1]
    assert [each["Subject"] for each in postman.mails] == ["Confirm your e-mail address", "You already have an account"]
    assert postman.mails[0]["From"].addresses[0].addr_spec == "steelyard@example.org"


def test_cookies_are_of_this_host_alone_where_there_is_https(mailing: Service) -> None:
    client = secure(mailing)
    cookie = client.get("/sign-in").headers["Set-Cookie"]
    with_password(mailing, mailing.account("mary"))
    both = [cookie, next(iter(sign_in(client, "mary@example.org").headers.get_list("Set-Cookie")))]
    for each, name in zip(both, (VISITOR_COOKIE, SESSION_COOKIE), strict=True):
        assert each.startswith(f"__Host-{name}=")
        assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/"} <= {part.strip() for part in each.split(";")}
        assert "domain" not in each.lower()


def test_an_address_is_confirmed_by_the_owner_of_the_account(mailing: Service, postman: Postman) -> None:
    client = secure(mailing)
    submit(client, "/sign-up", email="zoe@example.org", name="Zoë", password=PASSWORD)
    link = postman.link()
    assert client.get(link, follow_redirects=False).headers["Location"].startswith("/sign-in?next=")
    eve = secure(mailing)
    with_password(mailing, mailing.account("eve"))
    sign_in(eve, "eve@example.org")
    assert eve.get(link).status_code == 403
    sign_in(client, "zoe@example.org")
    assert submit(client, link).headers["Location"] == "/account?note=confirmed"
    assert client.get("/api/v1/me").json()["verified"] is True
    assert client.get(link).status_code == 404


def test_another_address_is_asked_by_mail_and_the_link_to_the_old_one_is_worth_nothing(
    mailing: Service, postman: Postman
) -> None:
    client = secure(mailing)
    submit(client, "/sign-up", email="zoe@example.org", name="Zoë", password=PASSWORD)
    first = postman.link()
    sign_in(client, "zoe@example.org")
    done = submit(client, "/account", "/account/email", email="z@example.org", own_password=PASSWORD)
    assert done.headers["Location"] == "/account?note=sent"
    assert postman.mails[-1]["To"] == "z@example.org"
    assert client.get(first).status_code == 404
    assert submit(client, postman.link()).status_code == 303
    me = client.get("/api/v1/me").json()
    assert (me["email"], me["verified"]) == ("z@example.org", True)


def test_a_forgotten_password_is_set_by_mail_and_nobody_learns_who_has_an_account(
    mailing: Service, postman: Postman
) -> None:
    mary = with_password(mailing, mailing.account("mary"))
    with writing(mailing.engine) as connection:
        connection.execute(update(Account).where(Account.id == mary).values(verified_at=None))
    answers = []
    for name in ("mary", "nobody"):
        client = secure(mailing)
        # The link in the mail is ours, whatever a request says of its host.
        answer = submit(client, "/password/forgotten", email=f"{name}@example.org")
        answers.append((answer.status_code, answer.headers["Location"], answer.content))
    assert answers[0] == answers[1]
    assert len(postman.mails) == 1
    link, client = postman.link(), secure(mailing)
    assert submit(client, link, password="another horse battery").status_code == 303
    assert sign_in(client, "mary@example.org", PASSWORD).status_code == 401
    assert sign_in(client, "mary@example.org", "another horse battery").status_code == 303
    assert client.get("/api/v1/me").json()["verified"] is True
    assert link.rpartition("/")[2] not in everything_stored(mailing)


def test_a_mailbox_is_not_filled_through_us(mailing: Service, postman: Postman) -> None:
    mailing.account("mary")
    for name in ("mary", "nobody"):
        codes = [
            submit(secure(mailing), "/password/forgotten", email=f"{name}@example.org").status_code for _ in range(4)
        ]
        assert codes == [303, 303, 303, 429]
    assert len(postman.mails) == 3


def test_an_old_link_sets_no_password(mailing: Service, postman: Postman) -> None:
    mailing.account("mary")
    submit(secure(mailing), "/password/forgotten", email="mary@example.org")
    with writing(mailing.engine) as connection:
        connection.execute(update(Confirmation).values(expires_at=now() - 1))
    assert secure(mailing).get(postman.link()).status_code == 404


def test_invitations_go_by_mail(mailing: Service, postman: Postman) -> None:
    mary = with_password(mailing, mailing.account("mary"))
    mailing.team("harbour", mary)
    lead = secure(mailing)
    sign_in(lead, "mary@example.org")
    shown = submit(lead, "/teams/harbour", "/teams/harbour/invitations", email="zoe@example.org", role="member")
    assert postman.mails[-1]["To"] == "zoe@example.org"
    assert 'The account "mary" invites you to join the team "harbour"' in postman.last()
    assert postman.link() != link_on(shown.text), "what the mail brings is known to its address alone"


def test_a_mail_that_is_not_sent_says_so_in_the_log_without_its_secrets(caplog: pytest.LogCaptureFixture) -> None:
    settings = WebSettings(mail_url="smtp://user:hidden@127.0.0.1:1")
    assert "is unreachable" in send_email(
        settings, Email("zoe@example.org", "Hello", "https://mt.example.org/password/alsohidden")
    )
    assert send_email(WebSettings(mail_url="http://user:hidden@x"), Email("zoe@example.org", "Hello", "alsohidden"))
    assert caplog.text.count("was not sent") == 2
    assert "hidden" not in caplog.text


@pytest.mark.parametrize("url", ["http://user:hidden@x", "smtp://", "smtp://x:hidden", "smtp://x/hidden", "hidden"])
def test_a_server_does_not_start_with_a_mail_url_that_is_none(service_url: str, url: str) -> None:
    with ExitStack() as stack, pytest.raises(BadMailUrl, match="STEELYARD_MAIL_URL") as raised:
        Service.start(service_url, stack, mail_url=url)
    assert "hidden" not in str(raised.value)


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
    submit(here, "/account", "/account/sign-out-everywhere")
    assert here.get("/api/v1/me").json()["signed_in"] is False


def test_a_token_is_made_on_the_page_and_shown_once(service: Service) -> None:
    mary = service.account("mary")
    client = service.browser(mary)
    wrong = submit(client, "/account/tokens", name="laptop", days="many", scopes=["read"])
    assert wrong.status_code == 422
    assert 'value="laptop"' in wrong.text
    assert submit(client, "/account/tokens", name="laptop", days="7").status_code == 422
    shown = submit(client, "/account/tokens", name="laptop", days="7", scopes=["read", "submit"])
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
