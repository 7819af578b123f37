"""Templates of the pages. They share filters and styles with the reports (`campaigns.reports.template`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup
from sqlalchemy.exc import DBAPIError

from campaigns.accounts.principal import NOBODY
from campaigns.accounts.secrets import new_secret
from campaigns.errors import CampaignsError
from campaigns.reports.template import FOLDER as REPORT_TEMPLATES
from campaigns.reports.template import make_environment
from metrics.base import VERSION
from web.dependencies import (
    FORM_FIELD,
    VISITOR_COOKIE,
    app_state,
    browser_secret,
    cookie_name,
    form_token,
    is_secure,
    read_principal,
)
from web.pages.moments import iso, moment, span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import Request, Response
    from jinja2 import Environment

STATIC = Path(__file__).parent.parent / "static"
TEMPLATES = Path(__file__).parent / "templates"


def page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    """The page of a template, which extends `base.html.j2`. Whatever comes from outside is escaped."""
    try:
        principal = read_principal(request)
    except (CampaignsError, DBAPIError):
        # The page may be the one that says that the database is away.
        principal = NOBODY
    token = FormToken(browser_secret(request))
    html = (
        _environment()
        .get_template(f"{template}.html.j2")
        .render(
            request=request,
            principal=principal,
            version=VERSION,
            form_field=FORM_FIELD,
            form_token=token,
            **values,
        )
    )
    response = HTMLResponse(html, status, dict(headers or {}))
    if token.made:
        set_cookie(response, request, VISITOR_COOKIE, token.made)
    return response


def fragment(template: str, **values: Any) -> Markup:
    """A part of a page that does not depend on the session: it can be kept and shown to others with equal access."""
    return Markup(_environment().get_template(f"{template}.html.j2").render(values))  # noqa: S704 - escaped by the engine


class FormToken:
    """What the forms of a page carry. A browser that has no secret yet is given one, if the page has a form at all."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.made = ""

    def __str__(self) -> str:
        if not self.secret:
            self.secret = self.made = new_secret()
        return form_token(self.secret)


def set_cookie(
    response: Response, request: Request, name: str, value: str, *, max_age_seconds: int | None = None
) -> None:
    """A cookie that scripts do not see, and that pages of others do not make a browser send with a form."""
    settings = app_state(request).settings
    response.set_cookie(
        cookie_name(settings, name),
        value,
        max_age=max_age_seconds,
        secure=is_secure(settings),
        httponly=True,
        samesite="lax",
    )


def see_other(address: str) -> RedirectResponse:
    """Where to go on after a form: a page that can be loaded again without sending the form again."""
    return RedirectResponse(address, 303)


def part_of_address(text: object) -> str:
    """A name as one part of an address: a slash or a question mark in it parts nothing."""
    return quote(str(text), safe="")


def error_page(request: Request, error: CampaignsError, status: int, headers: Mapping[str, str]) -> HTMLResponse:
    """The page that says what went wrong."""
    return page(request, "error", status=status, headers=headers, title="That did not work", error=error)


@cache
def _environment() -> Environment:
    # The macros of the reports are there, too: whiskers, marked words, matrices.
    environment = make_environment(TEMPLATES, REPORT_TEMPLATES)
    environment.filters |= {"moment": moment, "iso": iso, "span": span, "part": part_of_address}
    return environment
