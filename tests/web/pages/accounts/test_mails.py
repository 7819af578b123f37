"""Links and passwords that come by mail, or by an administrator where there is none."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from sqlalchemy import update

from models.database.session import writing
from models.schema.accounts import Account, Confirmation
from models.schema.base import now
from models.schema.roles import SiteRole
from runtime.mail import BadMailUrl, Email, send_email
from runtime.service_settings import WebSettings
from tests.service.people import PASSWORD, everything_stored, submit, with_password
from tests.service.postman import Postman
from tests.service.service import Service
from tests.web.pages.accounts.forms import link_on, secure, sign_in

pytestmark = pytest.mark.usefixtures("quick_hashing")


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


def test_without_mails_nobody_is_asked_to_wait_for_one(service: Service) -> None:
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
