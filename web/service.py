"""The application without its routes: settings, engine, errors, guards. A server adds all routes, a command a few."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI

from models.database.session import make_engine
from steelyard_client.version import VERSION
from web.dependencies import check_form
from web.exception_handlers import add_exception_handlers
from web.guards import guard
from web.guards.rate_limit import check_rate
from web.state import State

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from runtime.service_settings import WebSettings

DESCRIPTION = "Evaluate machine translation: test sets, submissions, scores with intervals, leaderboards, comparisons."


def create_service(settings: WebSettings) -> FastAPI:
    """Build an app with its own engine and no routes. The database schema must be current."""
    engine = make_engine(
        settings.database_url, connections=settings.web_connections, statement_seconds=settings.statement_seconds
    )
    state = State(settings, engine)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        state.close()

    app = FastAPI(
        title="Steelyard",
        description=DESCRIPTION,
        version=VERSION,
        openapi_url="/api/v1/openapi.json",
        # FastAPI's documentation pages load scripts from other hosts; ours are below /docs.
        docs_url=None,
        redoc_url=None,
        # Operation ids become method names in generated clients.
        generate_unique_id_function=lambda route: route.name,
        lifespan=lifespan,
        dependencies=[Depends(check_rate), Depends(check_form)],
    )
    app.state.steelyard = state
    add_exception_handlers(app)
    guard(app, settings)
    return app
