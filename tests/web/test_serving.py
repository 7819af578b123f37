"""The process that serves: its socket, its address, and how it comes to an end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from typing import Any

import pytest
import uvicorn

from runtime.service_settings import WebSettings
from tests.service.service import Service
from web import serving
from web.access_log import AccessLog
from web.serving import _Server, address_of, listen, process_status
from web.state import State


def test_bodies_do_not_wait_until_headers_are_acknowledged() -> None:
    with listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_address_has_the_port_that_was_chosen_and_no_slash_behind_it() -> None:
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        for values, url in (
            ({}, f"http://127.0.0.1:{port}"),
            ({"web_host": "::1"}, f"http://[::1]:{port}"),
            ({"public_url": "https://mt.example.org/"}, "https://mt.example.org"),
        ):
            settings = WebSettings(**{"web_host": "127.0.0.1", **values})
            found = address_of(settings, listening)
            assert (found.host, found.port, found.public_url) == (settings.web_host, port, url)


@pytest.fixture
def server(service: Service) -> _Server:
    return _Server(AccessLog(service.app), State(service.settings, service.engine), None)


def test_the_first_signal_lets_requests_finish_and_the_second_does_not(server: _Server) -> None:
    *_, accepts = process_status(server._state.settings, server).ready
    assert accepts().ok
    server.handle_exit(signal.SIGTERM, None)
    assert (server.should_exit, server.force_exit, accepts().ok) == (True, False, False)
    server.handle_exit(signal.SIGTERM, None)
    assert (server.should_exit, server.force_exit) == (True, True)


def test_it_ends_with_the_process_that_began_it(server: _Server) -> None:
    for parent, ends in ((None, False), (os.getppid(), False), (os.getpid(), True)):
        server._parent = parent
        assert asyncio.run(server.on_tick(1)) is ends
    assert not server.force_exit


def test_it_ends_when_the_tables_are_those_of_another_release(server: _Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SCHEMA_CHECK_SECONDS", 0.0)
    answers = [None, None, "The tables are newer."]
    monkeypatch.setattr(serving, "read_schema_problem", lambda *_: answers.pop(0))
    server.watch_schema()
    assert (server.problem, server.should_exit, server.force_exit) == ("The tables are newer.", True, False)
    assert answers == []


def test_what_would_not_end_by_itself_is_ended_before_requests_are_waited_for(
    server: _Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream of events has no end, and an upload may be read for long."""
    closed: list[str] = []

    class Sandbox:
        def close(self) -> None:
            closed.append("sandbox")

    async def shutdown(*_: Any, **__: Any) -> None:
        closed.append("requests")
        assert server._state.stopping.is_set()

    monkeypatch.setitem(vars(server._state), "sandbox", Sandbox())
    monkeypatch.setattr(server._state.segment_pages, "close", lambda: closed.append("segment pages"))
    monkeypatch.setattr(uvicorn.Server, "shutdown", shutdown)
    asyncio.run(server.shutdown())
    assert sorted(closed[:2]) == ["sandbox", "segment pages"]
    assert closed[2:] == ["requests"]
