"""What is said when something goes wrong: one JSON shape in the API, one page elsewhere.

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
    Failed,
    Later,
    NotSignedIn,
    NotThere,
    Taken,
    Unavailable,
    WebError,
)
from metrics.errors import MetricsError
from models.errors import (
    ModelsError,
)
from runtime.logs import unsaid
from scheduler.errors import SchedulerError
from web.error_mapping import as_web_error
from web.pages.rendering import error_page, see_other

if TYPE_CHECKING:
    from fastapi import FastAPI

log = logging.getLogger(__name__)

API = "/api/"


def answer_errors(app: FastAPI) -> None:
    """Let an app answer every error in our own words."""
    for kind in (WebError, MetricsError, ModelsError, SchedulerError):
        app.add_exception_handler(kind, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(DBAPIError, _database)
    app.add_exception_handler(DataError, _unstorable)
    app.add_exception_handler(UnicodeEncodeError, _unstorable)


def answer(request: Request, error: WebError, status: int | None = None) -> Response:
    """What is sent for an error."""
    headers = dict(error.headers)
    if isinstance(error, Later) and error.retry_seconds is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_seconds)))
    status = error.status if status is None else status
    # Not `request.url`, which also reads the name of the host: that may be what is wrong.
    if not request.scope["path"].startswith(API):
        # A token is no better where one signs in: whoever sends one would be sent there for ever.
        if isinstance(error, NotSignedIn) and not isinstance(error, BadToken) and request.method == "GET":
            here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return see_other(f"/sign-in?{urlencode({'next': here})}")
        return error_page(request, error, status, headers)
    if isinstance(error, NotSignedIn):
        headers["WWW-Authenticate"] = 'Bearer realm="steelyard"'
    shown = {"code": error.code, "message": str(error), "details": list(error.details)}
    return JSONResponse({"error": shown}, status, headers)


async def _known(request: Request, error: Exception) -> Response:
    return answer(request, as_web_error(error))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = [f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors()]
    return answer(request, BadRequest("The request does not fit what is expected here.", details=details))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == NotThere.status:
        return answer(request, NotThere())
    made = WebError(str(error.detail))
    response = answer(request, made, error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _database(request: Request, error: Exception) -> Response:
    if isinstance(error, DataError):
        # Such as a NUL, which PostgreSQL stores in no text and looks for in none.
        return answer(request, BadRequest("The request holds a character or number that no text or number here has."))
    if isinstance(error, IntegrityError):
        # Two requests have looked before either wrote: the second one finds what the first one has made.
        log.info("Somebody was first: %s", type(error.orig).__name__)
        return answer(request, Taken("Somebody else has changed the same thing at this very moment. Try again."))
    cause = error.orig if isinstance(error, DBAPIError) else error
    log.warning("The database did not answer: %s", cause)
    return answer(request, Unavailable())


async def _unstorable(request: Request, error: Exception) -> Response:
    # What it was is not said: it may be the text of somebody.
    log.info("Something could not be stored: %s", type(error).__name__)
    return answer(request, BadRequest("Something that was sent has a character or a number that cannot be stored."))


def answer_failure(request: Request, error: Exception) -> Response:
    """What is said where we are at fault. What went wrong is for the log alone: it may hold what nobody may see."""
    route = getattr(request.scope.get("route"), "path", "no route")
    log.error("A request failed: %s %s", request.method, route, exc_info=error, extra=unsaid())
    number = getattr(request.state, "request_id", "")
    return answer(request, Failed(f"The server failed to do this. Its log says why, at request {number}."))
