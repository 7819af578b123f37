"""Validation of text that people type into a field: its length first."""

from __future__ import annotations

from campaigns.errors import BadRequest
from steelyard.text.names import hides
from steelyard.text.normalization import normalized
from steelyard.text.wording import number_of

PARTS_EACH = 4
"""Code points that one composed character may consist of, as some Vietnamese and Korean ones do."""


def short_text(given: str, what: str, longest: int, *, shortest: int = 0, lines: bool = False) -> str:
    """Normalize a person's text to Unicode's NFC, stripped; a single line has one space between words.

    `what` begins error messages: "The name". `longest` and `shortest` count characters, and are checked before anything
    else is done with the text; `lines` allows line breaks.

    Raises
    ------
    BadRequest
        For a wrong length, and for characters that control or hide text instead of being shown, such as those that
        change the direction of what follows.
    """
    text = given.replace("\r\n", "\n").strip() if lines else " ".join(given.split())
    if len(text) <= PARTS_EACH * longest:
        text = normalized("NFC", text)
    if not shortest <= len(text) <= longest:
        allowed = number_of(longest, "character")
        allowed = f"{shortest} to {allowed}" if shortest else f"{allowed} at most"
        raise BadRequest(f"{what} has {number_of(len(text), 'character')}; {allowed} are allowed.")
    if odd := unprintable(text, "\n\t" if lines else ""):
        raise BadRequest(f"{what} contains {odd!a}, which cannot be displayed. Remove it.")
    return text


def unprintable(text: str, but: str = "") -> str:
    """Return the first character that controls or hides text instead of being shown; "" if there is none."""
    return next((each for each in text if each not in but and hides(each)), "")
