"""A request is judged by one credential: a token where one is sent, else the session, whose forms must be ours."""

from __future__ import annotations

import pytest

from tests.service.service import Service
from web.dependencies import FORM_HEADER

FOREIGN = {
    "empty": "",
    "blank": " ",
    "another scheme": "Basic dTpw",
    "a scheme alone": "Basic",
    "no scheme": "sty_secret",
    "a scheme that begins like ours": "Bearers x",
    "signs": ", ;=",
}
"""What stands in an Authorization header that is not for us."""


@pytest.mark.parametrize("given", FOREIGN.values(), ids=FOREIGN)
def test_a_header_of_others_does_not_spare_a_session_the_forms_token(service: Service, given: str) -> None:
    mary = service.account("mary")
    token = service.program(mary)
    browser = service.browser(mary)
    good = browser.headers.pop(FORM_HEADER)
    evil = {"Authorization": given, "Origin": "https://evil.example"}
    made = browser.post("/api/v1/tokens", json={"name": "stolen"}, headers=evil)
    assert (made.status_code, made.json()["error"]["code"]) == (403, "forged_request")
    assert browser.post("/api/v1/tokens", json={"name": "x"}, headers={"Authorization": given}).status_code == 403
    assert browser.post("/account/name", data={"name": "Eve"}, headers=evil).status_code == 403
    assert [each["name"] for each in token.get("/api/v1/tokens").json()["items"]] == ["test"]
    assert token.get("/api/v1/account").json()["name"] == "mary"
    # And it keeps nobody from what the session may.
    own = {"Authorization": given, FORM_HEADER: good}
    assert browser.post("/api/v1/tokens", json={"name": "own"}, headers=own).status_code == 201


@pytest.mark.parametrize("given", FOREIGN.values(), ids=FOREIGN)
def test_pages_behind_a_proxy_with_a_password_of_its_own(service: Service, given: str) -> None:
    service.campaign("harbour")
    nobody = service.client(headers={"Authorization": given}, follow_redirects=False)
    for path in ("/", "/sign-in", "/campaigns/harbour", "/api/v1/campaigns", "/static/site.css"):
        assert nobody.get(path).status_code == 200, path
    assert nobody.get("/account").headers["Location"] == "/sign-in?next=%2Faccount"
    assert nobody.get("/api/v1/account").status_code == 401
    browser = service.browser(service.account("mary"))
    assert browser.get("/account", headers={"Authorization": given}).status_code == 200


@pytest.mark.parametrize("given", ["Bearer", "Bearer ", "bearer nonsense", "BEARER sty_x y", "Bearer\tsty_x"])
def test_a_token_that_is_no_good_is_refused_and_goes_nowhere(service: Service, given: str) -> None:
    browser = service.browser(service.account("mary"))
    for path in ("/", "/sign-in", "/account", "/api/v1/me"):
        answer = browser.get(path, headers={"Authorization": given}, follow_redirects=False)
        assert answer.status_code == 401, path
        assert "token" in answer.text
    answer = browser.post("/account/name", data={"name": "Eve"}, headers={"Authorization": given})
    assert answer.status_code == 401


def test_a_token_beside_another_header_is_neither(service: Service) -> None:
    mary, eve = service.account("mary"), service.account("eve")
    token = service.program(mary).headers["Authorization"]
    for pair in ((token, "Basic dTpw"), ("Basic dTpw", token), (token, service.program(eve).headers["Authorization"])):
        headers = [("Authorization", each) for each in pair]
        answer = service.client().get("/api/v1/me", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not_signed_in")


def test_a_token_is_what_counts_where_a_session_is_sent_as_well(service: Service) -> None:
    mary, eve = service.account("mary"), service.account("eve")
    both = {"Authorization": service.program(eve).headers["Authorization"]}
    assert service.browser(mary).get("/api/v1/me", headers=both).json()["name"] == "eve"
