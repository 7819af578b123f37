"""To which mail servers a password is told."""

from __future__ import annotations

import smtplib
from typing import Any

import pytest

from campaigns.accounts.mail import NOT_SENT, Email, send_email
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
