"""Invitations on pages and by mail."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select, update

from models.database.session import reading, writing
from models.schema.accounts import Account, Invitation
from models.schema.base import now
from models.schema.roles import SiteRole, Visibility
from tests.service.people import PASSWORD, audited, submit, with_password
from tests.service.postman import Postman
from tests.service.service import Service
from tests.web.pages.accounts.forms import link_on, secure, sign_in

pytestmark = pytest.mark.usefixtures("quick_hashing")


def test_signing_up_by_invitation_alone(service: Service) -> None:
    assert "invitation" in service.client().get("/sign-up").text
    assert "<form" not in service.client().get("/sign-up").text
    client = service.client()
    answer = submit(client, "/sign-in", "/sign-up", email="zoe@example.org", name="Zoë", password=PASSWORD)
    assert answer.status_code == 403
    with reading(service.engine) as connection:
        assert connection.scalars(select(Account.id)).all() == []


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


def test_many_are_invited_to_a_campaign_each_in_the_role_that_was_chosen(service: Service) -> None:
    olga = service.account("olga", SiteRole.ORGANISER)
    service.campaign("regatta", organisers=(olga,))
    organiser, address = service.browser(olga), "/campaigns/regatta/invitations"
    for role in ("team", "organiser", "viewer"):
        emails = f"a-{role}@example.org, b-{role}@example.org;\na-{role}@example.org"
        assert submit(organiser, address, role=role, email=emails).status_code == 200
    assert submit(organiser, address, role="emperor", email="x@example.org").status_code == 422
    with reading(service.engine) as connection:
        rows = select(Invitation.email, Invitation.role, Invitation.campaign_role).order_by(Invitation.id)
        found = [tuple(row) for row in connection.execute(rows)]
    assert found == [
        (f"{each}-{role}@example.org", of_account, None if role == "team" else role)
        for role, of_account in (("team", "participant"), ("organiser", "participant"), ("viewer", "viewer"))
        for each in "ab"
    ]


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


def test_invitations_go_by_mail(mailing: Service, postman: Postman) -> None:
    mary = with_password(mailing, mailing.account("mary"))
    mailing.team("harbour", mary)
    lead = secure(mailing)
    sign_in(lead, "mary@example.org")
    shown = submit(lead, "/teams/harbour", "/teams/harbour/invitations", email="zoe@example.org", role="member")
    assert postman.mails[-1]["To"] == "zoe@example.org"
    assert 'The account "mary" invites you to join the team "harbour"' in postman.last()
    assert postman.link() != link_on(shown.text), "what the mail brings is known to its address alone"


def test_many_are_invited_at_once_with_texts_to_send(service: Service) -> None:
    olga = service.account("olga", SiteRole.ORGANISER)
    service.campaign("news", organisers=(olga,), title="News")
    client = service.browser(olga)
    address = "/campaigns/news/invitations"
    many = "a@example.org, b@example.org\nnobody; a@example.org"
    page = submit(client, address, address, email=many, role="team").text
    assert "2 invitations were created" in page
    assert "must be sent by you" in page
    # Each has a link of its own, in a text that can be sent as it is.
    texts = re.findall(r"<pre data-copy[^>]*>(.*?)</pre>", page, re.DOTALL)
    assert len(texts) == 2
    links = {re.search(r"/invitations/\S+", each)[0] for each in texts}  # type: ignore[index]
    assert len(links) == 2
    assert all("You are invited to take part in News: " in each for each in texts)
    for link in links:
        assert service.client().get(link).status_code == 200
    # What was refused stays in the field, with the reason.
    assert "1 address was not invited" in page
    assert re.search(r"<textarea[^>]*>\s*nobody</textarea>", page)
    too_many = " ".join(f"m{number}@example.org" for number in range(101))
    refused = submit(client, address, address, email=too_many, role="team")
    assert refused.status_code == 422 or refused.status_code == 400
    assert "Invite at most 100" in refused.text
    with reading(service.engine) as connection:
        assert len(connection.scalars(select(Invitation.id)).all()) == 2


def test_nobody_is_invited_where_no_address_is_one(service: Service) -> None:
    ann = service.account("ann", SiteRole.ORGANISER)
    service.campaign("regatta", organisers=(ann,))
    browser, place = service.browser(ann), "/campaigns/regatta/invitations"
    answer = submit(browser, place, email="zoe, eve@", role="viewer")
    assert answer.status_code == 422
    assert "zoe, eve@</textarea>" in answer.text
    assert "&#39;zoe&#39; is not an e-mail address such as mary@example.org." in answer.text
    with reading(service.engine) as connection:
        assert connection.scalars(select(Invitation.id)).all() == []


def test_a_team_invites_by_an_address(service: Service) -> None:
    mary = service.account("mary")
    service.team("harbour", mary)
    answer = submit(service.browser(mary), "/teams/harbour", "/teams/harbour/invitations", email="zoe@", role="member")
    assert (answer.status_code, 'value="zoe@"' in answer.text) == (422, True)
    assert "&#39;zoe@&#39; is not an e-mail address such as mary@example.org." in answer.text
    with reading(service.engine) as connection:
        assert connection.scalars(select(Invitation.id)).all() == []


def test_who_signs_up_with_an_address_of_their_own_is_asked_to_confirm_it(mailing: Service, postman: Postman) -> None:
    mary = mailing.account("mary")
    mailing.team("harbour", mary)
    lead = secure(mailing)
    with_password(mailing, mary)
    sign_in(lead, "mary@example.org")
    link = link_on(submit(lead, "/teams/harbour", "/teams/harbour/invitations", role="member").text)
    done = submit(secure(mailing), link, f"{link}/sign-up", name="Zoë", email="zoe@example.org", password=PASSWORD)
    assert done.headers["Location"] == "/teams/harbour"
    assert postman.recipients == [["zoe@example.org"]]
    zoe = secure(mailing)
    sign_in(zoe, "zoe@example.org")
    assert zoe.get("/api/v1/account").json()["verified_at"] is None
    confirmed = submit(zoe, postman.link())
    assert confirmed.status_code == 303
    assert zoe.get("/api/v1/account").json()["verified_at"] is not None
