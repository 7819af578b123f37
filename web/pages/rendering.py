"""Templates of the pages. They share filters and styles with the reports (`web.report.template`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi.responses import HTMLResponse

from metrics.base import VERSION
from web.access.principal import NOBODY
from web.asking import FORM_FIELD, SESSION_COOKIE, form_token, read_principal
from web.errors import WebError
from web.pages.moments import iso, moment, span
from web.report.template import FOLDER as REPORT_TEMPLATES
from web.report.template import make_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import Request
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
    except WebError:
        principal = NOBODY
    secret = request.cookies.get(SESSION_COOKIE, "")
    html = (
        _environment()
        .get_template(f"{template}.html.j2")
        .render(
            request=request,
            principal=principal,
            version=VERSION,
            form_field=FORM_FIELD,
            form_token=form_token(secret) if secret else "",
            **values,
        )
    )
    return HTMLResponse(html, status, dict(headers or {}))


def part_of_address(text: object) -> str:
    """A name as one part of an address: a slash or a question mark in it parts nothing."""
    return quote(str(text), safe="")


def error_page(request: Request, error: WebError, status: int, headers: Mapping[str, str]) -> HTMLResponse:
    """The page that says what went wrong."""
    return page(request, "error", status=status, headers=headers, title="That did not work", error=error)


@cache
def _environment() -> Environment:
    # The macros of the reports are there, too: whiskers, marked words, matrices.
    environment = make_environment(TEMPLATES, REPORT_TEMPLATES)
    environment.filters |= {"moment": moment, "iso": iso, "span": span, "part": part_of_address}
    return environment
