"""Forms come from our own pages, or nothing happens."""

from contextlib import ExitStack

import pytest

from tests.service.service import Service
from web.dependencies import FORM_FIELD, FORM_HEADER, SESSION_COOKIE, VISITOR_COOKIE, CurrentPrincipal, form_token

FORGED = {
    "another site": {"Sec-Fetch-Site": "cross-site"},
    "a sister of this host": {"Sec-Fetch-Site": "same-site"},
    "another origin": {"Origin": "https://evil.example"},
    "a page without an origin": {"Origin": "null"},
}


@pytest.fixture
def changing(service: Service) -> Service:
    """The service with a route that changes something, on a page and in the API."""

    def change(principal: CurrentPrincipal) -> dict[str, str]:
        return {"who": principal.name}

    service.app.add_api_route("/change", change, methods=["POST"])
    service.app.add_api_route("/api/v1/change", change, methods=["POST"])
    return service


@pytest.mark.parametrize("path", ["/change", "/api/v1/change"])
def test_a_session_changes_something_only_with_what_its_forms_carry(changing: Service, path: str) -> None:
    client = changing.browser(changing.account("mary"))
    good = client.headers[FORM_HEADER]
    assert client.post(path).json() == {"who": "mary"}
    assert client.post(path, headers={"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}).is_success
    other = changing.browser(changing.account("eve")).headers[FORM_HEADER]
    for bad in ("", "x", other):
        assert client.post(path, headers={FORM_HEADER: bad}).status_code == 403
    for headers in FORGED.values():
        assert client.post(path, headers={FORM_HEADER: good, **headers}).status_code == 403
    del client.headers[FORM_HEADER]
    assert client.post(path, data={FORM_FIELD: good}).is_success
    assert client.post(path, data={FORM_FIELD: good}, files={"file": b"x"}).is_success
    assert client.post(path, data={FORM_FIELD: good}, headers={"Sec-Fetch-Site": "none"}).is_success
    assert client.post(path, data={FORM_FIELD: "x"}).status_code == 403
    assert client.post(path, data={FORM_FIELD: "x"}, files={"file": b"x"}).status_code == 403
    assert client.post(f"{path}?{FORM_FIELD}={good}").status_code == 403


def test_a_form_that_was_seen_before_signing_in_is_not_one_of_the_session(changing: Service) -> None:
    client = changing.browser(changing.account("mary"))
    client.cookies.set(VISITOR_COOKIE, "known")
    assert client.post("/change", headers={FORM_HEADER: form_token("known")}).status_code == 403
    assert client.post("/change").json() == {"who": "mary"}


@pytest.mark.parametrize(
    ("host", "origin", "good"),
    [
        ("mt.example.org", "https://mt.example.org", True),
        ("MT.example.org", "https://mt.EXAMPLE.org", True),
        ("localhost", "https://mt.example.org", True),
        ("localhost", "http://localhost", True),
        ("localhost", "https://mt.example.org:8000", False),
        ("mt.example.org", "https://localhost", False),
        ("mt.example.org", "https://evil.example/mt.example.org", False),
        ("localhost", "", False),
    ],
)
def test_a_proxy_may_know_the_server_by_another_name(service_url: str, host: str, origin: str, good: bool) -> None:
    with ExitStack() as stack:
        service = Service.start(service_url, stack, public_url="https://mt.example.org")
        secret = service.session(service.account("mary"))
        headers = {FORM_HEADER: form_token(secret), "Host": host, "Origin": origin}
        # Browsers let nobody else set a cookie that is called so.
        for cookie, status in (
            (f"__Host-{SESSION_COOKIE}", 201 if good else 403),
            (SESSION_COOKIE, 401 if good else 403),
        ):
            client = service.client(headers={**headers, "Cookie": f"{cookie}={secret}"})
            assert client.post("/api/v1/tokens", json={"name": "laptop"}).status_code == status


def test_a_program_needs_no_form(changing: Service) -> None:
    client = changing.program(changing.account("mary"))
    for path in ("/change", "/api/v1/change"):
        assert client.post(path).json() == {"who": "mary"}


def test_nobody_sends_forms_without_having_seen_one(changing: Service) -> None:
    client = changing.client()
    assert client.post("/change").status_code == 403
    client.cookies.set(VISITOR_COOKIE, "known")
    assert client.post("/change", data={FORM_FIELD: form_token("known")}).json() == {"who": ""}
    assert client.post("/change", data={FORM_FIELD: form_token("unknown")}).status_code == 403
    assert client.post("/api/v1/change").json() == {"who": ""}
