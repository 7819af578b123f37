"""The server as an object."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from web.client.answers import Me
from web.client.errors import NotSignedIn
from web.client.shaping import shaped
from web.client.transport import Patience, Transport

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    import httpx


class Client:
    """One server, asked with one token or as nobody. Not for several threads at once; make one for each."""

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._transport = Transport(server, token, patience=patience, transport=transport, sleep=sleep)
        self._sleep = sleep

    @property
    def server(self) -> str:
        """Its address."""
        return self._transport.server

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._transport.close()

    def me(self) -> Me:
        """Whose token it is. Raises NotSignedIn."""
        me = shaped(Me, self._transport.get("me"))
        if not me.signed_in:
            raise NotSignedIn(401, "not_signed_in", "There is no token, or it is not good here.")
        return me
