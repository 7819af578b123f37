"""How guards refuse a request: in the same words and shapes as routes do, without a look into the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request

from campaigns.accounts.principal import NOBODY
from web.exception_handlers import answer

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from campaigns.errors import WebError


async def refuse(scope: Scope, receive: Receive, send: Send, error: WebError, *, close: bool = False) -> None:
    """Answer with an error; with `close`, whatever else the client still sends is not read."""
    # The page of an error says who is signed in: for that alone nobody is looked up.
    scope.setdefault("state", {}).setdefault("principal", NOBODY)
    response = answer(Request(scope), error)
    if close:
        response.headers["Connection"] = "close"
    await response(scope, receive, send)
