"""Mails: sent by the server that `mail_url` names, after the answer, so that nobody waits for it or learns from it."""

from __future__ import annotations

import logging
import smtplib
import ssl
from dataclasses import dataclass
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from campaigns.errors import WebError

if TYPE_CHECKING:
    from runtime.service_settings import WebSettings

log = logging.getLogger(__name__)

SECONDS = 15.0
PORTS = {"smtp": 587, "smtps": 465}
NO_MAILS = "This server sends no mails."
REFUSED = "The mail server takes no mail for this address."
NOT_SENT = "The mail server cannot be reached, or does not take the mail now."
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class BadMailUrl(WebError):
    """STEELYARD_MAIL_URL must be smtp://USER:PASSWORD@HOST:PORT or smtps://..., where user and port may be left out."""


@dataclass(frozen=True, slots=True)
class MailServer:
    """Who sends mails."""

    host: str
    port: int
    encrypted: bool
    """From the first byte; else as soon as the server offers it."""
    user: str
    password: str


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail to one person, in plain text."""

    to: str
    subject: str
    text: str


def mail_server(url: str) -> MailServer:
    """What a URL says. Raises BadMailUrl, which does not repeat it: a password is in it."""
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


def send(settings: WebSettings, letter: Letter) -> str:
    """Send a letter; why it was not sent, "" where it was.

    What the server said is in the log, without the letter: it may hold a link.
    """
    if settings.mail_url is None:
        return NO_MAILS
    try:
        _deliver(mail_server(settings.mail_url), _message(settings.mail_from, letter), letter.to)
    except (OSError, smtplib.SMTPException, BadMailUrl, MessageError, ValueError) as error:
        log.error("A mail to %s was not sent: %s", ascii(letter.to), error)
        refused = isinstance(error, smtplib.SMTPRecipientsRefused)
        return REFUSED if refused else NOT_SENT
    log.info("A mail was sent to %s.", letter.to)
    return ""


def _message(sender: str, letter: Letter) -> EmailMessage:
    message = EmailMessage()
    # An address and no text: of a text, the parser would read encoded words, and send to what they say.
    message["From"], message["To"], message["Subject"] = sender, Address(addr_spec=letter.to), letter.subject
    message["Date"] = formatdate(localtime=False)
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2].strip("> ") or None)
    # Nobody's program should answer that somebody is on holiday.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(letter.text)
    return message


def _deliver(server: MailServer, message: EmailMessage, to: str) -> None:
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
        smtp.send_message(message, to_addrs=[to])
