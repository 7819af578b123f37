"""One request to a webhook: to a checked address, within a time limit, without redirects or proxies."""

from __future__ import annotations

import ssl
import time
from typing import TYPE_CHECKING, Any

import httpcore

from scheduler.webhooks.address import addresses_of, check_webhook

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LARGEST_ANSWER = 64 * 1024
"""Bytes of the answer's body that are read; the rest stays where it is."""


def post(url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, private: bool) -> int:
    """Send JSON; the status of the answer. All of it, from connecting to the answer, takes at most so many seconds.

    The host is looked up once and connected to at an address that was checked, so that a name cannot lead elsewhere
    between the two. TLS certificates are checked against the name, by the authorities that this machine trusts. Raises
    BadWebhook, RefusedAddress; OSError, httpcore.TimeoutException, NetworkError and ProtocolError where it fails.
    """
    parsed = check_webhook(url, private=private)
    target = httpcore.URL(
        scheme=parsed.raw_scheme, host=parsed.raw_host, port=parsed.port, target=parsed.raw_path or b"/"
    )
    given = [(b"Host", parsed.netloc), (b"Content-Type", b"application/json"), (b"Connection", b"close")]
    given += [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
    backend = _Checked(time.monotonic() + seconds, private)
    timeout = dict.fromkeys(("connect", "read", "write", "pool"), seconds)
    with (
        httpcore.ConnectionPool(ssl_context=ssl.create_default_context(), network_backend=backend) as pool,
        pool.stream("POST", target, headers=given, content=body, extensions={"timeout": timeout}) as answer,
    ):
        read = 0
        for part in answer.iter_stream():
            read += len(part)
            if read > LARGEST_ANSWER:
                break
        return answer.status


class _Checked(httpcore.NetworkBackend):
    """Connections to public addresses only, all of whose work ends at a moment."""

    def __init__(self, end: float, private: bool) -> None:
        self._end = end
        self._private = private
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the end is the limit
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        failed: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses_of(host, port, private=self._private):
            try:
                stream = self._plain.connect_tcp(
                    address, port, _left(self._end, httpcore.ConnectTimeout), local_address, socket_options
                )
            except httpcore.ConnectError as error:
                failed = error
                continue
            return _Limited(stream, self._end)
        raise failed


class _Limited(httpcore.NetworkStream):
    """A connection that a slow other side cannot keep open by sending a little now and then."""

    def __init__(self, stream: httpcore.NetworkStream, end: float) -> None:
        self._stream = stream
        self._end = end

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        return self._stream.read(max_bytes, _left(self._end, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._stream.write(buffer, _left(self._end, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        left = _left(self._end, httpcore.ConnectTimeout)
        return _Limited(self._stream.start_tls(ssl_context, server_hostname, left), self._end)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(end: float, late: type[httpcore.TimeoutException]) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise late("the time for the whole request is over")
    return left
