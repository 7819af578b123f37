"""Messages of webhooks that somebody has listened to, and receivers that mean harm."""

from __future__ import annotations

import json
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from models.database.session import make_engine
from scheduler.webhooks.delivery import deliver_due, signature
from scheduler.webhooks.request import LARGEST_ANSWER
from tests.scheduler.webhooks.receiver import receiver
from tests.scheduler.webhooks.test_delivery import SECRET, add_delivery, delivery, settings_of

GUIDE = Path(__file__).parents[4] / "docs" / "reference" / "regressions.md"
Genuine = Callable[..., bool]


@pytest.fixture
def genuine() -> Genuine:
    """What the guide tells receivers to do."""
    (code,) = re.findall(r"^```\n(import hashlib.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    known: dict[str, Genuine] = {}
    exec(code, known)
    return known["genuine"]


@pytest.fixture
def message(service_url: str) -> tuple[dict[str, str], bytes]:
    engine = make_engine(service_url)
    with receiver(200) as server:
        add_delivery(engine, server.url)
        deliver_due(engine, settings_of())
    return server.messages[0]


def test_a_message_that_is_sent_again_is_known(genuine: Genuine, message: tuple[dict[str, str], bytes]) -> None:
    """By what is signed: nothing that who has listened can change makes it a new one."""
    headers, body = message
    known: set[str] = set()
    assert genuine(SECRET, headers["Steelyard-Signature"], body, known)
    assert known == {headers["Steelyard-Delivery"]}
    assert not genuine(SECRET, headers["Steelyard-Signature"], body, known)
    changed = body.replace(headers["Steelyard-Delivery"].encode(), b"0" * 32)
    assert changed != body
    assert not genuine(SECRET, headers["Steelyard-Signature"], changed, set())


@pytest.mark.parametrize("apart", [-301, 301])
def test_an_old_message_is_refused(genuine: Genuine, apart: int) -> None:
    body, moment = json.dumps({"delivery": "x"}).encode(), int(time.time()) + apart
    assert not genuine(SECRET, signature(SECRET, moment, body), body, set())
    assert genuine(SECRET, signature(SECRET, moment, body), body, set(), tolerance=400)


@pytest.mark.parametrize("header", ["", "t", "t=1", "v1=", "t=,v1=", "t=é,v1=é", "t=1=2,v1=x=y", "t=x,v1=0", ",,=,"])
def test_no_header_is_more_than_refused(genuine: Genuine, header: str) -> None:
    assert not genuine(SECRET, header, b"garbage", set())


@contextmanager
def endless(head: bytes) -> Iterator[tuple[str, list[int]]]:
    """A receiver whose answer begins so and never ends; its address, and how much it could send."""
    sent: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.settimeout(20)
                connection.recv(1 << 16)
                try:
                    connection.sendall(head)
                    while True:
                        sent.append(connection.send(b"x: canaryanswer\x1b[2J\r\n" * 100))
                except OSError:
                    return

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/canarypath", sent
        thread.join(30)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 1000,
        b"canaryanswer\x1b[2J",
    ],
    ids=["a body", "a packed body", "headers", "answers before the answer", "no HTTP"],
)
def test_an_answer_without_an_end_is_left(service_url: str, caplog: pytest.LogCaptureFixture, head: bytes) -> None:
    """After some KiB, which are shown to nobody."""
    engine = make_engine(service_url)
    caplog.set_level(logging.DEBUG)
    with endless(head) as (url, sent):
        add_delivery(engine, url)
        deliver_due(engine, settings_of(webhook_attempts=1, webhook_seconds=10.0))
    # What lies in the buffers of two sockets was sent, too.
    assert sum(sent) < LARGEST_ANSWER + (8 << 20)
    state, attempts, error = delivery(engine)
    assert attempts == 1
    told = f"{error}{caplog.text}"
    assert "\x1b" not in told
    assert SECRET not in told
    assert "canarypath" not in told
    assert state in ("done", "failed")
