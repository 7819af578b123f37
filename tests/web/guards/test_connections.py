"""Connections on which nothing whole is said."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from fastapi.responses import Response, StreamingResponse

from runtime.service_settings import WebSettings
from tests.web.guards.test_bodies import small_app
from tests.web.wire import Wire, served
from web.guards.connections import guarded_protocol

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
@pytest.mark.parametrize(("size", "status"), [(30_000, 200), (40_000, 431)])
def test_long_headers_are_judged_when_all_pieces_have_arrived(port: int, size: int, status: int) -> None:
    with Wire(port) as wire:
        for piece in (ASKED, "X-Long: " + "x" * 20_000, "x" * (size - 20_000), "\r\nConnection: close\r\n\r\n"):
            wire.send(piece)
            time.sleep(0.05)
        assert wire.answer()[0] == status


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


LARGE = 20_000_000
"""Bytes: much more than the system's own buffers hold."""


def connected(port: int, address: str) -> Wire:
    """A connection from another address of this machine."""
    return Wire(port, (address, 0))


@contextmanager
def guarded(**settings: Any) -> Iterator[int]:
    known = WebSettings(header_seconds=60, **settings)
    app = small_app(**settings)

    @app.get("/api/large")
    async def large() -> Response:
        return Response(b"x" * LARGE)

    with served(app, http=guarded_protocol(known)) as port:
        yield port


def is_answered(wire: Wire) -> bool:
    wire.send(ASKED + "\r\n")
    return b"200 OK" in wire.hear(DONE)


def test_one_address_has_a_share_of_the_connections() -> None:
    with guarded(concurrent_requests=5, connections_each=4) as port, ExitStack() as stack:
        first = [stack.enter_context(connected(port, "127.0.0.2")) for _ in range(4)]
        assert all(map(is_answered, first))
        with connected(port, "127.0.0.2") as more:
            # With its request: a connection without one would be closed in the end, too.
            with suppress(ConnectionError):
                more.send(ASKED, "Connection: close\r\n\r\n")
            assert more.answer() == (0, "")
        assert is_answered(stack.enter_context(connected(port, "127.0.0.3")))


def test_where_all_places_are_taken_who_holds_most_without_use_gives_one() -> None:
    with guarded(concurrent_requests=5, connections_each=8) as port, ExitStack() as stack:
        modest = stack.enter_context(connected(port, "127.0.0.9"))
        greedy = [stack.enter_context(connected(port, "127.0.0.2")) for _ in range(8)]
        other = stack.enter_context(connected(port, "127.0.0.3"))
        assert all(map(is_answered, [modest, other, *greedy]))
        late = stack.enter_context(connected(port, "127.0.0.4"))
        assert is_answered(late)
        assert is_answered(modest)
        assert is_answered(other)
        gone = [each for each in greedy if not answers(each)]
        assert len(gone) == 1


def answers(wire: Wire) -> bool:
    with suppress(ConnectionError):
        return is_answered(wire)
    return False


def test_from_a_trusted_proxy_any_number_comes() -> None:
    settings = {"concurrent_requests": 5, "connections_each": 2, "trusted_proxies": "127.0.0.0/8"}
    with guarded(**settings) as port, ExitStack() as stack:
        wires = [stack.enter_context(connected(port, "127.0.0.2")) for _ in range(6)]
        assert all(map(is_answered, wires))


@pytest.mark.parametrize("limits", [{"unread_bytes_each": 3 * LARGE}, {"unread_bytes": 3 * LARGE}], ids=str)
def test_answers_that_nobody_reads_are_bounded(limits: dict[str, int]) -> None:
    together = "unread_bytes" in limits
    with guarded(**limits) as port, ExitStack() as stack:
        wires = [
            stack.enter_context(connected(port, f"127.0.0.{2 + number if together else 2}")) for number in range(8)
        ]
        for wire in wires:
            wire.send("GET /api/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        # Until all have begun to be answered, or were cut off.
        for wire in wires:
            with suppress(ConnectionError):
                wire.hear(b"200 OK")
        assert is_answered(stack.enter_context(connected(port, "127.0.0.99")))
        whole = [wire for wire in wires if len(rest(wire)) > LARGE - 70_000]
        assert 1 <= len(whole) <= 4


def rest(wire: Wire) -> bytes:
    """What is left of a large answer, up to where it was cut off."""
    received = b""
    with suppress(ConnectionError):
        while len(received) < LARGE - 70_000 and (piece := wire.socket.recv(1 << 20)):
            received += piece
    return received
