"""What holds for every answer of the app."""

import warnings
from unittest.mock import patch

from fastapi.testclient import TestClient

from models.schema.roles import Scope, SiteRole, Visibility
from runtime.service_settings import WebSettings
from tests.service.service import Service
from web.app import create_app, prepare_routes
from web.guards import HEADERS


def test_who_asks_gets_an_answer(service: Service) -> None:
    mary = service.account("mary", SiteRole.ORGANISER)
    service.team("harbour", mary)
    assert service.client().get("/api/v1/me").json()["signed_in"] is False
    for client in (service.browser(mary), service.program(mary)):
        told = client.get("/api/v1/me").json()
        assert (told["email"], told["role"], told["teams"]) == ("mary@example.org", "organiser", {"harbour": "lead"})
    assert service.program(mary, Scope.READ).get("/api/v1/me").json()["scopes"] == ["read"]


def test_a_token_that_is_no_good_is_not_taken_for_nobody(service: Service) -> None:
    answer = service.client(headers={"Authorization": "Bearer nonsense"}).get("/api/v1/me")
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "not_signed_in"
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_errors_have_one_shape_in_the_api_and_a_page_elsewhere(service: Service) -> None:
    client = service.client()
    answer = client.get("/api/v1/nowhere")
    assert (answer.status_code, set(answer.json()["error"])) == (404, {"code", "message", "details"})
    page = client.get("/nowhere")
    assert page.status_code == 404
    assert page.headers["Content-Type"].startswith("text/html")
    assert 'role="alert"' in page.text


def test_every_answer_has_the_headers_of_a_strict_page(service: Service) -> None:
    client = service.client()
    for path in ("/", "/nowhere", "/api/v1/me", "/static/site.css"):
        headers = client.get(path).headers
        assert {name: headers[name] for name in HEADERS} == HEADERS
        # What is shown depends on who asks.
        assert headers["Cache-Control"] == "private, no-cache"
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


def test_head_is_get_without_the_content(service: Service) -> None:
    mary = service.account("mary", SiteRole.ORGANISER)
    service.campaign("harbour", organisers=(mary,))
    browser = service.browser(mary)
    paths = ["/", "/campaigns/harbour", "/campaigns/harbour/leaderboard", "/nowhere", "/queue", "/static/site.css"]
    for path in [*paths, "/api/v1/me", "/api/v1/openapi.json"]:
        whole, head = browser.get(path), browser.head(path)
        assert (head.status_code, head.content) == (whole.status_code, b""), path
        # Requests are numbered, and forms carry a secret that changes.
        changing = {"x-request-id", "content-length", "etag", "date", "last-modified"}
        # Files answer HEAD themselves, without content to compress.
        changing |= {"content-encoding", "vary"} if path.startswith("/static/") else set()
        assert {k: v for k, v in head.headers.items() if k not in changing} == {
            k: v for k, v in whole.headers.items() if k not in changing
        }, path
    assert browser.head("/campaigns/harbour/join").status_code == 405, "what only takes POST"


def test_campaigns_that_one_may_not_know_of_are_not_listed(service: Service) -> None:
    mary, zoe, eve = service.account("mary"), service.account("zoe"), service.account("eve")
    service.campaign("open waters", organisers=(mary,))
    service.campaign("secret", organisers=(mary,), teams=(service.team("harbour", zoe),), visibility=Visibility.PRIVATE)
    shown = {
        name: "secret" in client.get("/").text
        for name, client in {
            "nobody": service.client(),
            "mary": service.browser(mary),
            "zoe": service.browser(zoe),
            "eve": service.browser(eve),
            "root": service.browser(service.account("root", SiteRole.ADMINISTRATOR)),
        }.items()
    }
    assert shown == {"nobody": False, "mary": True, "zoe": True, "eve": False, "root": True}
    assert "open waters" in service.client().get("/").text


def test_no_request_prepares_a_route() -> None:
    """The first request to a server is as quick as the second, and leaves the filters of warnings alone."""
    app = create_app(WebSettings(database_url="sqlite:///not-opened.db"))
    prepare_routes(app)
    with patch("warnings.catch_warnings", wraps=warnings.catch_warnings) as changed:
        # What no route has passes them all.
        assert TestClient(app).get("/api/v1/nothing").status_code == 404
    assert not changed.called
