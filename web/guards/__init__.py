"""Middleware before every route: limits on requests, and security headers of responses.

From the outermost to the innermost: response headers; request ids; unexpected errors; trusted proxies; known host
names; validation of URL and headers; styles and scripts, which go no further; limit on concurrent requests; limits on
bodies; HEAD as GET; compression. The rate limit is a dependency of all routes (`rate_limit`), since it counts by
account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from web.guards.bodies import BodyLimit
from web.guards.compression import Compression
from web.guards.concurrency_limit import ConcurrencyLimit
from web.guards.head_requests import HeadRequests
from web.guards.headers import HEADERS, SecureHeaders
from web.guards.hosts import KnownHosts
from web.guards.proxies import TrustedProxies
from web.guards.request_ids import RequestIds
from web.guards.request_validation import RequestValidation
from web.guards.unexpected_errors import UnexpectedErrors
from web.static_files import StaticFiles

if TYPE_CHECKING:
    from fastapi import FastAPI

    from runtime.service_settings import WebSettings


def guard(app: FastAPI, settings: WebSettings) -> None:
    """Add the middleware to an app."""
    # The last one added is the outermost.
    app.add_middleware(Compression)
    app.add_middleware(HeadRequests)
    app.add_middleware(BodyLimit, settings=settings)
    app.add_middleware(ConcurrencyLimit, most=settings.concurrent_requests)
    # Answered from memory, they need none of the limits.
    app.add_middleware(StaticFiles)
    app.add_middleware(RequestValidation)
    app.add_middleware(KnownHosts, settings=settings)
    app.add_middleware(TrustedProxies, proxies=settings.trusted_proxies)
    app.add_middleware(UnexpectedErrors)
    app.add_middleware(RequestIds)
    app.add_middleware(SecureHeaders, settings=settings)


__all__ = ["HEADERS", "guard"]
