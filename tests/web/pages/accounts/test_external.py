"""Signing in through providers: whom it signs in, and that nobody takes over the account of another by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response
from joserfc.jwk import OctKey, RSAKey
from pydantic import ValidationError
from sqlalchemy import func, select, update

from campaigns.accounts.external import provider as asked
from models.database.session import reading, writing
from models.schema.accounts import Account, LinkedIdentity
from models.schema.roles import SiteRole
from runtime.service_settings import WebSettings
from tests.service.people import audited, submit, with_password
from tests.service.service import Service
from tests.web.pages.accounts.forms import sign_in
from tests.web.pages.accounts.provider import CLIENT, Provider, provided

ZOE = {"sub": "17", "email": "zoe@example.org", "email_verified": True, "name": "Zoe"}


@pytest.fixture(scope="module")
def served_provider() -> Iterator[Provider]:
    with provided() as provider:
        yield provider


@pytest.fixture
def provider(served_provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """As new."""
    fresh = Provider(key=served_provider.key)
    for name in ("person", "claims", "signing", "algorithm", "down", "metadata", "asked", "_codes"):
        setattr(served_provider, name, getattr(fresh, name))
    monkeypatch.setattr(asked, "_KNOWN", asked._Documents())
    return served_provider


@pytest.fixture
def server(service_url: str, provider: Provider) -> Iterator[Service]:
    """Anybody may sign up; the addresses of "uni" and "hub" are trusted, those of "shop" are not."""
    oidc = {**CLIENT, "issuer": provider.url}
    providers: dict[str, Any] = {
        "uni": {**oidc, "title": "The university", "trusted_email": True},
        "shop": oidc,
        "github": {**CLIENT, "issuer": provider.url + "/"},
    }
    with ExitStack() as stack:
        yield Service.start(service_url, stack, sign_up="open", sign_in_with=providers, public_url="http://testserver")


def leave(browser: TestClient, at: str = "uni", page: str = "/sign-in", **fields: str) -> str:
    """Press the button; the address at the provider."""
    answer = submit(browser, page, f"/sign-in/with/{at}", **fields)
    assert answer.status_code == 200, answer.text
    found = re.search(r'class="button main" href="([^"]+)"', answer.text)
    assert found
    address = unescape(found[1])
    assert answer.headers["refresh"] == f"0; url={address}"
    return address


def through(
    browser: TestClient, provider: Provider, at: str = "uni", page: str = "/sign-in", /, **person: Any
) -> Response:
    """Sign in there, and come back."""
    address = leave(browser, at, page)
    return browser.get(provider.authorize(address, **person), follow_redirects=False)


def who(browser: TestClient) -> str:
    me = browser.get("/api/v1/me").json()
    return me["email"] or "" if me.get("email") else ""


def linked(server: Service) -> dict[str, int]:
    with reading(server.engine) as connection:
        rows = connection.execute(select(LinkedIdentity.subject, LinkedIdentity.account_id))
        return {row.subject: row.account_id for row in rows}


def test_a_new_person_gets_a_confirmed_account_and_comes_back_to_where_they_were(
    server: Service, provider: Provider
) -> None:
    browser = server.client()
    address = leave(browser, next="/teams")
    answer = browser.get(provider.authorize(address, **ZOE), follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/teams")
    assert who(browser) == "zoe@example.org"
    with reading(server.engine) as connection:
        account = connection.execute(select(Account)).one()
    assert (account.name, account.role, account.claimed) == ("Zoe", SiteRole.PARTICIPANT, False)
    assert account.verified_at is not None
    assert account.password_hash is None
    assert ("zoe@example.org", "account.link", "account zoe@example.org") in audited(server)
    # Again, with another address and name there: it is the subject that counts.
    other = server.client()
    assert through(other, provider, sub="17", email="new@example.org", email_verified=True).status_code == 303
    assert who(other) == "zoe@example.org"
    assert len(linked(server)) == 1


def test_the_account_of_a_confirmed_address_is_signed_in_by_trusted_providers_alone(
    server: Service, provider: Provider
) -> None:
    zoe = server.account("zoe")
    refused = through(server.client(), provider, "shop", **ZOE)
    assert refused.status_code == 401
    assert "not linked to an account" in refused.text
    assert not linked(server)
    browser = server.client()
    assert through(browser, provider, **ZOE).status_code == 303
    assert linked(server) == {"17": zoe}
    assert who(browser) == "zoe@example.org"


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_the_provider_has_not_verified_is_nobodys(
    server: Service, provider: Provider, verified: object
) -> None:
    server.account("zoe")
    answer = through(server.client(), provider, **{**ZOE, "email_verified": verified})
    assert answer.status_code == 401
    assert not linked(server)


def test_whoever_signed_up_with_the_address_of_another_keeps_nothing_of_them(
    server: Service, provider: Provider
) -> None:
    """An attacker has an account with the address of zoe, which nobody has confirmed, and knows its password."""
    zoe = with_password(server, server.account("zoe"))
    with writing(server.engine) as connection:
        connection.execute(update(Account).values(verified_at=None, claimed=True))
    browser = server.client()
    answer = through(browser, provider, **ZOE)
    assert answer.status_code == 401
    assert "nobody has confirmed the address" in answer.text
    assert who(browser) == ""
    assert not linked(server)
    assert zoe


def test_disabled_accounts_stay_out(server: Service, provider: Provider) -> None:
    assert through(server.client(), provider, **ZOE).status_code == 303
    with writing(server.engine) as connection:
        connection.execute(update(Account).values(disabled_at=1.0))
    browser = server.client()
    assert through(browser, provider, **ZOE).status_code == 401
    assert who(browser) == ""


def test_without_invitation_nobody_is_added(service_url: str, provider: Provider) -> None:
    with ExitStack() as stack:
        uni = {**CLIENT, "issuer": provider.url, "trusted_email": True}
        server = Service.start(service_url, stack, sign_in_with={"uni": uni}, public_url="http://testserver")
        answer = through(server.client(), provider, **ZOE)
        assert answer.status_code == 401
        assert "New accounts require an invitation" in answer.text
        with reading(server.engine) as connection:
            assert connection.scalar(select(func.count()).select_from(Account)) == 0


def test_linking_while_signed_in_and_removing_it(server: Service, provider: Provider) -> None:
    mary, zoe = (with_password(server, server.account(name)) for name in ("mary", "zoe"))
    browser = server.browser(mary)
    answer = through(browser, provider, "shop", "/account", sub="9", name="Mary of the shop")
    assert (answer.status_code, answer.headers["location"]) == (303, "/account?note=linked")
    assert linked(server) == {"9": mary}
    page = browser.get("/account").text
    assert "Mary of the shop" in page
    visitor = server.client()
    assert through(visitor, provider, "shop", sub="9").status_code == 303
    assert who(visitor) == "mary@example.org"
    # It is hers: another account cannot have it, too.
    answer = through(server.browser(zoe), provider, "shop", "/account", sub="9")
    assert answer.status_code == 409
    assert linked(server) == {"9": mary}
    (identity,) = re.findall(r"/account/identities/(\d+)/remove", page)
    assert server.browser(zoe).post(f"/account/identities/{identity}/remove").status_code == 404
    assert browser.post(f"/account/identities/{identity}/remove", follow_redirects=False).status_code == 303
    assert not linked(server)


def test_the_only_way_to_sign_in_stays(server: Service, provider: Provider) -> None:
    browser = server.client()
    through(browser, provider, **ZOE)
    page = browser.get("/account").text
    (identity,) = re.findall(r"/account/identities/(\d+)/remove", page)
    assert submit(browser, "/account", f"/account/identities/{identity}/remove").status_code == 409
    assert linked(server)


def test_an_answer_belongs_to_the_browser_that_asked_and_to_what_it_asked_for(
    server: Service, provider: Provider
) -> None:
    mary = server.account("mary")
    attacker, victim, signed_in = server.client(), server.client(), server.browser(mary)
    answer = provider.authorize(leave(attacker), **ZOE)
    # Somebody else's answer, in a browser that asked nothing, or something else.
    assert victim.get(answer).status_code == 401
    leave(victim)
    assert victim.get(answer).status_code == 401
    leave(signed_in, page="/account")
    assert signed_in.get(answer).status_code == 401
    assert who(victim) == ""
    # What was begun to sign in does not link, even in the browser that began it.
    begun = provider.authorize(leave(signed_in, page="/account"), **ZOE)
    signed_in.post("/sign-out")
    assert signed_in.get(begun).status_code == 401
    assert who(signed_in) == ""
    # Nor does one that was begun to sign in link, once somebody has signed in.
    with_password(server, mary)
    begun = provider.authorize(leave(signed_in), **ZOE)
    sign_in(signed_in, "mary@example.org")
    assert who(signed_in) == "mary@example.org"
    assert signed_in.get(begun).status_code == 401
    assert not linked(server)
    # An answer of one provider is none of another; and none counts twice.
    mine = provider.authorize(leave(attacker), **ZOE)
    assert attacker.get(mine.replace("/uni/", "/shop/"), follow_redirects=False).status_code == 401
    mine = provider.authorize(leave(attacker), **ZOE)
    assert attacker.get(f"{mine}&iss=https://other.example.org", follow_redirects=False).status_code == 401
    mine = provider.authorize(leave(attacker), **ZOE)
    assert attacker.get(mine, follow_redirects=False).status_code == 303
    attacker.post("/sign-out")
    assert attacker.get(mine, follow_redirects=False).status_code == 401


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "somebody else's client"},
        {"aud": ["steelyard", "other"], "azp": "other"},
        {"iss": "https://other.example.org"},
        {"exp": 1},
        {"iat": 9_999_999_999},
        {"sub": ""},
        {"sub": "17\0"},
        *({name: ...} for name in ("iss", "aud", "sub", "exp", "iat", "nonce")),
    ],
    ids=str,
)
def test_a_token_that_is_no_proof(server: Service, provider: Provider, claims: dict[str, Any]) -> None:
    provider.claims = claims
    browser = server.client()
    answer = through(browser, provider, **ZOE)
    assert answer.status_code == 401
    assert "did not confirm who you are" in answer.text
    assert who(browser) == ""


def test_a_token_that_another_has_signed(server: Service, provider: Provider) -> None:
    provider.signing = RSAKey.generate_key(2048, {"kid": provider.key.kid})
    assert through(server.client(), provider, **ZOE).status_code == 401
    # By a password that both know, were tokens to choose their algorithm; the public key in its place joserfc refuses.
    provider.signing, provider.algorithm = OctKey.generate_key(256), "HS256"
    assert through(server.client(), provider, **ZOE).status_code == 401
    assert not linked(server)


def test_new_keys_of_the_provider_are_asked_for_when_a_token_names_one(
    server: Service, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert through(server.client(), provider, **ZOE).status_code == 303
    assert through(server.client(), provider, **ZOE).status_code == 303
    assert provider.asked.count("/keys") == 1
    old, new = provider.key, RSAKey.generate_key(2048, {"kid": "second"})
    monkeypatch.setattr(provider, "key", new)
    assert through(server.client(), provider, **ZOE).status_code == 401, "not more often than once a minute"
    assert provider.asked.count("/keys") == 1
    kept = asked._KNOWN._kept
    kept[f"{provider.url}/keys"] = (kept[f"{provider.url}/keys"][0] - 61.0, kept[f"{provider.url}/keys"][1])
    browser = server.client()
    assert through(browser, provider, **ZOE).status_code == 303
    assert who(browser) == "zoe@example.org"
    assert provider.asked.count("/keys") == 2
    provider.signing = old
    assert through(server.client(), provider, **ZOE).status_code == 401, "the new one's name does not help the old one"


def test_a_provider_that_goes_down_meanwhile_is_said_to_be(server: Service, provider: Provider) -> None:
    browser = server.client()
    back = provider.authorize(leave(browser), **ZOE)
    provider.down = True
    answer = browser.get(back, follow_redirects=False)
    assert answer.status_code == 503
    assert "The university cannot be reached" in answer.text
    assert not linked(server)


def test_what_a_provider_tells_of_a_person_is_an_object(server: Service, provider: Provider) -> None:
    provider.metadata = {"userinfo_endpoint": f"{provider.url}/api/v3/user/emails"}
    answer = through(server.client(), provider, sub="17", emails=[{"sub": "17", "email": "zoe@example.org"}])
    assert answer.status_code == 401
    assert "The university did not confirm who you are. Start again." in answer.text
    assert not linked(server)


def test_a_code_without_the_secret_of_the_browser_is_refused_by_the_provider(
    server: Service, provider: Provider
) -> None:
    browser = server.client()
    answer = provider.authorize(leave(browser), **ZOE)
    next(iter(provider._codes.values()))["code_challenge"] = "of another verifier"
    assert browser.get(answer).status_code == 401
    assert "/token" in provider.asked


def test_the_address_may_be_told_apart_from_the_token(server: Service, provider: Provider) -> None:
    browser = server.client()
    more = {"info_email": "zoe@example.org", "info_email_verified": True, "info_name": "Zoe\0\u202e Sea"}
    assert through(browser, provider, sub="17", **more).status_code == 303
    assert who(browser) == "zoe@example.org"
    with reading(server.engine) as connection:
        assert connection.scalar(select(Account.name)) == "Zoe Sea"
    # But not of somebody else.
    answer = through(server.client(), provider, sub="18", info_sub="17", **more)
    assert answer.status_code == 401


def test_github(server: Service, provider: Provider) -> None:
    emails = [
        {"email": "other@example.org", "primary": False, "verified": True},
        {"email": "Zoe@Example.org", "primary": True, "verified": True},
    ]
    browser = server.client()
    assert through(browser, provider, "github", id=4, login="zoe", emails=emails).status_code == 303
    assert who(browser) == "zoe@example.org"
    emails[1] = {"email": "ann@example.org", "primary": True, "verified": False}
    assert through(server.client(), provider, "github", id=5, login="ann", emails=emails).status_code == 401
    # An issuer's subject is another than the same one of another.
    assert linked(server).keys() == {"4"}


def test_github_that_tells_no_addresses_confirms_nobody(server: Service, provider: Provider) -> None:
    answer = through(server.client(), provider, "github", id=4, login="zoe", emails={"message": "Not Found"})
    assert answer.status_code == 401
    assert "GitHub did not confirm who you are. Start again." in answer.text
    assert not linked(server)


def test_a_provider_that_is_down_or_somebody_else(server: Service, provider: Provider) -> None:
    provider.down = True
    answer = submit(server.client(), "/sign-in", "/sign-in/with/uni")
    assert answer.status_code == 503
    assert "The university cannot be reached" in answer.text
    provider.down, provider.metadata = False, {"issuer": "https://other.example.org"}
    assert submit(server.client(), "/sign-in", "/sign-in/with/uni").status_code == 503


def test_who_changes_their_mind(server: Service, provider: Provider) -> None:
    browser = server.client()
    leave(browser)
    answer = browser.get("/sign-in/with/uni/callback?error=access_denied")
    assert answer.status_code == 401
    assert "You did not sign in with The university." in answer.text


def test_whoever_signs_up_may_do_so_through_a_provider(server: Service, provider: Provider) -> None:
    browser = server.client()
    assert browser.get("/sign-up").text.count("Sign in with ") == len(server.settings.sign_in_with)
    through(browser, provider, "uni", "/sign-up", **ZOE)
    assert who(browser) == "zoe@example.org"


def test_pages_without_providers_say_nothing_of_them(service: Service) -> None:
    for page in ("/sign-in", "/sign-up"):
        assert "Sign in with" not in service.client().get(page).text
    assert submit(service.client(), "/sign-in", "/sign-in/with/github").status_code == 404
    assert service.client().get("/sign-in/with/github/callback?code=1&state=2").status_code == 404


@pytest.mark.parametrize(
    ("providers", "said"),
    [
        ({"uni": {**CLIENT, "issuer": "http://login.example.org"}}, "must be an address such as"),
        ({"uni": {**CLIENT, "issuer": "https://u:p@login.example.org"}}, "must be an address such as"),
        ({"uni": {**CLIENT}}, "issuer"),
        ({"Uni!": {**CLIENT, "issuer": "https://login.example.org"}}, "letters a-z"),
        ('{"github": hidden', "must be JSON"),
        ("[]", "valid dictionary"),
        ({"github": {"client_id": "x"}}, "client_secret"),
        ({"github": {**CLIENT, "isuer": "x"}}, "isuer"),
    ],
)
def test_settings_that_are_wrong(providers: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        WebSettings(sign_in_with=providers)


def test_a_server_without_the_packages_does_not_start(
    service_url: str, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked, "find_spec", lambda name: None)
    with ExitStack() as stack:
        Service.start(service_url, stack)
        with pytest.raises(asked.MissingPackages, match=r"steelyard-server\[sso\]"):
            Service.start(service_url, stack, sign_in_with={"uni": {**CLIENT, "issuer": provider.url}})


def test_what_is_known_of_github_and_orcid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_SIGN_IN_WITH", '{"github": {"client_id": "a", "client_secret": "hidden"}}')
    settings = WebSettings()
    assert settings.sign_in_with["github"].trusted_email
    assert "hidden" not in repr(settings)
    orcid = WebSettings(sign_in_with={"orcid": CLIENT}).sign_in_with["orcid"]  # type: ignore[dict-item]
    assert (orcid.issuer, orcid.trusted_email) == ("https://orcid.org", False)


def test_sessions_end_one_by_one(service: Service) -> None:
    mary, zoe = (service.account(name) for name in ("mary", "zoe"))
    here, there, hers = service.browser(mary), service.browser(mary), service.browser(zoe)
    (ended,) = re.findall(r"/account/sessions/(\d+)/end", here.get("/account").text)
    assert hers.post(f"/account/sessions/{ended}/end").status_code == 404
    assert service.program(mary).post(f"/account/sessions/{ended}/end").status_code == 403
    assert "Session ended." in here.post(f"/account/sessions/{ended}/end").text
    assert [each.get("/account").url.path for each in (there, here, hers)] == ["/sign-in", "/account", "/account"]


def test_people_delete_their_account_themselves(service: Service) -> None:
    mary = with_password(service, service.account("mary"))
    browser = service.browser(mary)
    assert "Your name and address are deleted" in browser.get("/account").text
    assert "called" not in browser.get("/account/delete").text
    answer = browser.post("/account/delete", data={"typed": "mary@example.org"})
    assert answer.status_code == 422
    assert "Type delete my account to delete it." in answer.text
    assert service.program(mary).post("/account/delete", data={"typed": "delete my account"}).status_code == 403
    answer = browser.post("/account/delete", data={"typed": "Delete my account"})
    assert "Your account was deleted." in answer.text
    assert not any("mary" in part for entry in audited(service) for part in entry)
    assert audited(service)[-1] == (f"deleted account {mary}", "account.delete", f"deleted account {mary}")
    assert sign_in(service.client(), "mary@example.org").status_code == 401


def test_who_is_needed_stays(service: Service) -> None:
    mary, zoe = (service.account(name) for name in ("mary", "zoe"))
    service.team("harbour", mary, zoe)
    browser = service.browser(mary)
    answer = browser.get("/account/delete")
    assert answer.status_code == 409
    assert "is the only lead of harbour" in answer.text
    assert browser.post("/account/delete", data={"typed": "delete my account"}).status_code == 409
