"""One request to a webhook: to a checked address, with a time limit, without redirects or proxies."""

from __future__ import annotations

import ssl
import time
from typing import TYPE_CHECKING, Any

import httpcore

from scheduler.webhooks.address import addresses_of, check_webhook

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LARGEST_ANSWER = 64 * 1024
"""Bytes of the response body that are read; the rest is ignored."""


def post(url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, private: bool) -> int:
    """Send JSON; the status of the response. The limit applies to everything from connecting to the response.

    The host is looked up once, and the connection uses one of the checked addresses, so that a name cannot change in
    between. TLS certificates are verified against the name, with this machine's trusted authorities.

    Raises
    ------
    BadWebhook, RefusedAddress
        If the address is not allowed.
    OSError, httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError
        If the request fails.
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
    """A network backend that connects to public addresses only, with a common time limit."""

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
    """A connection that a slow peer cannot keep open by sending a little now and then."""

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
