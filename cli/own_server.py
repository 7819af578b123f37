"""A server in this process, for --as: what it answers is what an account sees of a database."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from campaigns.accounts.accounts import find_account
from campaigns.accounts.principal import NOBODY, principal_of_account
from campaigns.errors import NotFound
from cli.stored import read_settings, require_schema
from models.database.session import make_engine, reading
from models.schema.roles import Scope
from runtime.service_settings import WebSettings
from steelyard.commands.errors import CommandError
from steelyard_client import Client
from web.app import create_app

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from campaigns.accounts.principal import Principal

VISITOR = "nobody"
"""The name of somebody without an account."""
ADDRESS = "http://localhost"
"""A name that the app answers to; nothing listens there."""
UNLIMITED = 10**9


@contextmanager
def client_of_database(options: argparse.Namespace) -> Iterator[Client]:
    """A client that is answered by the app itself, as the account of --as. It can read, and change nothing.

    Raises CommandError for an unknown account.
    """
    # Whoever has the database could read it directly without a limit.
    settings = read_settings(options, WebSettings).model_copy(update={"requests_per_minute": UNLIMITED})
    require_schema(settings, create=False)
    principal = _principal_of(settings, options.account)
    with Client(ADDRESS, transport=AppTransport(settings, principal)) as client:
        yield client


def _principal_of(settings: WebSettings, account: str) -> Principal:
    if account == VISITOR:
        return NOBODY
    engine = make_engine(settings.database_url)
    try:
        with reading(engine) as connection:
            principal = principal_of_account(connection, find_account(connection, account).id, Scope.READ)
    except NotFound as error:
        raise CommandError(str(error)) from error
    finally:
        engine.dispose()
    if not principal.signed_in:
        raise CommandError(f"The account {account} is disabled: it sees what {VISITOR} sees.")
    return principal


class AppTransport(httpx.BaseTransport):
    """Hands requests to the app instead of sending them. The app starts at once, and ends when this is closed."""

    def __init__(self, settings: WebSettings, principal: Principal) -> None:
        self._app, self._principal = create_app(settings), principal
        self._transport = httpx.ASGITransport(self._as_account)
        self._runner = asyncio.Runner()
        self._life = self._app.router.lifespan_context(self._app)
        self._runner.run(self._life.__aenter__())

    def close(self) -> None:
        """End the app."""
        self._runner.run(self._life.__aexit__(None, None, None))
        self._runner.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The app's answer."""
        return self._runner.run(self._answered(request))

    async def _answered(self, request: httpx.Request) -> httpx.Response:
        answer = await self._transport.handle_async_request(request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        content = b"".join([chunk async for chunk in answer.stream])
        # Without its stream: the client decompresses what it gets.
        return httpx.Response(answer.status_code, headers=answer.headers.raw, stream=httpx.ByteStream(content))

    async def _as_account(self, scope: Any, receive: Any, send: Any) -> None:
        scope.setdefault("state", {})["principal"] = self._principal
        await self._app(scope, receive, send)
