"""Tokenizers that are rules: functions from a text to the same lines with white space between the tokens."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.text import class_tokenizer as kinds
from steelyard.kernels.text.class_tokenizer import CODE_POINTS, tokenize_by_class
from steelyard.kernels.text.tokenize_13a import tokenize_13a

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Kinds = NDArray[np.uint8]

ASCII_PUNCTUATION = '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'
"""What mteval-v13a always cuts off: no apostrophe, full stop, comma or hyphen."""

CHINESE = (
    "\u3400-\u4db5\u4e00-\u9fbb\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\uff00-\uffef\u2e80-\u2eff\u3000-\u303f"
    "\u31c0-\u31ef\u2f00-\u2fdf\u2ff0-\u2fff\u3100-\u312f\u31a0-\u31bf\ufe10-\ufe1f\ufe30-\ufe4f\u2600-\u27bf"
    "\u3200-\u33ff"
    # sacreBLEU means the planes beyond 16 bits, but its strings end after four digits: these ranges come out.
    "\u2001-\u2a6d\u2f81-\u2fa1"
)
"""What the tokenizer `zh` takes for Chinese, in the notation of `characters_of`."""

LAST_WHITE_SPACE = 0x3000
"""White space is what Python's `str.split()` cuts at; `is_white_space` in kernels/include/utf8.h is the same."""

MOST_SIGNS = 10_000
"""Of a kind that are looked at before a text counts as one with markup."""

ENTITIES = ((b"&quot;", b'"'), (b"&amp;", b"&"), (b"&lt;", b"<"), (b"&gt;", b">"))


def none(text: bytes) -> bytes:
    """Words as they are: white space separates them.

    Parameters
    ----------
    text : bytes
        UTF-8, lines joined by line feeds, here and below.

    Returns
    -------
    bytes
        As many lines, white space between the tokens.
    """
    return text


def mteval_13a(text: bytes) -> bytes:
    """The rules of mteval-v13a for Western languages; entities are resolved.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    bytes
    """
    return tokenize_13a(unescaped(text))


def international(text: bytes) -> bytes:
    """The rules of mteval-v14 with --international-tokenization, without its resolving of entities.

    By Unicode's categories: punctuation is cut off unless it touches a number, symbols always.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    bytes
    """
    return tokenize_by_class(text, international_kinds())


def characters(text: bytes) -> bytes:
    """Every code point is a token.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    bytes
    """
    return tokenize_by_class(text, character_kinds())


def chinese(text: bytes) -> bytes:
    """Every Chinese character is a token; the rest by the rules of 13a, without its resolving of entities.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    bytes
    """
    return tokenize_by_class(text, chinese_kinds(), kinds.LEFT_TRIMMED)


def thesis(text: bytes) -> bytes:
    """The rules of MTrics (Kos 2008, section 4.3.1).

    Digits that white space separates are joined. Full stops and commas are cut off unless a digit follows, hyphens
    where they follow a digit, other ASCII punctuation but the apostrophe always.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    bytes
    """
    return tokenize_by_class(text, western_kinds(), kinds.LOOKING_AHEAD)


def unescaped(text: bytes) -> bytes:
    """The replacements that mteval-v13a makes before it looks at punctuation, in its order.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    bytes
    """
    if not may_have_markup(text):
        return text
    text = text.replace(b"<skipped>", b"")
    for entity, character in ENTITIES:
        text = text.replace(entity, character)
    return text


def may_have_markup(text: bytes) -> bool:
    """Whether a text may have what `unescaped` replaces, in capitals or not: five searches take longer than this look.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    bool
    """
    for sign, letters in ((b"&", b"qalgQALG"), (b"<", b"sS")):
        at = -1
        for _ in range(MOST_SIGNS):
            at = text.find(sign, at + 1)
            if at < 0:
                break
            if text[at + 1 : at + 2] in letters:
                return True
        else:
            return True
    return False


def characters_of(ranges: str) -> Iterable[tuple[int, int]]:
    """The characters that a text such as "a-z.!" stands for.

    Parameters
    ----------
    ranges : str

    Returns
    -------
    iterable of (int, int)
        First and last code point of each part.
    """
    at = 0
    while at < len(ranges):
        wide = ranges[at + 1 : at + 2] == "-"
        yield ord(ranges[at]), ord(ranges[at + 2 * wide])
        at += 3 if wide else 1


def mark(table: Kinds, ranges: str, kind: int) -> None:
    """Say of which kind characters are.

    Parameters
    ----------
    table : (code points,) uint8
        Changed in place.
    ranges : str
        As of `characters_of`.
    kind : int
    """
    for first, last in characters_of(ranges):
        table[first : last + 1] = kind


@cache
def blank_kinds() -> Kinds:
    """Only white space is distinguished from the rest."""
    table = np.full(CODE_POINTS, kinds.OTHER, np.uint8)
    table[[code for code in range(LAST_WHITE_SPACE + 1) if chr(code).isspace()]] = kinds.BLANK
    return table


@cache
def character_kinds() -> Kinds:
    """Nothing belongs together."""
    return np.where(blank_kinds() == kinds.BLANK, kinds.BLANK, kinds.ALONE).astype(np.uint8)


@cache
def western_kinds() -> Kinds:
    """Digits and punctuation of ASCII."""
    table = blank_kinds().copy()
    mark(table, ASCII_PUNCTUATION, kinds.ALONE)
    mark(table, "0-9", kinds.NUMBER)
    mark(table, ".,", kinds.MARK)
    table[ord("-")] = kinds.DASH
    return table


@cache
def chinese_kinds() -> Kinds:
    """The Western ones, and Chinese characters, among which is some white space."""
    table = western_kinds().copy()
    blank = table == kinds.BLANK
    mark(table, CHINESE, kinds.ALONE)
    table[blank] = kinds.BLANK
    return table


@cache
def international_kinds() -> Kinds:
    """Unicode's categories N, P and S, of one version of Unicode everywhere."""
    from steelyard.tokenizers.unicode_categories import NUMBERS, PUNCTUATION, SYMBOLS

    table = blank_kinds().copy()
    for ranges, kind in ((NUMBERS, kinds.NUMBER), (PUNCTUATION, kinds.MARK), (SYMBOLS, kinds.ALONE)):
        for each in ranges.split():
            first, last = (int(end, 16) for end in each.split("-"))
            table[first : last + 1] = kind
    return table
