"""A request to a webhook: what it asks for, of whom, and which of a name's addresses it takes."""

from __future__ import annotations

import socket

import httpcore
import pytest

from scheduler.webhooks.address import RefusedAddress
from scheduler.webhooks.request import post
from tests.scheduler.webhooks.receiver import receiver

NAME = "hooks.example.org"


def lead_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let the name lead to these addresses."""

    def answer(_host: str, port: int, *_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", answer)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("/hook?token=a%20b&x=1", "/hook?token=a%20b&x=1"),
        ("/a%2Fb/%C5%BE", "/a%2Fb/%C5%BE"),
        ("/ž?ů=1", "/%C5%BE?%C5%AF=1"),
        ("/hook#part", "/hook"),
        ("", "/"),
    ],
)
def test_all_of_the_address_is_asked_for(monkeypatch: pytest.MonkeyPatch, written: str, asked: str) -> None:
    """With its query, as it was written; and the host is told with its port."""
    with receiver(204) as server:
        lead_to(monkeypatch, "127.0.0.1")
        url = f"http://{NAME}:{server.server_port}{written}"
        assert post(url, b"{}", {"Steelyard-Event": "x"}, seconds=60.0, private=True) == 204
        assert server.paths == [asked]
        ((headers, body),) = server.messages
        assert (headers["Host"], headers["Content-Type"]) == (f"{NAME}:{server.server_port}", "application/json")
        assert (headers["Steelyard-Event"], body) == ("x", b"{}")


def test_the_next_address_is_tried_where_one_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiver(200) as server:
        url = f"http://{NAME}:{server.server_port}/"
        for addresses in (("127.0.0.2", "127.0.0.1"), ("127.0.0.2", "127.0.0.3", "127.0.0.1", "127.0.0.4")):
            lead_to(monkeypatch, *addresses)
            assert post(url, b"{}", {}, seconds=60.0, private=True) == 200
        assert len(server.messages) == 2
        lead_to(monkeypatch, "127.0.0.2", "127.0.0.3")
        with pytest.raises(httpcore.ConnectError):
            post(url, b"{}", {}, seconds=60.0, private=True)
        lead_to(monkeypatch)
        with pytest.raises(httpcore.ConnectError, match=r"hooks\.example\.org has no address"):
            post(url, b"{}", {}, seconds=60.0, private=True)
        for addresses in (("127.0.0.1", "93.184.215.14"), ("93.184.215.14", "127.0.0.1")):
            lead_to(monkeypatch, *addresses)
            with pytest.raises(RefusedAddress, match=r"is at 127\.0\.0\.1, which is no public address"):
                post(url, b"{}", {}, seconds=60.0, private=False)
        assert len(server.messages) == 2
