"""Accounts, tokens, teams and invitations through the API."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update

from models.database.session import reading, writing
from models.schema.accounts import Account, ApiToken, WebSession
from models.schema.base import now
from models.schema.roles import Scope, SiteRole
from tests.service.people import PASSWORD, audited, everything_stored, with_password
from tests.service.service import Service

API = "/api/v1"


pytestmark = pytest.mark.usefixtures("quick_hashing")


def test_a_token_is_shown_once_and_good_for_its_scopes_until_it_is_revoked(service: Service) -> None:
    mary = service.account("mary")
    browser = service.browser(mary)
    made = browser.post(f"{API}/tokens", json={"name": "laptop", "scopes": ["read"], "days": 7})
    assert made.status_code == 201
    token = made.json()["token"]
    assert token.startswith("sty_")
    program = service.client(headers={"Authorization": f"Bearer {token}"})
    assert program.get(f"{API}/me").json()["scopes"] == ["read"]
    assert program.get(f"{API}/account").json()["email"] == "mary@example.org"
    assert program.patch(f"{API}/account", json={"name": "Eve"}).status_code == 403
    listed = browser.get(f"{API}/tokens").json()["items"]
    assert [(each["name"], each["scopes"], each["alive"]) for each in listed] == [("laptop", ["read"], True)]
    assert listed[0]["used_at"] is not None
    created, expires = (datetime.fromisoformat(listed[0][name]) for name in ("created_at", "expires_at"))
    assert timedelta(days=6.9) < expires - created < timedelta(days=7.1)
    assert browser.delete(f"{API}/tokens/{made.json()['id']}").status_code == 204
    assert program.get(f"{API}/me").status_code == 401
    assert browser.get(f"{API}/tokens").json()["items"][0]["alive"] is False
    assert token not in everything_stored(service)
    assert [what for _, what, _ in audited(service)] == ["token.make", "token.revoke"]


def test_a_program_gets_its_first_token_for_a_password_and_makes_no_others(service: Service) -> None:
    with_password(service, service.account("mary"))
    wanted = {"name": "laptop", "scopes": ["read", "organise"], "email": "Mary@Example.org ", "password": PASSWORD}
    made = service.client().post(f"{API}/tokens", json=wanted)
    program = service.client(headers={"Authorization": f"Bearer {made.json()['token']}"})
    assert program.get(f"{API}/me").json()["scopes"] == ["organise", "read"]
    assert program.post(f"{API}/tokens", json={"name": "child"}).status_code == 403
    assert program.post(f"{API}/tokens", json=wanted).status_code == 403
    wrong = service.client().post(f"{API}/tokens", json={**wanted, "password": "wrong"})
    nobody = service.client().post(f"{API}/tokens", json={**wanted, "email": "zoe@example.org"})
    assert (wrong.status_code, wrong.content) == (nobody.status_code, nobody.content)
    assert wrong.json()["error"]["code"] == "sign_in_failed"
    assert service.client().post(f"{API}/tokens", json={"name": "x"}).status_code == 401


@pytest.mark.parametrize(
    "wanted",
    [{"name": ""}, {"name": "x\u202ey"}, {"name": "x", "scopes": []}, {"name": "x", "scopes": ["all"]}]
    + [{"name": "x", "days": days} for days in (0, -1, 366, 10**30)],
)
def test_tokens_that_make_no_sense_are_refused(service: Service, wanted: dict[str, object]) -> None:
    assert service.browser(service.account("mary")).post(f"{API}/tokens", json=wanted).status_code == 422


def test_tokens_of_others_are_not_there(service: Service) -> None:
    browser = service.browser(service.account("mary"))
    made = browser.post(f"{API}/tokens", json={"name": "laptop"}).json()["id"]
    eve = service.browser(service.account("eve"))
    assert eve.get(f"{API}/tokens").json()["items"] == []
    assert eve.delete(f"{API}/tokens/{made}").status_code == 404
    assert browser.get(f"{API}/tokens").json()["items"][0]["alive"] is True


def test_an_address_does_not_guess_the_passwords_of_many(service: Service) -> None:
    with_password(service, service.account("mary"))
    client = service.client(client=("192.0.2.1", 1))
    body = {"name": "x", "email": "mary@example.org", "password": PASSWORD}
    assert client.post(f"{API}/tokens", json=body).status_code == 201
    for each in range(service.settings.sign_in_tries):
        guess = {"name": "x", "email": f"a{each}@example.org", "password": "wrong wrong"}
        assert client.post(f"{API}/tokens", json=guess).status_code == 401
    assert client.post(f"{API}/tokens", json=body).status_code == 429
    assert service.client(client=("192.0.2.2", 1)).post(f"{API}/tokens", json=body).status_code == 201


def test_a_password_is_changed_by_who_knows_it_and_ends_other_sessions(service: Service) -> None:
    mary = with_password(service, service.account("mary"))
    here, there, program = service.browser(mary), service.browser(mary), service.program(mary)
    change = {"old": "wrong", "new": "another horse battery"}
    assert here.put(f"{API}/account/password", json=change).status_code == 422
    assert here.put(f"{API}/account/password", json={"old": PASSWORD, "new": "short"}).status_code == 422
    assert here.put(f"{API}/account/password", json={**change, "old": PASSWORD}).json() == {"ended": 1}
    assert here.get(f"{API}/me").json()["signed_in"] is True
    assert there.get(f"{API}/me").json()["signed_in"] is False
    assert program.get(f"{API}/me").json()["signed_in"] is True
    assert audited(service)[-1] == ("mary@example.org", "account.password", "account mary@example.org")
    with reading(service.engine) as connection:
        assert str(connection.scalar(select(Account.password_hash))).startswith("$argon2id$")


def test_a_browser_left_open_is_no_place_to_guess(service: Service) -> None:
    here = service.browser(with_password(service, service.account("mary")))
    for _ in range(service.settings.sign_in_tries):
        change = {"old": "wrong", "new": "another horse battery"}
        assert here.put(f"{API}/account/password", json=change).status_code == 422
    change = {"old": PASSWORD, "new": "another horse battery"}
    assert here.put(f"{API}/account/password", json=change).status_code == 429
    assert here.patch(f"{API}/account", json={"email": "eve@example.org", "password": PASSWORD}).status_code == 429


def test_sessions_are_listed_and_end_everywhere(service: Service) -> None:
    mary = service.account("mary")
    here, there, zoe = service.browser(mary), service.browser(mary), service.browser(service.account("zoe"))
    listed = here.get(f"{API}/account/sessions").json()["items"]
    assert sorted(each["this"] for each in listed) == [False, True]
    assert there.delete(f"{API}/account/sessions").json() == {"ended": 2}
    for client, signed_in in ((here, False), (there, False), (zoe, True)):
        assert client.get(f"{API}/me").json()["signed_in"] is signed_in
    assert service.program(mary).delete(f"{API}/account/sessions").status_code == 403


def test_another_address_needs_the_password_and_a_new_confirmation(service: Service) -> None:
    mary = with_password(service, service.account("mary"))
    service.account("zoe")
    here = service.browser(mary)
    assert here.patch(f"{API}/account", json={"email": "m@example.org"}).status_code == 422
    taken = here.patch(f"{API}/account", json={"email": "ZOE@example.org", "password": PASSWORD})
    assert taken.status_code == 409
    for bad in ("x", "a@b@c", "a b@c", "ä@example.org", "a@\nb", "a@example..org"):
        assert here.patch(f"{API}/account", json={"email": bad, "password": PASSWORD}).status_code == 422
    shown = here.patch(f"{API}/account", json={"email": "M@example.org", "name": " Mary  Q. ", "password": PASSWORD})
    assert (shown.json()["email"], shown.json()["name"], shown.json()["verified_at"]) == (
        "m@example.org",
        "Mary Q.",
        None,
    )


def test_nobody_asks_for_many_addresses_whether_they_have_an_account(service: Service) -> None:
    here = service.browser(with_password(service, service.account("mary")))
    service.account("zoe")
    change = {"email": "zoe@example.org", "password": PASSWORD, "name": "M"}
    codes = [here.patch(f"{API}/account", json=change).status_code for _ in range(service.settings.sign_in_tries + 1)]
    assert codes == [409] * service.settings.sign_in_tries + [429]
    assert here.get(f"{API}/account").json()["name"] == "mary"


def test_administrators_look_after_accounts_and_one_of_them_stays(service: Service) -> None:
    root = with_password(service, service.account("root", SiteRole.ADMINISTRATOR))
    mary = with_password(service, service.account("mary"))
    admin, browser = service.browser(root), service.browser(mary)
    accounts = f"{API}/accounts"
    assert [each["email"] for each in admin.get(f"{accounts}?search=MARY").json()["items"]] == ["mary@example.org"]
    first = admin.get(f"{accounts}?limit=1").json()
    assert [each["name"] for each in admin.get(f"{accounts}?after={first['next']}").json()["items"]] == ["mary"]
    assert admin.get(f"{accounts}?after=x").status_code == 422
    assert admin.patch(f"{accounts}/{root}", json={"role": "viewer"}).status_code == 409
    assert admin.patch(f"{accounts}/{root}", json={"disabled": True}).status_code == 409
    assert admin.patch(f"{accounts}/{mary}", json={"role": "administrator"}).json()["role"] == "administrator"
    assert admin.patch(f"{accounts}/{root}", json={"role": "viewer"}).status_code == 200
    assert admin.patch(f"{accounts}/{mary}", json={"role": "viewer"}).status_code == 403
    assert browser.patch(f"{accounts}/{root}", json={"disabled": True}).json()["disabled_at"] is not None
    assert admin.get(f"{API}/me").json()["signed_in"] is False
    body = {"name": "x", "email": "root@example.org", "password": PASSWORD}
    assert service.client().post(f"{API}/tokens", json=body).status_code == 401


def test_a_disabled_account_is_good_for_nothing_until_it_is_enabled(service: Service) -> None:
    root, mary = service.account("root", SiteRole.ADMINISTRATOR), service.account("mary")
    admin, browser, program = service.browser(root), service.browser(mary), service.program(mary)
    assert admin.patch(f"{API}/accounts/{mary}", json={"disabled": True}).status_code == 200
    assert browser.get(f"{API}/me").json()["signed_in"] is False
    assert program.get(f"{API}/me").status_code == 401
    assert admin.patch(f"{API}/accounts/{mary}", json={"disabled": False}).status_code == 200
    assert browser.get(f"{API}/me").json()["signed_in"] is False
    assert program.get(f"{API}/me").status_code == 200


def test_accounts_and_audit_are_for_administrators(service: Service) -> None:
    root = service.account("root", SiteRole.ADMINISTRATOR)
    olga = service.account("olga", SiteRole.ORGANISER)
    service.campaign("regatta", organisers=(olga,))
    for client, status in (
        (service.client(), 401),
        (service.browser(olga), 403),
        (service.browser(root), 200),
        (service.program(root, Scope.READ), 200),
    ):
        for path in ("/accounts", f"/accounts/{olga}", "/audit"):
            assert client.get(API + path).status_code == status
    reader = service.program(root, Scope.READ)
    assert reader.patch(f"{API}/accounts/{olga}", json={"disabled": True}).status_code == 403
    assert reader.post(f"{API}/accounts/{olga}/password-link").status_code == 403


def test_the_audit_log_of_a_campaign_is_for_its_organisers_and_without_network_addresses(service: Service) -> None:
    olga, mary = service.account("olga", SiteRole.ORGANISER), service.account("mary")
    service.campaign("regatta", organisers=(olga,), teams=(service.team("harbour", mary),))
    service.campaign("other", organisers=(mary,))
    organiser = service.browser(olga)
    for _ in range(3):
        organiser.post(f"{API}/invitations", json={"campaign": "regatta"})
    organiser.post(f"{API}/invitations", json={})
    page = organiser.get(f"{API}/campaigns/regatta/audit?limit=2").json()
    rest = organiser.get(f"{API}/campaigns/regatta/audit?limit=2&after={page['next']}").json()
    assert [len(page["items"]), len(rest["items"]), rest["next"]] == [2, 1, None]
    assert {(each["campaign"], each["action"], each["address"]) for each in page["items"] + rest["items"]} == {
        ("regatta", "invitation.make", "")
    }
    assert service.browser(mary).get(f"{API}/campaigns/regatta/audit").status_code == 403
    assert organiser.get(f"{API}/campaigns/other/audit").status_code == 403
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    found = root.get(f"{API}/audit?search=INVITATION").json()["items"]
    assert len(found) == 4
    assert {each["address"] for each in found} == {"testclient"}


def test_old_sessions_are_not_taken(service: Service) -> None:
    mary = service.account("mary")
    browser = service.browser(mary)
    with writing(service.engine) as connection:
        connection.execute(update(WebSession).values(expires_at=0.0))
    assert browser.get(f"{API}/me").json()["signed_in"] is False


@pytest.mark.parametrize(("seconds", "status"), [(60.0, 200), (0.0, 401), (-60.0, 401), (None, 200)])
def test_a_token_is_good_until_it_expires(service: Service, seconds: float | None, status: int) -> None:
    program = service.program(service.account("mary"))
    with writing(service.engine) as connection:
        connection.execute(update(ApiToken).values(expires_at=None if seconds is None else now() + seconds))
    answer = program.get(f"{API}/me")
    assert answer.status_code == status
    assert ("mary" in answer.text) == (status == 200)


def test_a_revoked_token_is_refused_however_long_it_would_have_lived(service: Service) -> None:
    mary = service.account("mary")
    revoked, other = service.program(mary), service.program(mary)
    with writing(service.engine) as connection:
        first = select(ApiToken.id).order_by(ApiToken.id).limit(1).scalar_subquery()
        connection.execute(update(ApiToken).where(ApiToken.id == first).values(revoked_at=now(), expires_at=now() + 60))
    assert [each.get(f"{API}/me").status_code for each in (revoked, other)] == [401, 200]


def test_use_prolongs_the_session_that_is_used_and_no_other(service: Service) -> None:
    mary, eve = service.account("mary"), service.account("eve")
    used = service.browser(mary)
    for account in (mary, eve):
        service.session(account)
    with writing(service.engine) as connection:
        connection.execute(update(WebSession).values(seen_at=now() - 3600, expires_at=now() + 3600))
        before = connection.execute(select(WebSession.seen_at, WebSession.expires_at).order_by(WebSession.id)).all()
    assert used.get(f"{API}/me").json()["signed_in"] is True
    with reading(service.engine) as connection:
        rows = connection.execute(select(WebSession.seen_at, WebSession.expires_at).order_by(WebSession.id)).all()
    assert rows[0].seen_at >= before[0].seen_at + 3600
    assert rows[0].expires_at == pytest.approx(rows[0].seen_at + service.settings.session_seconds, abs=1e-3)
    assert rows[1:] == before[1:]


def test_use_is_noted_for_the_token_that_is_used_and_no_other(service: Service) -> None:
    mary = service.account("mary")
    program, _ = service.program(mary), service.program(mary)
    assert program.get(f"{API}/me").status_code == 200
    with reading(service.engine) as connection:
        used, idle = connection.scalars(select(ApiToken.used_at).order_by(ApiToken.id))
    assert used is not None
    assert idle is None


def test_use_is_noted_for_each_token_of_an_account(service: Service) -> None:
    mary = service.account("mary")
    for program in (service.program(mary), service.program(mary)):
        assert program.get(f"{API}/me").status_code == 200
    with reading(service.engine) as connection:
        assert None not in connection.scalars(select(ApiToken.used_at)).all()
