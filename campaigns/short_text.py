"""What people type into a field: read in one place, its length first."""

from __future__ import annotations

from campaigns.errors import BadRequest
from metrics.text.names import hides
from metrics.text.normalization import normalized
from metrics.text.wording import number_of

PARTS_EACH = 4
"""A character has so many code points before it is composed, as some Vietnamese and Korean ones have."""


def short_text(given: str, what: str, longest: int, *, shortest: int = 0, lines: bool = False) -> str:
    """A person's text in Unicode's NFC, without space around it; a single line has one space between words.

    `what` begins the messages: "The name". Its length is asked for before anything else is done with it. Nothing is in
    it that controls or hides instead of being shown, such as signs that turn the direction of what stands after them.
    Raises BadRequest.
    """
    text = given.replace("\r\n", "\n").strip() if lines else " ".join(given.split())
    if len(text) <= PARTS_EACH * longest:
        text = normalized("NFC", text)
    if not shortest <= len(text) <= longest:
        allowed = number_of(longest, "character")
        allowed = f"{shortest} to {allowed}" if shortest else f"{allowed} at most"
        raise BadRequest(f"{what} has {number_of(len(text), 'character')}; {allowed} are allowed.")
    if odd := unprintable(text, "\n\t" if lines else ""):
        raise BadRequest(f"{what} contains {odd!a}, which cannot be shown. Take it out.")
    return text


def unprintable(text: str, but: str = "") -> str:
    """The first character that controls or hides something instead of being shown; "" where there is none."""
    return next((each for each in text if each not in but and hides(each)), "")
