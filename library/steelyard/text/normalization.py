"""Unicode's normal forms in time that grows with the text, whatever is in it.

Python sorts the marks behind a letter by moving each one past all that belong behind it: n of them can take n² steps, a
mebibyte minutes. Here long runs are put in order before Python sees them. The result is the same.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

LONG = 30
"""Marks in a row that no language has: Unicode's Stream-Safe Text Format (UAX #15, section 13) ends runs there, too."""
_MARKS = range(0x300, 0x20000)
"""Where the characters are that can be moved past one another."""


def normalized(form: Form, text: str) -> str:
    """What `unicodedata.normalize` returns, and in linear time.

    Parameters
    ----------
    form : Form
    text : str

    Returns
    -------
    str
    """
    if len(text) > LONG and not text.isascii():
        decomposed: Form = "NFKD" if "K" in form else "NFD"
        text = _long_runs(decomposed).sub(lambda run: _in_order(decomposed, run[0]), text)
    return unicodedata.normalize(form, text)  # noqa: TID251 - here it is safe


def _in_order(decomposed: Form, run: str) -> str:
    """A run of marks, decomposed, in canonical order: by combining class, those of one class as they stand."""
    classes: dict[int, list[str]] = {}
    for character in run:
        for mark in unicodedata.normalize(decomposed, character):  # noqa: TID251 - a single character
            classes.setdefault(unicodedata.combining(mark), []).append(mark)
    return "".join("".join(classes[each]) for each in sorted(classes))


@cache
def _long_runs(decomposed: Form) -> re.Pattern[str]:
    """More than LONG characters in a row that are marks, or nothing but marks when they are decomposed."""
    return re.compile(f"[{''.join(f'{first}-{last}' for first, last in _ranges(decomposed))}]{{{LONG + 1},}}+")


def _ranges(decomposed: Form) -> Iterator[tuple[str, str]]:
    first = last = -1
    for code in _MARKS:
        if not is_mark(chr(code), decomposed):
            continue
        if code != last + 1:
            if last >= 0:
                yield chr(first), chr(last)
            first = code
        last = code
    yield chr(first), chr(last)


def is_mark(character: str, decomposed: Form) -> bool:
    """Whether a character has, or all that it decomposes into has, a combining class, by which it is moved.

    Parameters
    ----------
    character : str
    decomposed : Form

    Returns
    -------
    bool
    """
    if not unicodedata.decomposition(character):
        return unicodedata.combining(character) != 0
    return all(map(unicodedata.combining, unicodedata.normalize(decomposed, character)))  # noqa: TID251 - as above
