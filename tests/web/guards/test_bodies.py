"""Bodies that are too large, too slow, or lie about themselves; on a real server, whose buffers are part of it."""

from __future__ import annotations

import hashlib
import select
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Annotated, Any

import pytest
from fastapi import FastAPI, Form, Request, UploadFile
from fastapi.testclient import TestClient
from pydantic import BaseModel

from runtime.service_settings import WebSettings
from tests.web.wire import PATIENCE_SECONDS, Wire, served
from web.exception_handlers import add_exception_handlers
from web.guards import guard
from web.uploads.large_bodies import accepts_upload

KIB = 1024
SETTINGS: dict[str, Any] = {"form_bytes": 4 * KIB, "upload_bytes": 64 * KIB, "body_seconds": 0.3, "upload_seconds": 0.6}


class Named(BaseModel):
    name: str


def small_app(**settings: Any) -> FastAPI:
    """Routes that take bodies in all ways there are."""
    app = FastAPI()
    add_exception_handlers(app)
    guard(app, WebSettings(**{**SETTINGS, **settings}))

    @app.post("/api/json")
    def read_json(named: Named) -> int:
        return len(named.name)

    @app.post("/api/form")
    def read_form(name: Annotated[str, Form()]) -> int:
        return len(name)

    @app.post("/api/raw")
    async def read_raw(request: Request) -> int:
        return len(await request.body())

    @app.post("/api/upload")
    @accepts_upload
    def read_upload(file: UploadFile) -> str:
        return hashlib.sha256(file.file.read()).hexdigest()

    @app.put("/api/piece")
    @accepts_upload
    async def read_piece(request: Request) -> int:
        return sum([len(piece) async for piece in request.stream()])

    @app.post("/api/nothing")
    def read_nothing() -> str:
        return "done"

    @app.get("/api/broken")
    def broken() -> str:
        raise ZeroDivisionError("a secret of somebody")

    return app


class Somebody:
    """Who sends: the small app has no accounts."""

    signed_in = True
    account_id = 1


@pytest.fixture(autouse=True)
def somebody(monkeypatch: pytest.MonkeyPatch) -> type[Somebody]:
    monkeypatch.setattr("web.guards.bodies.read_principal", lambda _: Somebody)
    monkeypatch.setattr(Somebody, "signed_in", True)
    return Somebody


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ExitStack() as stack:
        yield stack.enter_context(served(small_app()))


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(small_app(), raise_server_exceptions=False) as client:
        yield client


@pytest.mark.parametrize("path", ["/api/json", "/api/form", "/api/raw"])
def test_forms_have_a_limit(client: TestClient, path: str) -> None:
    for size, status in ((KIB, 200), (5 * KIB, 413)):
        sent: dict[str, Any] = {"json": {"name": "x" * size}} if path == "/api/json" else {"data": {"name": "x" * size}}
        answer = client.post(path, **sent)
        assert answer.status_code == status, answer.text
        if status == 413:
            assert answer.json()["error"]["code"] == "too_large"
            assert "4,096 bytes" in answer.json()["error"]["message"]


def test_uploads_have_another(client: TestClient) -> None:
    content = b"x" * (60 * KIB)
    answer = client.post("/api/upload", files={"file": content})
    assert (answer.status_code, answer.json()) == (200, hashlib.sha256(content).hexdigest())
    assert client.put("/api/piece", content=content).json() == len(content)
    assert client.post("/api/upload", files={"file": content * 2}).status_code == 413
    assert client.put("/api/piece", content=content * 2).status_code == 413


def test_of_those_who_are_not_signed_in_no_upload_is_read(client: TestClient, somebody: type[Somebody]) -> None:
    content = b"x" * (60 * KIB)
    somebody.signed_in = False
    for answer in (client.post("/api/upload", files={"file": content}), client.put("/api/piece", content=content)):
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not_signed_in")
    # What is no larger than a form is left to the route.
    assert client.put("/api/piece", content=b"x" * KIB).status_code == 200


def test_what_is_announced_is_refused_before_it_is_sent(port: int) -> None:
    for announced in (str(10**9), "9" * 4000):
        with Wire(port) as wire:
            wire.send("POST /api/raw HTTP/1.1\r\nHost: localhost\r\n", f"Content-Length: {announced}\r\n\r\n", b"x")
            status, text = wire.answer()
        assert status in (400, 413), text
    assert "Traceback" not in text


@pytest.mark.parametrize("path", ["/api/raw", "/api/json", "/api/form"])
def test_bodies_of_unknown_length_are_counted_as_they_come(port: int, path: str) -> None:
    kind = "application/json" if path == "/api/json" else "application/x-www-form-urlencoded"
    with Wire(port) as wire:
        wire.send(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n")
        wire.send("Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(5):
            wire.send(b"400\r\n" + b"x" * KIB + b"\r\n")
        status, text = wire.answer()
    assert status == 413, text
    assert '"code":"too_large"' in text


@pytest.mark.parametrize("path", ["/api/raw", "/api/form", "/api/upload", "/api/piece"])
def test_who_stops_sending_is_not_waited_for(port: int, path: str) -> None:
    kind = "multipart/form-data; boundary=x" if path == "/api/upload" else "application/x-www-form-urlencoded"
    begun = time.monotonic()
    with Wire(port) as wire:
        wire.send(f"{'PUT' if path == '/api/piece' else 'POST'} {path} HTTP/1.1\r\nHost: localhost\r\n")
        wire.send(f"Content-Type: {kind}\r\nContent-Length: 100\r\n\r\n", b"--x\r\n")
        status, text = wire.answer()
    assert status == 408, text
    assert "too_slow" in text
    seconds = SETTINGS["upload_seconds" if path in ("/api/upload", "/api/piece") else "body_seconds"]
    assert f"The request took longer than {seconds:g} s to arrive." in text
    assert time.monotonic() - begun > 0.25


def test_who_drips_is_not_waited_for_either(port: int) -> None:
    with Wire(port) as wire:
        wire.send("POST /api/raw HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(40):
            wire.send(b"x")
            if select.select([wire.socket], [], [], 0.1)[0]:
                break
        else:
            pytest.fail("all of it has 0.3 s, not each byte")
        assert wire.answer()[0] == 408


def test_who_goes_away_harms_nobody(port: int, caplog: pytest.LogCaptureFixture) -> None:
    for path in ("/api/raw", "/api/upload", "/api/piece"):
        with Wire(port) as wire:
            verb = "PUT" if path == "/api/piece" else "POST"
            wire.send(f"{verb} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n")
            wire.send("Content-Length: 500\r\n\r\n", b"--x\r\n")
    with Wire(port) as wire:
        wire.send("POST /api/nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert wire.answer()[0] == 200
    assert not [record for record in caplog.records if record.exc_info], caplog.text


def test_a_body_that_nobody_reads_is_no_matter(port: int) -> None:
    with Wire(port) as wire:
        wire.send("POST /api/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n", b"x" * 1000)
        wire.socket.settimeout(2)
        assert b"200 OK" in wire.hear(b'"done"')


def test_faults_of_our_own_say_only_where_to_look(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    answer = client.get("/api/broken")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (500, "failed")
    assert answer.headers["X-Request-ID"] in error["message"]
    assert "Content-Security-Policy" in answer.headers
    assert "secret" not in answer.text
    assert [record.redact_exception for record in caplog.records if record.exc_info] == [True]  # type: ignore[attr-defined]


def test_uploads_under_way_have_room_by_account_and_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """One account without a team kept 1.3 GB on the disk, twenty uploads that it never ended."""

    class Sender(Somebody):
        def __init__(self, request: Request) -> None:
            self.account_id = int(request.headers["X-Account"])

    monkeypatch.setattr("web.guards.bodies.read_principal", Sender)
    room = {"pending_upload_bytes_each": 50 * KIB, "pending_upload_bytes": 90 * KIB}
    with served(small_app(**room, upload_seconds=60)) as port, ExitStack() as stack:

        def begun(account: int, size: int) -> Wire:
            wire = stack.enter_context(Wire(port))
            wire.send(f"PUT /api/piece HTTP/1.1\r\nHost: localhost\r\nX-Account: {account}\r\nConnection: close\r\n")
            wire.send(f"Content-Length: {size + 1}\r\n\r\n", b"x" * size)
            return wire

        def ended(wire: Wire) -> tuple[int, str]:
            with suppress(ConnectionError):
                wire.send(b"x")
            return wire.answer()

        def ends_with(status: int, account: int, size: int) -> str:
            # What others have begun may still be on its way.
            deadline = time.monotonic() + PATIENCE_SECONDS
            while (answer := ended(begun(account, size)))[0] != status:
                assert time.monotonic() < deadline, answer
            return answer[1]

        first = begun(1, 40 * KIB)
        assert '"code":"too_many"' in ends_with(429, 1, 40 * KIB)
        # What is no larger than a form has room always.
        assert ended(begun(1, 3 * KIB))[0] == 200
        second = begun(2, 40 * KIB)
        assert '"code":"unavailable"' in ends_with(503, 3, 40 * KIB)
        assert ended(begun(3, 3 * KIB))[0] == 200
        # With the end of an upload its room is there again, also where it was broken off.
        assert ended(first)[0] == 200
        second.socket.close()
        ends_with(200, 1, 40 * KIB)
        ends_with(200, 3, 40 * KIB)


@pytest.mark.parametrize("announced", ["x", "-1", "1e3", "٣"])
def test_a_length_that_is_no_number_is_refused(client: TestClient, announced: str) -> None:
    headers = {"Content-Length": announced.encode(), "Content-Type": "application/json"}
    answer = client.post("/api/json", content=b'{"name": "x"}', headers=headers)
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        422, "The header Content-Length is no number.",
    )  # fmt: skip
