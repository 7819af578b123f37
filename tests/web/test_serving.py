"""The socket that the service listens on."""

from __future__ import annotations

import socket

from web.serving import listen


def test_bodies_do_not_wait_until_headers_are_acknowledged() -> None:
    with listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
