"""The web application: builds the FastAPI app from settings."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI
from fastapi.staticfiles import StaticFiles

from campaigns.accounts.mail import mail_server
from models.database.session import make_engine
from runtime.service_settings import WebSettings
from steelyard.metrics.metric import VERSION
from web import api, pages
from web.dependencies import check_form
from web.exception_handlers import add_exception_handlers
from web.guards import guard
from web.guards.rate_limit import check_rate
from web.openapi import describe_api
from web.pages.documentation import SITE, Documentation
from web.pages.rendering import STATIC
from web.state import State

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DESCRIPTION = "Evaluate machine translation: test sets, submissions, scores with intervals, leaderboards, comparisons."


def create_app(settings: WebSettings | None = None) -> FastAPI:
    """Build an app with its own engine. The database schema must be current.

    Raises
    ------
    BadMailUrl
        If STEELYARD_MAIL_URL is invalid.
    """
    settings = settings or WebSettings()
    if settings.mail_url is not None:
        # Fail now, not when the first mail is sent.
        mail_server(settings.mail_url)
    engine = make_engine(
        settings.database_url, connections=settings.web_connections, statement_seconds=settings.statement_seconds
    )
    state = State(settings, engine)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        state.segment_pages.close()
        state.sandbox.close()
        state.metrics.close()
        state.boards.slow.close()
        state.engine.dispose()

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
    for router in api.ROUTERS:
        app.include_router(router, prefix="/api/v1")
    for router in pages.ROUTERS:
        app.include_router(router, include_in_schema=False)
    describe_api(app, settings)
    app.mount("/docs", Documentation(SITE), name="docs")
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app
