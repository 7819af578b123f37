"""Renders templates. They share filters and styles with the reports (`campaigns.reports.template`)."""

from __future__ import annotations

from functools import cache
from http.client import INTERNAL_SERVER_ERROR
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from campaigns.accounts.principal import NOBODY
from campaigns.accounts.secrets import new_secret
from campaigns.errors import CampaignsError
from campaigns.permissions import CampaignAccess, read_access
from campaigns.reports.template import FOLDER as REPORT_TEMPLATES
from campaigns.reports.template import make_environment
from models.database.session import reading
from runtime.times import utc
from steelyard.tables.formatting import date_time, duration
from steelyard.text.languages import language_name
from steelyard.text.wording import number_of
from steelyard_client.version import VERSION
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
from web.live import with_version
from web.pages.markdown import markdown
from web.static_files import address_of, drawn_icon

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import Request, Response
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
DOCUMENTATION = {
    "about": "explanation/statistics.html",
    "accounts/account": "how-to/accounts.html",
    "accounts/accounts": "how-to/accounts.html",
    "accounts/audit": "how-to/accounts.html",
    "accounts/notices": "how-to/notices.html",
    "accounts/team": "how-to/accounts.html",
    "accounts/teams": "how-to/accounts.html",
    "accounts/tokens": "how-to/client.html",
    "campaigns/archive": "how-to/organisers.html#next-year",
    "campaigns/campaign": "how-to/participants.html",
    "campaigns/correction": "how-to/organisers.html#a-reference-was-wrong",
    "campaigns/manage/overview": "how-to/organisers.html",
    "campaigns/manage/new_test_set": "how-to/organisers.html#add-its-test-sets",
    "campaigns/manage/phase": "how-to/organisers.html#plan-its-phases",
    "campaigns/manage/rules": "how-to/organisers.html#create-the-campaign",
    "campaigns/manage/test_set": "how-to/organisers.html#add-its-test-sets",
    "campaigns/new_campaign": "how-to/organisers.html#create-the-campaign",
    "campaigns/nightly": "how-to/nightly.html",
    "campaigns/nightly_run": "reference/regressions.html",
    "campaigns/system": "how-to/systems.html",
    "campaigns/systems": "how-to/systems.html",
    "leaderboards/comparison": "explanation/statistics.html",
    "leaderboards/leaderboard": "reference/leaderboard.html",
    "leaderboards/metrics": "reference/correlation.html",
    "leaderboards/segments": "reference/inspection.html#segments",
    "queue": "how-to/queue.html",
    "submissions/submission": "how-to/participants.html",
    "submissions/submissions": "how-to/participants.html",
    "submissions/submit": "how-to/participants.html",
}
"""Template -> the page of the documentation, below `/docs`, that "Documentation" leads to."""
ERROR_TITLES = {
    400: "Invalid request",
    401: "Sign-in required",
    403: "Access denied",
    404: "Page not found",
    405: "Method not allowed",
    408: "Request timed out",
    409: "Conflict",
    412: "Changed in the meantime",
    413: "Too large",
    422: "Invalid input",
    429: "Too many requests",
    503: "Temporarily unavailable",
}


def page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    """Render the template of a page, which extends `base.html.j2`. All values are escaped."""
    try:
        principal = read_principal(request)
    except (CampaignsError, DBAPIError):
        # This may be the page that reports that the database is unavailable.
        principal = NOBODY
    token = FormToken(browser_secret(request))
    html = (
        _environment()
        .get_template(f"{template}.html.j2")
        .render(
            request=request,
            documentation=DOCUMENTATION.get(template, "index.html"),
            principal=principal,
            version=VERSION,
            form_field=FORM_FIELD,
            form_token=token,
            **values,
        )
    )
    response = HTMLResponse(with_version(html), status, dict(headers or {}))
    if token.issued:
        set_cookie(response, request, VISITOR_COOKIE, token.issued)
    return response


def bare(template: str, *, headers: Mapping[str, str], **values: Any) -> HTMLResponse:
    """Render a page that has nothing of the session, neither header nor forms, and sets no cookie."""
    return HTMLResponse(_environment().get_template(f"{template}.html.j2").render(values), 200, dict(headers))


def fragment(template: str, **values: Any) -> Markup:
    """Render a part of a page that does not depend on the session, so that users with equal access can share it."""
    return Markup(_environment().get_template(f"{template}.html.j2").render(values))  # noqa: S704 - escaped by the engine


class FormToken:
    """The CSRF token of the forms of a page. Rendering it gives a browser without a secret a new one."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.issued = ""

    def __str__(self) -> str:
        if not self.secret:
            self.secret = self.issued = new_secret()
        return form_token(self.secret)


def set_cookie(
    response: Response, request: Request, name: str, value: str, *, max_age_seconds: int | None = None
) -> None:
    """Set a cookie that is hidden from scripts and not sent with forms of other sites."""
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
    """Redirect after a form, so that reloading the page does not send the form again."""
    return RedirectResponse(address, 303)


def part_of_address(text: object) -> str:
    """Quote a name as one segment of a URL path, including slashes and question marks."""
    return quote(str(text), safe="")


def error_page(request: Request, error: CampaignsError, status: int, headers: Mapping[str, str]) -> HTMLResponse:
    """Render the error page, with the tabs of the campaign that its address is of."""
    access = _campaign_of(request) if status < INTERNAL_SERVER_ERROR else None
    title = ERROR_TITLES.get(status, "Something went wrong")
    return page(request, "error", status=status, headers=headers, title=title, error=error, access=access, here="error")


def _campaign_of(request: Request) -> CampaignAccess | None:
    """Return what the user may see of the campaign in the address; None if it is no campaign's, or hidden."""
    match request.scope["path"].split("/"):
        case ["", "campaigns", name, _, *_]:
            try:
                with reading(app_state(request).engine) as connection:
                    return read_access(connection, read_principal(request), name)
            except (CampaignsError, SQLAlchemyError):
                return None
    return None


@cache
def _environment() -> Environment:
    # Pages also use the macros of the reports: whiskers, marked words, matrices.
    environment = make_environment(TEMPLATES, REPORT_TEMPLATES)
    environment.filters |= {"time": date_time, "utc": utc, "duration": duration, "part": part_of_address}
    # "test_set.correct" of the audit log, as words.
    environment.filters["action"] = lambda code: code.replace("_", " ").replace("-", " ").replace(".", ": ")
    environment.globals |= {"static": address_of, "icon": Markup(drawn_icon())}  # noqa: S704 - a file of ours
    environment.filters |= {"language_name": language_name, "markdown": markdown, "number_of": number_of}
    return environment
