"""The pool of the embedded worker: any of its processes may be killed at any moment without holding up the others."""

from __future__ import annotations

import os
import socket
from io import BytesIO
from typing import Any

from billiard.connection import Connection
from billiard.queues import SimpleQueue
from celery.concurrency.prefork import BlockingPool, TaskPool

LARGEST_MESSAGE = 1 << 18
"""Bytes; the kernel refuses to send what is larger than its buffer, which is smaller. Texts are never sent."""


class _WholeMessages(Connection):  # type: ignore[misc]
    """One end of a socket that keeps messages apart: each is sent whole or not at all, and read by one reader."""

    def _send_bytes(self, message: bytes) -> None:
        os.write(self._handle, message)

    def _recv_bytes(self, maxsize: int | None = None) -> BytesIO:
        message = os.read(self._handle, maxsize or LARGEST_MESSAGE)
        if not message:
            raise EOFError
        return BytesIO(message)


class _Queue(SimpleQueue):  # type: ignore[misc]
    """Messages between the pool's processes without a lock.

    billiard's own queue is a pipe. Its processes read and write with a lock in hand, and wait for messages with it.
    One that is killed then takes the lock to its grave: the others wait for it for ever, and so does the interpreter
    when it ends.
    """

    def __init__(self, ctx: Any) -> None:
        super().__init__(ctx=ctx)
        self.close()
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._reader = _WholeMessages(ends[0].detach(), writable=False)
        self._writer = _WholeMessages(ends[1].detach(), readable=False)

    def get_payload(self) -> Any:
        """The next message; waits for one. Raises EOFError when there are no writers left."""
        return self._reader.recv_bytes()

    def send_payload(self, value: bytes) -> None:
        """Send a message."""
        self._writer.send_bytes(value)


class _Processes(BlockingPool):  # type: ignore[misc]
    _inqueue: Any
    _outqueue: Any

    def _setup_queues(self) -> None:
        super()._setup_queues()
        self._inqueue.close()
        self._outqueue.close()
        self._inqueue, self._outqueue = _Queue(self._ctx), _Queue(self._ctx)
        self._quick_put = self._inqueue._writer.send
        self._quick_get = self._outqueue._reader.recv


class EmbeddedPool(TaskPool):  # type: ignore[misc]
    """Celery's prefork pool on such queues."""

    BlockingPool: Any = _Processes
