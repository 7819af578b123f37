"""Session cookies, forms with errors, and redirects of the account pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from campaigns.errors import CampaignsError, TooMany
from web.dependencies import SESSION_COOKIE, VISITOR_COOKIE, app_state, cookie_name, is_secure
from web.pages.rendering import page, set_cookie

if TYPE_CHECKING:
    from fastapi import Request
    from fastapi.responses import HTMLResponse
    from starlette.responses import Response

NO_STORE = {"Cache-Control": "no-store"}
"""For pages with secrets or personal data, which must not stay in caches of shared machines."""
LONGEST_COOKIE_SECONDS = 400 * 86400
"""The server ends sessions; this is the maximum that browsers allow."""


def form_with_error(request: Request, template: str, error: CampaignsError, **values: Any) -> HTMLResponse:
    """Show a form again with its input and an error, which the template gets as `error`."""
    headers = dict(NO_STORE)
    if isinstance(error, TooMany) and error.retry_seconds is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_seconds)))
    return page(request, template, status=error.status, headers=headers, error=error, **values)


def local_address(given: str, otherwise: str = "/") -> str:
    """Return the requested redirect target if it is a page of this server: no open redirects."""
    plain = given.isascii() and given.isprintable() and "\\" not in given
    if not plain or not given.startswith("/") or given.startswith(("//", "/sign-", "/password")) or len(given) > 2000:
        return otherwise
    return given


def set_session_cookie(response: Response, request: Request, secret: str) -> None:
    """Set the session cookie, which replaces the cookie of the anonymous visitor."""
    set_cookie(response, request, SESSION_COOKIE, secret, max_age_seconds=LONGEST_COOKIE_SECONDS)
    delete_cookie(response, request, VISITOR_COOKIE)


def delete_cookie(response: Response, request: Request, name: str) -> None:
    """Delete a cookie."""
    settings = app_state(request).settings
    response.delete_cookie(cookie_name(settings, name), secure=is_secure(settings), httponly=True, samesite="lax")
