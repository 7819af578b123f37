"""Texts that take long to read: they are ended, and neither pages nor the files of others wait for them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from models.schema.corpus import Submission
from models.schema.roles import Scope
from runtime.service_settings import WebSettings
from tests.service.port import ADDRESS, Port, output
from tests.service.service import Service
from tests.web.hostile.denial_of_service.slow_reader import HOSTILE, reads_slowly
from web.serving import serve

PATIENCE_SECONDS = 240.0


@pytest.fixture
def port(service_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Port]:
    monkeypatch.setattr("web.uploads.submit.read_uploaded_output", reads_slowly)
    with ExitStack() as stack:
        limits = {"reading_processes": 2, "waiting_readings_each": 2}
        yield Port.opened(Service.start(service_url, stack, **limits, reading_seconds=2.0))


def send(client: TestClient, where: str, name: str) -> Any:
    return client.post(ADDRESS + where, data={"system": "mast"}, files={"file": (name, output())})


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def begun(work: Callable[[], None]) -> threading.Thread:
    """A thread that does not keep the tests from ending, should a text be read for hours after all."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def wait_for(*threads: threading.Thread) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
        assert not thread.is_alive(), "a text is read without an end"


def test_a_text_that_takes_too_long_is_ended_and_nothing_waits_for_it(port: Port) -> None:
    mary, zoe = port.program("mary"), port.program("zoe")
    answers: list[Any] = []
    first = begun(lambda: answers.append(send(mary, "/submissions", HOSTILE)))
    busy = port.program("mary", Scope.READ)
    second = begun(lambda: answers.append(send(mary, "/checks", HOSTILE)))
    wait_until(lambda: busy.get("/api/v1/me/waiting-uploads").json()["items"] == [{"before": 0}] or len(answers) == 2)
    # The same account has one process, so another is left for others, and the pages have never stopped.
    assert send(zoe, "/checks", "out.txt").json()["fatal"] is False
    assert port.service.client().get("/about").status_code == 200
    assert zoe.get("/api/v1/me/waiting-uploads").json() == {"items": [], "next": None}
    wait_for(first, second)
    assert [(each.status_code, each.json()["error"]["code"]) for each in answers] == [(422, "took_too_long")] * 2
    assert port.count(Submission) == 1


def test_an_account_has_room_for_a_few_files_that_wait(port: Port) -> None:
    mary = port.program("mary")
    answers: list[Any] = []
    sending = [begun(lambda: answers.append(send(mary, "/checks", HOSTILE))) for _ in range(4)]
    wait_until(lambda: 429 in [each.status_code for each in answers])
    # Those that have room need not be waited for: a server that stops tells them so.
    port.service.app.state.steelyard.sandbox.close()
    wait_for(*sending)
    assert sorted(each.status_code for each in answers) in ([429, 503, 503, 503], [422, 429, 503, 503])
    (refused,) = (each for each in answers if each.status_code == 429)
    assert "2 of your files are already waiting" in refused.json()["error"]["message"]
    assert int(refused.headers["Retry-After"]) > 0


def serve_slow_reader(settings: WebSettings, begun: Any) -> None:
    """A server whose reader takes hours."""
    import web.uploads.submit

    os.setsid()
    web.uploads.submit.read_uploaded_output = reads_slowly  # type: ignore[assignment]
    serve(settings, lambda address, _: begun.send(address.port))


def test_sigterm_ends_a_server_that_reads_hostile_texts_and_waiting_takes_no_threads(service_url: str) -> None:
    with ExitStack() as stack:
        port = Port.opened(Service.start(service_url, stack))
        tokens = [port.program(who).headers["Authorization"] for who in ("mary", "zoe")]
        context = multiprocessing.get_context("spawn")
        hears, tells = context.Pipe(duplex=False)
        settings = WebSettings(
            database_url=service_url,
            web_port=0,
            web_threads=1,
            reading_processes=1,
            reading_seconds=9999,
            stop_seconds=9999,
        )
        server = context.Process(target=serve_slow_reader, args=(settings, tells))
        server.start()
        stack.callback(server.kill)
        address = f"http://127.0.0.1:{hears.recv()}"
        answers: list[Any] = []

        def upload(token: str) -> None:
            answers.append(
                httpx.post(
                    f"{address}{ADDRESS}/checks",
                    data={"system": "mast"},
                    files={"file": (HOSTILE, output())},
                    headers={"Authorization": token},
                    timeout=PATIENCE_SECONDS,
                )
            )

        threads = [threading.Thread(target=upload, args=(token,)) for token in [*tokens, *tokens]]
        for thread in threads:
            thread.start()

        def waiting() -> int:
            return sum(
                len(
                    httpx.get(
                        f"{address}/api/v1/me/waiting-uploads",
                        headers={"Authorization": token},
                        timeout=PATIENCE_SECONDS,
                    ).json()["items"]
                )
                for token in tokens
            )

        # One is read, three wait, and the only thread answers.
        wait_until(lambda: waiting() == 3)
        assert server.pid is not None
        os.kill(server.pid, signal.SIGTERM)
        server.join(PATIENCE_SECONDS)
        assert server.exitcode == 0
        for thread in threads:
            thread.join()
        assert [each.status_code for each in answers] == [503] * 4
