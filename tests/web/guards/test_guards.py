"""Which requests are not answered at all, and what answers say to browsers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from fastapi import Request

from models.schema.roles import Scope
from tests.service.service import Service
from tests.web.wire import Wire, served
from web.dependencies import address_of
from web.guards.concurrency_limit import ConcurrencyLimit
from web.guards.head_requests import HeadRequests
from web.guards.headers import ONLY_HTTPS


@pytest.fixture
def start(service_url: str) -> Iterator[Any]:
    """Starts an app with settings."""
    with ExitStack() as stack:
        yield lambda **settings: Service.start(service_url, stack, **settings)


def told(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("mt.example.org", True),
        ("MT.Example.org:8718", True),
        ("mt.example.org.", True),
        ("localhost:8718", True),
        ("127.0.0.1", True),
        ("[::1]:8718", True),
        ("evil.example", False),
        ("evil.example/mt.example.org", False),
        ("mt.example.org@evil.example", False),
        ("mt.example.org.evil.example", False),
        ("10.1.2.3", False),
        ("mt.example.org/x", False),
        ("mt.example.org?x", False),
        ("mt.example.org#x", False),
        ("evil@mt.example.org", False),
        ("[", False),
        ("", False),
    ],
)
def test_only_names_of_this_server_are_answered(start: Any, host: str, known: bool) -> None:
    client = start(public_url="https://mt.example.org").client()
    for path in ("/api/v1/me", "/"):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == (200 if known else 400), answer.text
    if not known:
        assert told(client.get("/api/v1/me", headers={"Host": host})) == (400, "unknown_host")


@pytest.mark.parametrize(
    ("own", "host", "known"),
    [
        ("10.1.2.3", "10.1.2.3:8718", True),
        ("10.1.2.3", "10.1.2.4", False),
        ("fd00::1", "[fd00::1]:8718", True),
        ("fd00::1", "[fd00::2]:8718", False),
        ("quay.example", "quay.example", True),
    ],
)
def test_the_address_that_it_listens_on_is_answered(start: Any, own: str, host: str, known: bool) -> None:
    answer = start(web_host=own).client().get("/api/v1/me", headers={"Host": host})
    assert answer.status_code == (200 if known else 400)


def test_two_hosts_are_none(service: Service) -> None:
    answer = service.client().get("/api/v1/me", headers=[("Host", "testserver"), ("Host", "localhost")])
    assert told(answer) == (400, "unknown_host")


def test_browsers_stay_with_https_where_it_is_there(start: Any) -> None:
    secure = start(public_url="https://mt.example.org").client()
    for path in ("/", "/nowhere", "/static/site.css", "/api/v1/me"):
        assert secure.get(path).headers["Strict-Transport-Security"] == ONLY_HTTPS
    assert "Strict-Transport-Security" not in start(public_url="http://mt.example.org").client().get("/").headers


@pytest.mark.parametrize(
    ("trusted", "address", "scheme"),
    [("", "testclient", "http"), ("10.0.0.1", "testclient", "http"), ("10.0.0.1, testclient", "203.0.113.7", "https")],
)
def test_only_trusted_proxies_are_believed(start: Any, trusted: str, address: str, scheme: str) -> None:
    service = start(trusted_proxies=trusted)

    @service.app.get("/api/v1/seen")
    def seen(request: Request) -> list[str]:
        return [address_of(request), request.scope["scheme"]]

    headers = {"X-Forwarded-For": "198.51.100.9, 203.0.113.7", "X-Forwarded-Proto": "https"}
    assert service.client().get("/api/v1/seen", headers=headers).json() == [address, scheme]


def test_addresses_and_headers_have_a_sane_size(service: Service) -> None:
    client = service.client()
    assert told(client.get("/api/v1/me?" + "x" * 9000)) == (414, "address_too_long")
    for path, query in (("/api/v1/" + "x" * 5000, "y" * 3184), ("/api/v1/" + "x" * 8184, "")):
        assert told(client.get(f"{path}?{query}")) == (404, "not_found"), "as long as it may be"
        assert told(client.get(f"{path}x?{query}")) == (414, "address_too_long")
    assert told(client.get("/api/v1/me", headers={f"X-{n}": "x" * 5000 for n in range(7)})) == (
        431,
        "headers_too_large",
    )
    assert told(client.get("/api/v1/me", headers={"Cookie": "x=" + "y" * 40000})) == (431, "headers_too_large")


@pytest.mark.parametrize("part", ["%00", "x%00y", "%ff", "%c3%28", "%ed%a0%80"])
def test_addresses_are_text(service: Service, part: str) -> None:
    client = service.client()
    for address in (f"/api/v1/{part}", f"/api/v1/me?x={part}"):
        assert told(client.get(address)) == (400, "odd_address")


def test_each_answer_has_a_number_that_nobody_else_gives(service: Service) -> None:
    client = service.client(headers={"X-Request-ID": "mine"})
    numbers = {client.get(path).headers["X-Request-ID"] for path in ("/", "/api/v1/me", "/nowhere", "/static/site.css")}
    assert len(numbers) == 4
    assert "mine" not in numbers


def test_accounts_and_addresses_ask_only_so_often(start: Any) -> None:
    service = start(requests_per_minute=5)
    mary, zoe = service.account("mary"), service.account("zoe")
    for client, again in (
        (service.browser(mary), service.program(mary, Scope.READ)),
        (service.program(zoe), service.browser(zoe)),
        (service.client(), service.client(cookies={"steelyard_session": "nonsense"})),
    ):
        assert [client.get("/api/v1/me").status_code for _ in range(5)] == [200] * 5
        # Another way in is no other account.
        answer = again.get("/api/v1/me")
        assert told(answer) == (429, "too_many")
        assert 1 <= int(answer.headers["Retry-After"]) <= 120
        assert "5 requests" in answer.json()["error"]["message"]


def test_accounts_upload_only_so_often(start: Any) -> None:
    service = start(uploads_per_minute=2)
    mary, zoe = service.account("mary"), service.account("zoe")
    service.campaign("port", organisers=(mary,))
    address, file = "/api/v1/campaigns/port/checks", {"file": ("out.txt", b"x\n")}

    def told_again(client: Any) -> int:
        return int(client.post(address, data={"system": "mast"}, files=file).status_code)

    client = service.program(mary)
    assert [told_again(client) for _ in range(3)] == [403, 403, 429]
    assert told_again(service.browser(mary)) == 429, "another way in is no other account"
    assert told_again(service.program(zoe)) == 403
    assert client.get("/api/v1/me").status_code == 200
    assert client.post("/api/v1/teams", json={"name": "quay"}).status_code == 201, "what is no upload"


def test_tokens_are_not_tried_without_end(start: Any) -> None:
    service = start(requests_per_minute=5)
    answers = [service.client(headers={"Authorization": f"Bearer sty_{n}"}).get("/api/v1/me") for n in range(7)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429] * 2


def test_only_so_many_are_under_way_at_once() -> None:
    async def rush() -> list[int]:
        gate, answers = asyncio.Event(), []

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            await gate.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})

        crowd = ConcurrencyLimit(slow, most=6)

        async def ask(address: str) -> None:
            async def send(message: Any) -> None:
                if message["type"] == "http.response.start":
                    answers.append(message["status"])

            scope = {"type": "http", "method": "GET", "path": "/api/v1/me", "headers": [], "query_string": b""}
            await crowd({**scope, "client": (address, 1)}, None, send)  # type: ignore[arg-type]

        async with asyncio.TaskGroup() as group:
            for address in ("10.0.0.1",) * 4 + ("10.0.0.2",) * 3 + ("10.0.0.3",):
                group.create_task(ask(address))
            await asyncio.sleep(0)
            gate.set()
        await ask("10.0.0.1")
        return answers

    # The fourth of the first address, then the first of the third: all six places were taken.
    assert asyncio.run(rush()) == [429, 503, *[200] * 7]


def test_an_answer_to_head_is_ended_by_its_first_piece() -> None:
    async def told() -> list[Any]:
        sent: list[Any] = []

        async def pieces(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for more in (True, False):
                await send({"type": "http.response.body", "body": b"x", "more_body": more})

        async def send(message: Any) -> None:
            sent.append(message)

        await HeadRequests(pieces)({"type": "http", "method": "HEAD"}, None, send)  # type: ignore[arg-type]
        return sent

    assert asyncio.run(told()) == [
        {"type": "http.response.start", "status": 200, "headers": []},
        {"type": "http.response.body", "body": b"", "more_body": False},
    ]


def test_secrets_in_cookies_and_headers_are_not_logged(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    mary = service.account("mary")
    secret = service.session(mary)
    service.client(cookies={"steelyard_session": secret}).get("/?token=hunter2")
    service.client(headers={"Authorization": "Bearer hunter3"}).get("/api/v1/me")
    ours = "\n".join(record.getMessage() for record in caplog.records if not record.name.startswith("httpx"))
    assert not [each for each in (secret, "hunter2", "hunter3") if each in ours]


def test_a_server_behind_buffers_says_no_in_words(service: Service) -> None:
    with served(service.app) as port, Wire(port) as wire:
        wire.send("GET /api/v1/me HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        status, text = wire.answer()
    assert status == 400
    assert "unknown_host" in text
