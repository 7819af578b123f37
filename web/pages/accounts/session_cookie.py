"""What pages with forms about people share: showing a form again, where to go on, and the cookies of sessions."""

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
"""For pages that hold a secret, or what the next person at this machine should not find."""
LONGEST_COOKIE_SECONDS = 400 * 86400
"""A browser keeps its session until the server ends it; browsers keep nothing for longer."""


def again(request: Request, template: str, error: CampaignsError, **values: Any) -> HTMLResponse:
    """A form as it was filled in, with what is wrong. The template is given `fault`."""
    headers = dict(NO_STORE)
    if isinstance(error, TooMany) and error.retry_seconds is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_seconds)))
    return page(request, template, status=error.status, headers=headers, fault=error, **values)


def address_here(given: str, otherwise: str = "/") -> str:
    """Where to go on, as the request said, if that is a page of this server: no link leads elsewhere through us."""
    plain = given.isascii() and given.isprintable() and "\\" not in given
    if not plain or not given.startswith("/") or given.startswith(("//", "/sign-", "/password")) or len(given) > 2000:
        return otherwise
    return given


def keep_session(response: Response, request: Request, secret: str) -> None:
    """Let the browser be signed in from now on. What it was known by before counts no more."""
    set_cookie(response, request, SESSION_COOKIE, secret, max_age_seconds=LONGEST_COOKIE_SECONDS)
    drop_cookie(response, request, VISITOR_COOKIE)


def drop_cookie(response: Response, request: Request, name: str) -> None:
    """Let the browser forget a cookie."""
    settings = app_state(request).settings
    response.delete_cookie(cookie_name(settings, name), secure=is_secure(settings), httponly=True, samesite="lax")
