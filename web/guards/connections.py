"""Connections themselves: how long headers may take, how long and how much of answers may wait to be read, how many."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from campaigns.accounts.throttle import network_of
from web.guards.proxies import trusted_addresses

if TYPE_CHECKING:
    from runtime.service_settings import WebSettings

IDLE_SHARE = 2
"""So many connections for each request that may be under way: browsers keep some open that they do not use."""


def guarded_protocol(settings: WebSettings) -> type[H11Protocol]:
    """Uvicorn's protocol with these limits, for its `http`."""
    proxies = trusted_addresses(settings.trusted_proxies)

    class GuardedProtocol(H11Protocol):
        """Closes connections that say nothing whole, or read nothing, for too long, and those beyond the last place."""

        whose = ""
        """The network that it comes from; "" from a proxy, behind which many are."""
        _waiting: asyncio.TimerHandle | None = None
        _stalled: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Somebody connects."""
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
            """Close a connection without a request, of the address that has most of them; whether there was one."""
            idle = [each for each in self._guarded() if each is not self and each.idle]
            counts = Counter(each.whose for each in self._guarded() if each.whose)
            chosen = max(idle, key=lambda each: counts[each.whose], default=None)
            if chosen is None:
                return False
            chosen.transport.close()
            return True

        @property
        def idle(self) -> bool:
            """Whether no request is under way."""
            return self.cycle is None or self.cycle.response_complete

        @property
        def unread(self) -> int:
            """Bytes that wait until the client reads them."""
            return self.transport.get_write_buffer_size()

        def data_received(self, data: bytes) -> None:
            """Some bytes of a request, or of several."""
            super().data_received(data)
            self._watch()

        def pause_writing(self) -> None:
            """The client reads more slowly than we answer."""
            super().pause_writing()
            others = self._guarded()
            if sum(each.unread for each in others) > settings.unread_bytes:
                max(others, key=lambda each: each.unread).transport.abort()
            elif self.whose and sum(each.unread for each in self._own()) > settings.unread_bytes_each:
                self.transport.abort()
            if self._stalled is None:
                self._stalled = self.loop.call_later(settings.body_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            """It has read on."""
            self._go_on()
            super().resume_writing()

        def connection_lost(self, exc: Exception | None) -> None:
            """It is over."""
            self._forget()
            self._go_on()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if self.conn.their_state is not h11.IDLE:
                self._forget()
            elif self._waiting is None:
                self._waiting = self.loop.call_later(settings.header_seconds, self._give_up)

        def _forget(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

        def _go_on(self) -> None:
            if self._stalled is not None:
                self._stalled.cancel()
                self._stalled = None

        def _give_up(self) -> None:
            if not self.transport.is_closing():
                self.transport.close()

    return GuardedProtocol
