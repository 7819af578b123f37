"""The web service as a process of another command: it serves, tells how it is, and ends."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.request import urlopen

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from runtime.service_settings import WebSettings
from steelyard_client import Client, RetryPolicy, ServerUnreachable
from tests.servers import free_port
from tests.service.port import NAME, Port, output
from tests.service.service import Service
from web.serving import Address, listen
from web.supervised import SupervisedWeb, WebStartFailed

SECONDS = 60.0
STOP_SECONDS = 300.0
"""What a stream that goes on would take."""


@contextmanager
def attached(service_url: str, **settings: object) -> Iterator[tuple[SupervisedWeb, list[Address]]]:
    begun: list[Address] = []
    values = {
        "database_url": service_url,
        "web_port": free_port(),
        "http_port": free_port(),
        "log_level": "warning",
        "stop_seconds": STOP_SECONDS,
        **settings,
    }
    web = SupervisedWeb(WebSettings(**values), begun.append)
    web.start()
    try:
        yield web, begun
    finally:
        web.stop()


def poll_until(web: SupervisedWeb, condition: object) -> None:
    end = time.monotonic() + SECONDS
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "waited too long"
        web.poll()
        time.sleep(0.02)


def test_it_serves_tells_of_itself_and_is_started_again(service_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.supervised.RESTART_SECONDS", 0.1)
    with attached(service_url) as (web, begun):
        assert not web.check().ok
        poll_until(web, lambda: begun)
        (address,) = begun
        assert address.public_url == f"http://127.0.0.1:{address.port}"
        assert "Steelyard" in urlopen(f"{address.public_url}/").read().decode()
        assert web.check().ok
        registry = CollectorRegistry(auto_describe=False)
        registry.register(web)  # type: ignore[arg-type]
        told = generate_latest(registry).decode()
        assert 'steelyard_web_requests_total{method="GET",route="/",status="200"} 1.0' in told
        assert "process_" not in told

        assert web._process is not None
        web._process.kill()
        poll_until(web, lambda: not web.check().ok)
        poll_until(web, lambda: web.check().ok)
        assert len(begun) == 1, "its address was printed once"

        with ExitStack() as stack:
            port = Port.opened(Service.start(service_url, stack))
            token = port.program("mary").headers["Authorization"].partition(" ")[2]
            watching = stack.enter_context(Client(address.public_url, token, patience=RetryPolicy(tries=1)))
            told = watching.watch_submission(watching.submit_output(NAME, output(), system="mast").id)
            assert next(told).state == "queued"
            process, begun_to_stop = web._process, time.monotonic()
            web.stop()
            assert process.exitcode == 0
            assert time.monotonic() - begun_to_stop < STOP_SECONDS, "it waited for who watches"
            with pytest.raises(ServerUnreachable):
                next(told)
        assert not web.check().ok


def test_an_address_that_is_taken_is_no_reason_to_try_again(
    service_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with attached(service_url, web_port=port) as (web, _), pytest.raises(WebStartFailed):
            poll_until(web, lambda: False)
    assert f"Pages cannot be served on 127.0.0.1:{port}: Address already in use." in capfd.readouterr().err
