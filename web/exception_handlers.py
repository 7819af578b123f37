"""Exception handlers: one JSON error document in the API, an error page elsewhere.

{"error": {"code": "not_found", "message": "What was found, where, what to do.", "details": ["..."]}}
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from starlette.exceptions import HTTPException

from campaigns.errors import (
    BadRequest,
    BadToken,
    CampaignsError,
    Conflict,
    Failed,
    Later,
    NotFound,
    NotSignedIn,
    Unavailable,
)
from models.errors import (
    ModelsError,
)
from runtime.logs import redact_exception
from scheduler.errors import SchedulerError
from steelyard.errors import MetricsError
from web.error_mapping import as_campaigns_error
from web.pages.rendering import error_page, see_other

if TYPE_CHECKING:
    from fastapi import FastAPI

log = logging.getLogger(__name__)

API = "/api/"


def add_exception_handlers(app: FastAPI) -> None:
    """Register the handlers of all known errors."""
    for kind in (CampaignsError, MetricsError, ModelsError, SchedulerError):
        app.add_exception_handler(kind, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(DBAPIError, _database)
    app.add_exception_handler(DataError, _unstorable)
    app.add_exception_handler(UnicodeEncodeError, _unstorable)


def error_response(request: Request, error: CampaignsError, status: int | None = None) -> Response:
    """The response for an error; `status` overrides the error's own."""
    headers = dict(error.headers)
    if isinstance(error, Later) and error.retry_seconds is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_seconds)))
    status = error.status if status is None else status
    # Not `request.url`, which parses the Host header: that may be the invalid part.
    if not request.scope["path"].startswith(API):
        # Signing in does not repair a bad token: redirecting its sender would loop.
        if isinstance(error, NotSignedIn) and not isinstance(error, BadToken) and request.method == "GET":
            here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return see_other(f"/sign-in?{urlencode({'next': here})}")
        return error_page(request, error, status, headers)
    if isinstance(error, NotSignedIn):
        headers["WWW-Authenticate"] = 'Bearer realm="steelyard"'
    document = {"code": error.code, "message": str(error), "details": list(error.details)}
    return JSONResponse({"error": document}, status, headers)


async def _known(request: Request, error: Exception) -> Response:
    return error_response(request, as_campaigns_error(error))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = [f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors()]
    return error_response(request, BadRequest("The request is invalid.", details=details))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == NotFound.status:
        return error_response(request, NotFound())
    refusal = CampaignsError(str(error.detail))
    response = error_response(request, refusal, error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _database(request: Request, error: Exception) -> Response:
    if isinstance(error, IntegrityError):
        # Two requests both checked before either wrote; the second one violates a constraint.
        log.info("Lost a race: %s", type(error.orig).__name__)
        return error_response(request, Conflict("Somebody else changed the same thing at the same time. Try again."))
    cause = error.orig if isinstance(error, DBAPIError) else error
    log.warning("The database did not answer: %s", cause)
    return error_response(request, Unavailable())


async def _unstorable(request: Request, error: Exception) -> Response:
    # Such as NUL, which PostgreSQL allows in no text. The value is not logged: it may be a user's text.
    log.info("A value could not be stored: %s", type(error).__name__)
    return error_response(request, BadRequest("The request contains a character or number that cannot be stored."))


def failure_response(request: Request, error: Exception) -> Response:
    """The response for an unexpected error. Its cause goes only to the log: it may contain secrets."""
    route = getattr(request.scope.get("route"), "path", "no route")
    log.error("A request failed: %s %s", request.method, route, exc_info=error, extra=redact_exception())
    number = getattr(request.state, "request_id", "")
    return error_response(request, Failed(f"The server failed. Its log has the cause, at request {number}."))
