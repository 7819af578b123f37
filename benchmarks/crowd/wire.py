"""What goes over a connection to PostgreSQL: recorded on the way, cut into requests, and read.

A request is what is sent before an answer is awaited: a query, or the messages up to a Sync.
"""

from __future__ import annotations

import selectors
import socket
import struct
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDS = b"QS"
"""Query and Sync: PostgreSQL answers each with ReadyForQuery."""
READY = b"Z\x00\x00\x00\x05"
SYNC = b"S\x00\x00\x00\x04"
AT_ONCE = 1 << 16


class Bind(NamedTuple):
    """The message that gives a statement its parameters."""

    head: bytes
    """Everything before the parameters' values."""
    statement: str
    """The name of a prepared one; empty for the one that was parsed just now."""
    values: list[bytes | None]
    tail: bytes


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The type of each message, and its body."""
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from(">i", data, at + 1)
        yield data[at], data[at + 5 : at + 1 + size]
        at += 1 + size


def message(kind: int, body: bytes) -> bytes:
    """A message of this type."""
    return struct.pack(">ci", bytes([kind]), len(body) + 4) + body


def query(text: str) -> bytes:
    """A request that PostgreSQL parses and executes at once."""
    return message(ord("Q"), text.encode() + b"\0")


def read_bind(body: bytes) -> Bind:
    """Take a Bind apart."""
    portal = body.index(b"\0")
    end = body.index(b"\0", portal + 1)
    (formats,) = struct.unpack_from(">h", body, end + 1)
    at = end + 3 + 2 * formats
    (count,) = struct.unpack_from(">h", body, at)
    head, at, values = body[: at + 2], at + 2, []
    for _ in range(count):
        (size,) = struct.unpack_from(">i", body, at)
        values.append(None if size < 0 else body[at + 4 : at + 4 + size])
        at += 4 + max(size, 0)
    return Bind(head, body[portal + 1 : end].decode(), values, body[at:])


def rows(answer: bytes) -> list[list[bytes | None]]:
    """The rows of an answer."""
    found = []
    for kind, body in messages(answer):
        if kind == ord("D"):
            at, row = 2, []
            for _ in range(struct.unpack_from(">h", body)[0]):
                (size,) = struct.unpack_from(">i", body, at)
                row.append(None if size < 0 else body[at + 4 : at + 4 + size])
                at += 4 + max(size, 0)
            found.append(row)
    return found


def failed(answer: bytes) -> str | None:
    """What PostgreSQL complains of; None where it does not."""
    return next((body.decode(errors="replace") for kind, body in messages(answer) if kind == ord("E")), None)


class Recorder:
    """Passes one connection on to a server, and keeps what is said."""

    def __init__(self, host: str, port: int) -> None:
        self._server = host, port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.sent, self.answered = bytearray(), bytearray()
        self._thread = threading.Thread(target=self._pass_on, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Wait for the end of the connection."""
        self._thread.join(10)
        self._listening.close()

    def _pass_on(self) -> None:
        client, _ = self._listening.accept()
        with client, socket.create_connection(self._server) as server, selectors.DefaultSelector() as both:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            both.register(client, selectors.EVENT_READ, (server, self.sent))
            both.register(server, selectors.EVENT_READ, (client, self.answered))
            while True:
                for key, _ in both.select():
                    other, kept = key.data
                    data = key.fileobj.recv(AT_ONCE)  # type: ignore[union-attr]
                    if not data:
                        return
                    # Kept before anybody can react to it.
                    kept += data
                    other.sendall(data)

    @property
    def startup(self) -> bytes:
        """What the connection began with."""
        return bytes(self.sent[: struct.unpack_from(">i", self.sent)[0]])

    def requests(self) -> list[tuple[bytes, bytes]]:
        """Each request so far, with its answer."""
        requests, begun = [], len(self.startup)
        at = begun
        sent = bytes(self.sent)
        while at < len(sent):
            kind = sent[at]
            at += 1 + struct.unpack_from(">i", sent, at + 1)[0]
            if kind in ENDS:
                requests.append(sent[begun:at])
                begun = at
        answers, answer = [], b""
        for kind, body in messages(bytes(self.answered)):
            answer += message(kind, body)
            if kind == READY[0]:
                answers.append(answer)
                answer = b""
        # The first one answers the startup.
        return list(zip(requests, answers[1:], strict=True))
