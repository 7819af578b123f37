"""Limits on connections: their number, the time for headers, and unread response data."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from campaigns.accounts.throttle import network_of
from web.guards.proxies import trusted_addresses
from web.guards.request_validation import MAX_HEADER_BYTES, MAX_URL_BYTES

if TYPE_CHECKING:
    from runtime.service_settings import WebSettings

IDLE_SHARE = 2
"""Connections per concurrent request: browsers keep some open without using them."""

INCOMPLETE_BYTES = 2 * (MAX_URL_BYTES + MAX_HEADER_BYTES)
"""Bytes of headers that are kept until all have arrived. More than `RequestValidation` accepts, whose answer says what
to do; h11 keeps 16,384 and refuses more without a reason, but only where they arrive in several pieces."""


def guarded_protocol(settings: WebSettings) -> type[H11Protocol]:
    """Uvicorn's HTTP protocol with these limits, for its option `http`."""
    proxies = trusted_addresses(settings.trusted_proxies)

    class GuardedProtocol(H11Protocol):
        """Closes connections with overdue headers or unread responses, and those beyond the limits."""

        whose = ""
        """The client's network; "" behind a trusted proxy, which many clients share."""
        _waiting: asyncio.TimerHandle | None = None
        _stalled: asyncio.TimerHandle | None = None

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.conn = h11.Connection(h11.SERVER, INCOMPLETE_BYTES)

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Accept a connection, or close it if there are too many."""
            super().connection_made(transport)
            address = self.client[0] if self.client else ""
            self.whose = "" if address in proxies else network_of(address)
            if self.whose and len(self._own()) > settings.connections_each:
                transport.close()
                return
            if len(self.connections) > settings.concurrent_requests * IDLE_SHARE and not self._make_room():
                transport.close()
                return
            self._watch()

        def _guarded(self) -> list[GuardedProtocol]:
            return [each for each in self.connections if isinstance(each, GuardedProtocol)]

        def _own(self) -> list[GuardedProtocol]:
            return [each for each in self._guarded() if each.whose == self.whose]

        def _make_room(self) -> bool:
            """Close an idle connection of the network with the most connections; False if there is none."""
            idle = [each for each in self._guarded() if each is not self and each.idle]
            counts = Counter(each.whose for each in self._guarded() if each.whose)
            chosen = max(idle, key=lambda each: counts[each.whose], default=None)
            if chosen is None:
                return False
            chosen.transport.close()
            return True

        @property
        def idle(self) -> bool:
            """Whether it has no running request."""
            return self.cycle is None or self.cycle.response_complete

        @property
        def unread(self) -> int:
            """Response bytes that the client has not read."""
            return self.transport.get_write_buffer_size()

        def data_received(self, data: bytes) -> None:
            """Handle received bytes."""
            super().data_received(data)
            self._watch()

        def pause_writing(self) -> None:
            """The client reads more slowly than the server writes: abort the worst offender beyond the limits."""
            super().pause_writing()
            others = self._guarded()
            if sum(each.unread for each in others) > settings.unread_bytes:
                max(others, key=lambda each: each.unread).transport.abort()
            elif self.whose and sum(each.unread for each in self._own()) > settings.unread_bytes_each:
                self.transport.abort()
            if self._stalled is None:
                self._stalled = self.loop.call_later(settings.body_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            """The client reads again."""
            self._cancel_stalled()
            super().resume_writing()

        def connection_lost(self, exc: Exception | None) -> None:
            """Cancel the timers."""
            self._cancel_waiting()
            self._cancel_stalled()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if self.conn.their_state is not h11.IDLE:
                self._cancel_waiting()
            elif self._waiting is None:
                self._waiting = self.loop.call_later(settings.header_seconds, self._close)

        def _cancel_waiting(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

        def _cancel_stalled(self) -> None:
            if self._stalled is not None:
                self._stalled.cancel()
                self._stalled = None

        def _close(self) -> None:
            if not self.transport.is_closing():
                self.transport.close()

    return GuardedProtocol
