"""Removes passwords from texts: whatever is logged, printed, stored as a reason or sent passes through `redacted`.

A database's URL is parsed (`shown_url`), and only what is known to be harmless is shown. In other texts passwords are
recognised by what precedes them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import URL

HIDDEN = "***"

HARMLESS = frozenset(
    {
        "application_name", "connect_timeout", "dbname", "gssencmode", "host", "hostaddr", "keepalives", "port",
        "service", "sslmode", "target_session_attrs", "timeout", "user",
    }
)  # fmt: skip
"""Options of a database's URL that are shown with their values."""

_SECRET_WORDS = (
    "passw", "pwd", "passfile", "passphrase", "secret", "token", "access_key", "accesskey", "api_key", "apikey",
    "sslkey", "credential",
)  # fmt: skip


def _spelled(word: str) -> str:
    """A pattern of a word in which any letter may be percent-encoded, as in URLs."""
    return "".join(rf"(?:{re.escape(c)}|%{ord(c):02x}|%{ord(c.upper()):02x})" for c in word)


_WORDS = "|".join(map(_spelled, _SECRET_WORDS))

_WORD = re.compile(r"\S+")
_USER = re.compile(r"[A-Za-z][\w+.-]{0,30}:/{0,3}[^\s:/@'\"]{0,200}:")
"""The beginning of a URL with a password; bounded, to limit the time of matching."""


@cache
def _named() -> re.Pattern[str]:
    """What is called a password in URLs, in libpq's connection strings, in JSON and in the repr of a dictionary.

    Made when it is needed: that takes as long as importing a module.
    """
    return re.compile(
        rf"((?:{_WORDS})[\w%-]{{0,40}}(?:\\?['\"])?\s{{0,8}}[=:]\s{{0,8}})"
        r"(?:b?\\?'(?:[^'\\]|\\.)*'|b?\\?\"(?:[^\"\\]|\\.)*\"|[^\s&'\"]+)",
        re.IGNORECASE,
    )


def redacted(text: str) -> str:
    """The text, with everything masked that looks like a password."""
    if "@" in text:
        text = _WORD.sub(lambda word: _without_password(word[0]), text)
    return _named().sub(rf"\1{HIDDEN}", text)


def _without_password(word: str) -> str:
    """Mask everything up to the last @, since people forget to encode an @ in their password."""
    end = word.rfind("@")
    found = _USER.search(word, 0, end) if end > 0 else None
    return f"{word[: found.end()]}{HIDDEN}{word[end:]}" if found else word


def shown_url(address: URL) -> str:
    """A database's URL for people: without its password, in whatever form that is given."""
    harmless = {name: value for name, value in address.query.items() if name in HARMLESS}
    shown = address.set(query=harmless).render_as_string(hide_password=True)
    more = sorted(set(address.query) - set(harmless))
    return shown + "".join(f"{'&' if harmless or at else '?'}{name}={HIDDEN}" for at, name in enumerate(more))
