"""Validation of the addresses of pages elsewhere that people type into a field."""

from __future__ import annotations

from urllib.parse import urlsplit

from campaigns.errors import BadRequest
from campaigns.fields.short_text import short_text


def web_address(given: str, what: str, longest: int) -> str:
    """Return an address of the web; "" for none.

    Raises
    ------
    BadRequest
        For anything but http:// and https:// with a host and without a password, so that a link to it does no harm.
    """
    text = short_text(given, what, longest)
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        fits = False
    if not fits or any(each in text for each in ' "<>\\^`{|}'):
        raise BadRequest(
            f"{what} is {text[:100]!r}. Give the address of a page, such as https://example.org/paper.pdf."
        )
    return text
