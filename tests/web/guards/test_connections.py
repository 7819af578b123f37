"""Connections on which nothing whole is said."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import pytest
from fastapi.responses import StreamingResponse

from tests.web.guards.test_bodies import small_app
from tests.web.wire import Wire, served
from web.guards.connections import guarded_protocol
from web.settings import WebSettings

ASKED = "POST /api/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"

DONE = b'"done"'


@pytest.fixture(params=[0.6])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    settings = {"header_seconds": request.param, "concurrent_requests": 3}
    with ExitStack() as stack:
        protocol = guarded_protocol(WebSettings(**settings))
        yield stack.enter_context(served(small_app(**settings), http=protocol))


patient = pytest.mark.parametrize("port", [3.0], indirect=True, ids=["patient"])
"""For those who send in time also where the machine has other things to do."""


@pytest.mark.parametrize("sent", ["", "POST /api/nothing HTTP/1.1\r\n", ASKED + "X-Long: "])
def test_headers_by_the_drop_are_cut_off(port: int, sent: str) -> None:
    begun = time.monotonic()
    with Wire(port) as wire:
        wire.send(sent)
        for _ in range(3):
            wire.send("x" if sent else "")
            time.sleep(0.05)
        assert wire.answer() == (0, "")
    assert time.monotonic() - begun > 0.5


def test_the_second_request_of_a_connection_has_no_longer(port: int) -> None:
    with Wire(port) as wire:
        wire.send(ASKED + "\r\n")
        assert b"200 OK" in wire.hear(DONE)
        wire.send(ASKED)
        # It ends: whoever has sent something is not cut off for being idle.
        assert wire.answer() == (0, "")


@patient
def test_requests_in_time_are_answered_one_after_the_other(port: int) -> None:
    with Wire(port) as wire:
        for _ in range(4):
            wire.send(ASKED + "\r\n")
            assert b"200 OK" in wire.hear(DONE)
            time.sleep(0.8)


def test_who_does_not_read_is_not_waited_for() -> None:
    settings = {"body_seconds": 0.3}
    app = small_app(**settings)
    ended = []

    @app.get("/api/large")
    async def large() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            try:
                for _ in range(1000):
                    yield b"x" * 100_000
            finally:
                ended.append(time.monotonic())

        return StreamingResponse(parts())

    with served(app, http=guarded_protocol(WebSettings(**settings))) as port, Wire(port) as wire:
        begun = time.monotonic()
        wire.send("GET /api/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while not ended and time.monotonic() - begun < 60:
            time.sleep(0.02)
        # While the client is still there.
        assert ended


@patient
def test_there_are_only_so_many(port: int) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(Wire(port)) for _ in range(6)]
        time.sleep(0.1)
        with Wire(port) as late:
            assert late.answer() == (0, "")
        held[0].send(ASKED + "\r\n")
        assert b"200 OK" in held[0].hear(DONE)
