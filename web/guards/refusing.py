"""Error responses of middleware: the same shape as those of routes, without a database query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request

from campaigns.accounts.principal import NOBODY
from web.exception_handlers import error_response

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from campaigns.errors import CampaignsError


async def refuse(scope: Scope, receive: Receive, send: Send, error: CampaignsError, *, close: bool = False) -> None:
    """Respond with an error; with `close`, the connection is closed and the rest of the request not read."""
    # Error pages show who is signed in; not worth a query here.
    scope.setdefault("state", {}).setdefault("principal", NOBODY)
    response = error_response(Request(scope), error)
    if close:
        response.headers["Connection"] = "close"
    await response(scope, receive, send)
