"""Connections themselves: how long headers may take, how long an answer may wait to be read, how many there are."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from web.settings import WebSettings

IDLE_SHARE = 2
"""So many connections for each request that may be under way: browsers keep some open that they do not use."""


def guarded_protocol(settings: WebSettings) -> type[H11Protocol]:
    """Uvicorn's protocol with these limits, for its `http`."""

    class GuardedProtocol(H11Protocol):
        """Closes connections that say nothing whole, or read nothing, for too long, and those beyond the last place."""

        _waiting: asyncio.TimerHandle | None = None
        _stalled: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Somebody connects."""
            super().connection_made(transport)
            if len(self.connections) > settings.concurrent_requests * IDLE_SHARE:
                transport.close()
                return
            self._watch()

        def data_received(self, data: bytes) -> None:
            """Some bytes of a request, or of several."""
            super().data_received(data)
            self._watch()

        def pause_writing(self) -> None:
            """The client reads more slowly than we answer."""
            super().pause_writing()
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
