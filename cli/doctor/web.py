"""Checks of the web service: its public address, its proxies, mails, and the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cli.doctor.finding import Finding

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from runtime.service_settings import WebSettings


def check_public_address(settings: WebSettings) -> Iterator[Finding]:
    """Check whether links lead to where people are, and whether passwords travel encrypted."""
    url = settings.public_url
    if url is None:
        if _is_local(settings.web_host):
            yield Finding.ok("public address", f"none: pages are for this machine, at port {settings.web_port}")
        else:
            yield Finding.problem(
                "public address",
                f"pages are served at {settings.web_host}, and no one knows by which name",
                "Set STEELYARD_PUBLIC_URL=https://..., or STEELYARD_WEB_HOST=127.0.0.1.",
            )
        return
    parts = urlsplit(url)
    if parts.scheme == "https":
        yield Finding.ok("public address", url)
        if not settings.trusted_proxies:
            yield Finding.warning(
                "proxies",
                "none is trusted: all requests seem to come from the proxy, and share its limits",
                "Set STEELYARD_TRUSTED_PROXIES to the proxy's address.",
            )
    elif _is_local(parts.hostname or ""):
        yield Finding.ok("public address", f"{url}, for this machine")
    else:
        yield Finding.warning(
            "public address", f"{url}: passwords travel in clear text", "Put a proxy with TLS in front of it."
        )


def check_mails(settings: WebSettings) -> Finding:
    """Greet the mail server and sign in, without sending anything."""
    from smtplib import SMTPException

    from runtime.errors import ProcessError
    from runtime.mail import check_mail_server

    if settings.mail_url is None:
        return Finding.warning(
            "mails", "none are sent: links for new passwords must be passed on by hand", "Set STEELYARD_MAIL_URL."
        )
    try:
        check_mail_server(settings.mail_url)
    except (OSError, SMTPException, ProcessError) as error:
        return Finding.problem(
            "mails", str(error) or type(error).__name__, "Correct STEELYARD_MAIL_URL, or start the mail server."
        )
    return Finding.ok("mails", f"the server takes them, from {settings.mail_from}")


def check_accounts(connection: Connection) -> Finding:
    """Check whether there is an administrator."""
    from sqlalchemy import func, select

    from models.schema.accounts import Account
    from models.schema.roles import SiteRole

    administrators = connection.scalar(
        select(func.count()).select_from(Account).where(Account.role == SiteRole.ADMINISTRATOR)
    )
    if not administrators:
        fix = "Start `steelyard serve`, which prints a link for the first, or use `steelyard user create`."
        return Finding.warning("accounts", "there is no administrator", fix)
    return Finding.ok("accounts", f"administrators: {administrators}")


def check_documentation() -> Finding:
    """Check whether the pages can offer the documentation."""
    from web.pages.documentation import SITE

    if not (SITE / "index.html").is_file():
        return Finding.warning("documentation", "it was not built, and the pages do not link to it", "Run `make docs`.")
    return Finding.ok("documentation", "served under /docs")


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
