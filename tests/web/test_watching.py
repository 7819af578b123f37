"""What is counted and logged of requests, and what is not."""

import asyncio
import logging
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from campaigns.accounts.secrets import new_secret
from runtime.telemetry import exposition
from tests.service.service import Service
from web.access_log import LONGEST_PATH, AccessLog, shown_path


@pytest.fixture
def watched(service: Service) -> AccessLog:
    return AccessLog(service.app)


def client_of(service: Service, watched: AccessLog) -> TestClient:
    return service.stack.enter_context(TestClient(watched, raise_server_exceptions=False))


def test_requests_are_counted_by_the_routes_that_are_declared(service: Service, watched: AccessLog) -> None:
    client = client_of(service, watched)
    for path in ("/", "/", "/api/v1/me", "/static/site.css", "/made/up", f"/made/up/{new_secret()}"):
        client.get(path)
    client.post("/", content=b"x" * 1000)
    told = exposition(watched.collectors).decode()
    for route, status, times in (("/", 200, 2), ("/api/v1/me", 200, 1), ("/static", 200, 1), ("none", 404, 2)):
        line = f'steelyard_web_requests_total{{method="GET",route="{route}",status="{status}"}} {times}.0'
        assert line in told.splitlines()
    assert 'steelyard_web_request_seconds_count{route="/"}' in told
    assert "steelyard_web_requests_running 0.0" in told
    assert "made" not in told


def test_a_request_is_logged_without_secrets(
    service: Service, watched: AccessLog, caplog: pytest.LogCaptureFixture
) -> None:
    mary = service.account("mary")
    secret, token = new_secret(), service.program(mary).headers["Authorization"]
    with caplog.at_level(logging.INFO, "web.access_log"):
        client_of(service, watched).get(
            f"/invitations/{secret}", params={"q": "hidden"}, headers={"Authorization": token}
        )
        client_of(service, watched).get("/api/v1/me", headers={"Authorization": token})
    lost, found = (record for record in caplog.records if record.name == "web.access_log")
    assert lost.getMessage().startswith("GET /invitations/***: ")
    assert found.getMessage() == "GET /api/v1/me: 200"
    assert found.fields["account"] == mary
    assert found.fields["route"] == "/api/v1/me"
    # The client of the test may tell what it asks for.
    told = [record for record in caplog.records if not record.name.startswith("httpx")]
    everything = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in told)
    for hidden in (secret, token.partition(" ")[2], "hidden"):
        assert hidden not in everything


def test_a_failure_is_logged_once_and_counted(
    service: Service, watched: AccessLog, caplog: pytest.LogCaptureFixture
) -> None:
    @service.app.get("/broken")
    def broken() -> None:
        raise RuntimeError("out of order")

    # The client would see what gets past the app.
    with TestClient(watched, raise_server_exceptions=True) as client:
        assert client.get("/broken").status_code == 500
    assert len([record for record in caplog.records if record.exc_info]) == 1
    assert 'route="/broken",status="500"' in exposition(watched.collectors).decode()


def test_paths_are_shown_on_one_short_line() -> None:
    assert shown_path("/campaigns/two\nlines") == "/campaigns/two\\nlines"
    assert len(shown_path("/campaigns/" + "long name " * 100)) <= LONGEST_PATH + 3
    assert shown_path("/campaigns/news 2026/leaderboard") == "/campaigns/news 2026/leaderboard"


def test_who_was_here_is_recorded_now_and_then_and_of_few_is_it_known(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.state.MAX_PRINCIPALS", 2)
    state = service.app.state.steelyard

    def stale(session: int) -> bool:
        return bool(state.is_stale(SimpleNamespace(session_id=session, token_id=None)))

    assert [stale(each) for each in (1, 1, 2, 2, 1)] == [True, False, True, False, False]
    # A third is one too many: all are recorded again, each once.
    assert [stale(each) for each in (3, 3, 1, 1)] == [True, False, True, False]


def test_bytes_of_bodies_that_are_read_are_counted(service: Service, watched: AccessLog) -> None:
    client = client_of(service, watched)
    for content in (b"", b"email=" + b"x" * 94, b"email=" + b"x" * 894):
        client.post("/sign-in", content=content, headers={"Content-Type": "application/x-www-form-urlencoded"})
    client.get("/")
    told = exposition(watched.collectors).decode()
    assert "steelyard_web_received_bytes_total 1000.0" in told.splitlines()


def test_a_body_that_comes_in_pieces_is_counted_as_a_whole() -> None:
    pieces = [{"type": "http.request", "body": b"x" * size, "more_body": size < 64} for size in (6, 30, 64)]

    async def app(_: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["more_body"]:
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Message:
        return pieces.pop(0)

    async def send(_: Message) -> None:
        pass

    watched = AccessLog(app)
    asyncio.run(watched({"type": "http", "method": "POST", "path": "/sign-in"}, receive, send))
    assert "steelyard_web_received_bytes_total 100.0" in exposition(watched.collectors).decode().splitlines()
