"""Sends e-mails by the server in `mail_url`, after the response, so that its time reveals nothing."""

from __future__ import annotations

import logging
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from runtime.errors import ProcessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.service_settings import WebSettings

log = logging.getLogger(__name__)

SECONDS = 15.0
PORTS = {"smtp": 587, "smtps": 465}
NO_MAILS = "This server does not send e-mail."
REFUSED = "The mail server rejected this address."
NOT_SENT = "The mail server is unreachable or does not accept the message now."
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class BadMailUrl(ProcessError):
    """STEELYARD_MAIL_URL must be smtp://USER:PASSWORD@HOST:PORT or smtps://..., where user and port may be left out."""


@dataclass(frozen=True, slots=True)
class MailServer:
    """How to reach the mail server."""

    host: str
    port: int
    encrypted: bool
    """Whether TLS starts with the connection; otherwise STARTTLS is used if the server offers it."""
    user: str
    password: str


@dataclass(frozen=True, slots=True)
class Email:
    """A plain-text e-mail to one person."""

    to: str
    subject: str
    text: str
    identity: str = ""
    """What is the same in every copy of it, for its Message-ID; "" for one that has none."""
    unsubscribe: str = ""
    """The address of the page on which its recipient ends such e-mails."""


def mail_server(url: str) -> MailServer:
    """Parse a mail URL.

    Raises
    ------
    BadMailUrl
        If it is invalid; the message does not repeat it because it may contain a password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadMailUrl from None
    if parts.scheme not in PORTS or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise BadMailUrl
    return MailServer(
        parts.hostname,
        port or PORTS[parts.scheme],
        parts.scheme == "smtps",
        unquote(parts.username or ""),
        unquote(parts.password or ""),
    )


def send_email(settings: WebSettings, mail: Email, on_handover: Callable[[], None] = lambda: None) -> str:
    """Send an e-mail and return why it was not sent, "" if it was.

    `on_handover` is called once the server is reached, before the e-mail is given to it: what it raises stops it. The
    log has the server's error, without the e-mail, which may contain a link.
    """
    if settings.mail_url is None:
        return NO_MAILS
    try:
        _deliver(mail_server(settings.mail_url), _message(settings.mail_from, mail), mail.to, on_handover)
    except (OSError, smtplib.SMTPException, BadMailUrl, MessageError, ValueError) as error:
        log.error("E-mail to %s was not sent: %s", ascii(mail.to), error)
        refused = isinstance(error, smtplib.SMTPRecipientsRefused)
        return REFUSED if refused else NOT_SENT
    log.info("E-mail sent to %s.", mail.to)
    return ""


def _message(sender: str, mail: Email) -> EmailMessage:
    message = EmailMessage()
    # An Address, not a string: the parser would decode encoded words in a string, and send to another address.
    message["From"], message["To"], message["Subject"] = sender, Address(addr_spec=mail.to), mail.subject
    message["Date"] = formatdate(localtime=False)
    domain = sender.rpartition("@")[2].strip("> ") or None
    message["Message-ID"] = f"<{mail.identity}@{domain or 'localhost'}>" if mail.identity else make_msgid(domain=domain)
    if mail.unsubscribe:
        message["List-Unsubscribe"] = f"<{mail.unsubscribe}>"
    # Prevents automatic replies, such as out-of-office notices.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    return message


def check_mail_server(url: str) -> None:
    """Connect and sign in as for an e-mail, and send none.

    Raises
    ------
    BadMailUrl
        If the URL is invalid.
    OSError, smtplib.SMTPException
        If the server cannot be used.
    """
    with _connected(mail_server(url)):
        pass


def _deliver(server: MailServer, message: EmailMessage, to: str, on_handover: Callable[[], None]) -> None:
    with _connected(server) as smtp:
        on_handover()
        smtp.send_message(message, to_addrs=[to])


@contextmanager
def _connected(server: MailServer) -> Iterator[smtplib.SMTP]:
    """A connection, encrypted where the server can, and signed in."""
    context = ssl.create_default_context()
    if server.encrypted:
        connected: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=SECONDS, context=context)
    else:
        connected = smtplib.SMTP(server.host, server.port, timeout=SECONDS)
    with connected as smtp:
        smtp.ehlo()
        if not server.encrypted and smtp.has_extn("starttls"):
            smtp.starttls(context=context)
            smtp.ehlo()
        elif not server.encrypted and server.user and server.host not in LOCAL:
            raise smtplib.SMTPException(f"{server.host} does not encrypt; the password is not sent to it.")
        if server.user:
            smtp.login(server.user, server.password)
        yield smtp
