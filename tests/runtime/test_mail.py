"""Which mail servers get a password."""

from __future__ import annotations

import email
import email.policy
import smtplib
import ssl
from typing import Any

import pytest

import runtime.mail
from runtime.mail import NOT_SENT, BadMailUrl, Email, MailServer, mail_server, send_email
from runtime.service_settings import WebSettings


@pytest.mark.parametrize(
    ("url", "encrypts", "told"),
    [
        ("smtp://us:secret@mail.example.org", False, None),
        ("smtp://us:secret@mail.example.org", True, ["starttls", "login", "send"]),
        ("smtps://us:secret@mail.example.org", False, ["login", "send"]),
        ("smtp://us:secret@localhost", False, ["login", "send"]),
        ("smtp://mail.example.org", False, ["send"]),
    ],
)
def test_no_password_goes_over_the_net_in_the_clear(
    monkeypatch: pytest.MonkeyPatch, url: str, encrypts: bool, told: list[str] | None
) -> None:
    heard: list[str] = []

    class Server:
        """Does what a mail server would, but nothing."""

        def __init__(self, *_: Any, **__: Any) -> None: ...

        def __enter__(self) -> Server:
            return self

        def __exit__(self, *_: object) -> None: ...

        def ehlo(self) -> None: ...

        def has_extn(self, name: str) -> bool:
            return name == "starttls" and encrypts

        def starttls(self, **_: Any) -> None:
            heard.append("starttls")

        def login(self, user: str, password: str) -> None:
            assert (user, password) == ("us", "secret")
            heard.append("login")

        def send_message(self, *_: Any, **__: Any) -> None:
            heard.append("send")

    monkeypatch.setattr(smtplib, "SMTP", Server)
    monkeypatch.setattr(smtplib, "SMTP_SSL", Server)
    fault = send_email(WebSettings(mail_url=url), Email("mary@example.org", "Hello", "It is us."))
    assert (fault, heard) == ((NOT_SENT, []) if told is None else ("", told))


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example.org", MailServer("mail.example.org", 587, False, "", "")),
        ("smtps://mail.example.org/", MailServer("mail.example.org", 465, True, "", "")),
        ("smtps://us:secret@[::1]:2525", MailServer("::1", 2525, True, "us", "secret")),
        (
            "smtp://us%40example.org:p%2Fa%3Ass%40%25@localhost:25",
            MailServer("localhost", 25, False, "us@example.org", "p/a:ss@%"),
        ),
    ],
)
def test_what_a_mail_url_says(url: str, server: MailServer) -> None:
    assert mail_server(url) == server


@pytest.mark.parametrize(
    "url", ["https://h", "smtp://", "smtp://us:secret@", "smtp://h:x", "smtp://h/path", "smtp://h?tls=no", "h:25"]
)
def test_a_mail_url_that_says_something_else(url: str) -> None:
    with pytest.raises(BadMailUrl) as told:
        mail_server(url)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(("url", "kind"), [("smtp://h:1", "SMTP"), ("smtps://h:2", "SMTP_SSL")])
def test_servers_prove_who_they_are_before_anything_is_said(
    monkeypatch: pytest.MonkeyPatch, url: str, kind: str
) -> None:
    reached: list[tuple[str, str, int]] = []
    contexts: list[ssl.SSLContext] = []

    def server(name: str) -> type:
        class Server:
            def __init__(self, host: str, port: int, **how: Any) -> None:
                reached.append((name, host, port))
                contexts.extend([how["context"]] if "context" in how else [])

            def __enter__(self) -> Server:
                return self

            def __exit__(self, *_: object) -> None: ...

            def ehlo(self) -> None: ...

            def has_extn(self, name: str) -> bool:
                return name == "starttls"

            def starttls(self, *, context: ssl.SSLContext) -> None:
                contexts.append(context)

            def send_message(self, *_: Any, **__: Any) -> None: ...

        return Server

    for name in ("SMTP", "SMTP_SSL"):
        monkeypatch.setattr(smtplib, name, server(name))
    assert send_email(WebSettings(mail_url=url), Email("mary@example.org", "Hello", "It is us.")) == ""
    assert reached == [(kind, "h", int(url[-1]))]
    (context,) = contexts
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_what_ends_mails_stands_in_their_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mail programs show a button for it; a mail that somebody asked for, such as a link, has none."""
    sent: list[Any] = []
    monkeypatch.setattr(runtime.mail, "_deliver", lambda _server, message, *_: sent.append(message))
    leave = "https://mt.example.org/unsubscribe/" + 60 * "4f" + "?kind=deadline"
    settings = WebSettings(mail_url="smtp://localhost")
    for address in (leave, ""):
        assert send_email(settings, Email("mary@example.org", "Hello", "It is us.", unsubscribe=address)) == ""
    written = [email.message_from_bytes(each.as_bytes(), policy=email.policy.default) for each in sent]
    assert [each["List-Unsubscribe"] for each in written] == [f"<{leave}>", None]
