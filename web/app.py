"""The web application: builds the FastAPI app from settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi.routing import iter_route_contexts

from campaigns.accounts.external.provider import require_packages
from runtime.mail import mail_server
from runtime.service_settings import WebSettings
from web.api.routers import all_routers
from web.openapi import describe_api
from web.pages.documentation import SITE, Documentation
from web.pages.routers import ROUTERS
from web.service import create_service

if TYPE_CHECKING:
    from fastapi import FastAPI


def create_app(settings: WebSettings | None = None) -> FastAPI:
    """Build an app with its own engine. The database schema must be current.

    Raises
    ------
    BadMailUrl
        If STEELYARD_MAIL_URL is invalid.
    MissingPackages
        If STEELYARD_SIGN_IN_WITH needs packages that are not installed.
    """
    settings = settings or WebSettings()
    if settings.mail_url is not None:
        # Fail now, not when the first mail is sent.
        mail_server(settings.mail_url)
    if settings.sign_in_with:
        require_packages()
    app = create_service(settings)
    app.state.steelyard.make_all()
    for router in all_routers():
        app.include_router(router, prefix="/api/v1")
    for router in ROUTERS:
        app.include_router(router, include_in_schema=False)
    describe_api(app, settings)
    app.mount("/docs", Documentation(SITE), name="docs")
    return app


def prepare_routes(app: FastAPI) -> None:
    """Find out what every route wants. FastAPI does it when a request first passes a router: half a second in all."""
    for _ in iter_route_contexts(app.routes):
        pass
