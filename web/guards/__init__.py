"""What stands before every route: who may ask at all, how much, how often, and what all answers say to browsers.

From the outermost to the innermost: headers of every answer; a number for each request; faults of our own; which
proxies are believed; which names of this server are; addresses and headers of a sane size; not too many requests at
once; bodies that are neither too large nor too slow; HEAD as GET. How often somebody may ask is a dependency of
all routes (`rates`), since it counts by account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from web.guards.bodies import BoundedBodies
from web.guards.concurrency_limit import BoundedCrowds
from web.guards.head_requests import AnswersHead
from web.guards.headers import HEADERS, SecureHeaders
from web.guards.hosts import KnownHosts
from web.guards.proxies import TrustedProxies
from web.guards.request_ids import NumberedRequests
from web.guards.request_validation import SaneShapes
from web.guards.unexpected_errors import Failures

if TYPE_CHECKING:
    from fastapi import FastAPI

    from runtime.service_settings import WebSettings


def guard(app: FastAPI, settings: WebSettings) -> None:
    """Put the guards before an app."""
    # The last that is added is the outermost.
    app.add_middleware(AnswersHead)
    app.add_middleware(BoundedBodies, settings=settings)
    app.add_middleware(BoundedCrowds, most=settings.concurrent_requests)
    app.add_middleware(SaneShapes)
    app.add_middleware(KnownHosts, settings=settings)
    app.add_middleware(TrustedProxies, proxies=settings.trusted_proxies)
    app.add_middleware(Failures)
    app.add_middleware(NumberedRequests)
    app.add_middleware(SecureHeaders, settings=settings)


__all__ = ["HEADERS", "guard"]
