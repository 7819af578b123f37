"""Connections before there is a request on them: how long their headers may take, and how many there are at most."""

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
        """Closes a connection that says nothing whole for too long, and what comes when there are enough."""

        _waiting: asyncio.TimerHandle | None = None

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

        def connection_lost(self, exc: Exception | None) -> None:
            """It is over."""
            self._forget()
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

        def _give_up(self) -> None:
            if not self.transport.is_closing():
                self.transport.close()

    return GuardedProtocol
