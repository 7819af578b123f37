"""How a refusal is answered: with which status, in which shape, and what else its sender has to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi import Request

from campaigns.errors import NotSignedIn, TooMany
from web.exception_handlers import error_response

if TYPE_CHECKING:
    from tests.service.service import Service


def request_of(path: str, **values: Any) -> Request:
    return Request({"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [], **values})


def test_who_has_to_sign_in_comes_back_to_the_whole_address(service: Service) -> None:
    client = service.client()
    for address in ("/account", "/account?name=a%26b&x=1"):
        answer = client.get(address, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        led = urlsplit(answer.headers["Location"])
        assert (led.path, parse_qs(led.query)) == ("/sign-in", {"next": [address]})


def test_a_token_that_is_no_good_is_not_sent_to_sign_in(service: Service) -> None:
    """Signing in would not mend it, and its sender would come back for ever."""
    answer = service.client(headers={"Authorization": "Bearer nonsense"}).get("/account", follow_redirects=False)
    assert answer.status_code == 401
    assert answer.headers["Content-Type"].startswith("text/html")


def test_whatever_a_program_of_nobody_wants_is_refused_in_one_way() -> None:
    answer = error_response(request_of("/api/v1/teams", method="POST"), NotSignedIn())
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="steelyard"')


def test_a_program_is_told_by_what_it_may_sign_in(service: Service) -> None:
    client = service.client()
    refused = client.get("/api/v1/account")
    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, 'Bearer realm="steelyard"')
    assert "WWW-Authenticate" not in client.get("/api/v1/nowhere").headers


def test_another_method_is_answered_with_those_that_there_are(service: Service) -> None:
    for address in ("/api/v1/me", "/sign-in"):
        answer = service.client().delete(address)
        assert answer.status_code == 405
        assert "GET" in answer.headers["Allow"]


def test_what_is_wrong_in_a_request_is_named(service: Service) -> None:
    error = service.client().get("/api/v1/campaigns", params={"limit": "many"}).json()["error"]
    assert error["code"] == "bad_input"
    assert [each.partition(":")[0] for each in error["details"]] == ["query.limit"]


@pytest.mark.parametrize(("seconds", "told"), [(0.2, "1"), (1.4, "1"), (89.6, "90"), (None, None)])
def test_a_time_to_wait_is_whole_seconds_and_never_none(seconds: float | None, told: str | None) -> None:
    answer = error_response(request_of("/api/v1/me"), TooMany("Later.", retry_seconds=seconds))
    assert (answer.status_code, answer.headers.get("Retry-After")) == (429, told)
