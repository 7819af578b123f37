"""What every metric asks of texts, checked once at the door."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import BadText
from steelyard.kernels.characters.utf8 import validate_utf8

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


SHORT = 512
"""Bytes of a text up to which Python has decoded it sooner than a kernel is called."""


def refuse_no_texts(references: Any, hypotheses: Any) -> None:
    """Refuse a text in the place of a list of texts, and no reference.

    Parameters
    ----------
    references, hypotheses : list of bytes

    Raises
    ------
    BadText
    """
    for what, texts in (("references", references), ("hypotheses", hypotheses)):
        if isinstance(texts, (str, bytes)):
            raise BadText(f"{what} is a single text, but must be a list of texts: {what}=[text].")
    if not references:
        raise BadText("There is no reference. Give at least one.")


def equal_line_counts(named: Iterable[tuple[str, bytes]]) -> int:
    """How many segments each of several texts has.

    Parameters
    ----------
    named : iterable of (str, bytes)
        What messages call each text, and the text.

    Returns
    -------
    int

    Raises
    ------
    BadText
        For a text that is not UTF-8, and for texts of different numbers of lines.
    """
    counts = {name: _lines(name, text) for name, text in named}
    if len(set(counts.values())) > 1:
        several = ", ".join(f"{name} has {count}" for name, count in _telling(counts))
        raise BadText(f"The texts have different numbers of lines: {several}. All must have as many, one a segment.")
    return next(iter(counts.values()))


def present_references(references: Sequence[bytes], segments: int, *, variable: bool) -> NDArray[np.uint8]:
    """Which references each segment has.

    Parameters
    ----------
    references : list of bytes
    segments : int
    variable : bool
        An empty line means that the segment lacks the reference.

    Returns
    -------
    (references, segments) uint8
        0 where the segment lacks that reference.

    Raises
    ------
    BadText
        For a segment that has none.
    """
    mask = np.ones((len(references), segments), np.uint8)
    if variable:
        for row, text in zip(mask, references, strict=True):
            row[:] = [bool(line) for line in text.split(b"\n")]
        missing = np.flatnonzero(~mask.any(axis=0))
        if len(missing):
            raise BadText(f"Segment {missing[0] + 1} has no reference at all.")
    return mask


def joined_texts(what: str, texts: Sequence[Sequence[str]]) -> list[bytes]:
    """Lists of segments as texts.

    Parameters
    ----------
    what : str
        What messages call the texts.
    texts : list of list of str

    Returns
    -------
    list of bytes
        UTF-8, lines joined by line feeds.

    Raises
    ------
    BadText
        For what is no list of lists of strings, and for a line feed in a segment.
    """
    if isinstance(texts, (str, bytes)) or any(isinstance(each, (str, bytes)) for each in texts):
        raise BadText(
            f"{what} is a list of segments, but must be a list of texts, each of which is a list of segments: "
            f"{what}=[segments]."
        )
    if not all(texts):
        raise BadText(f"{what} has a text without segments. Leave it out.")
    return [
        b"\n".join(_encoded(f"{what}[{place}]", number, line) for number, line in enumerate(text, 1))
        for place, text in enumerate(texts)
    ]


def _encoded(name: str, number: int, line: Any) -> bytes:
    if not isinstance(line, str):
        raise BadText(f"Segment {number} of {name} is of the type {type(line).__name__}, but must be a string.")
    if "\n" in line:
        raise BadText(f"Segment {number} of {name} has a line feed, which ends a segment. Put a blank in its place.")
    try:
        return line.encode()
    except UnicodeEncodeError as error:
        raise BadText(f"Segment {number} of {name} has half a character at {error.start + 1}. Take it out.") from error


def _lines(name: str, text: Any) -> int:
    r"""How many lines a text has, joined by "\n". Raises BadText where it is none."""
    if not isinstance(text, bytes):
        raise BadText(
            f"The {name} is of the type {type(text).__name__}, but must be bytes: its lines in UTF-8, joined by line "
            "feeds. Segments.from_lines takes lists of strings."
        )
    if len(text) <= SHORT:
        with suppress(UnicodeDecodeError):
            return text.decode().count("\n") + 1
    seen = validate_utf8(text)
    if not seen.is_utf8:
        line, byte, found = _damage(text)
        raise BadText(f"The {name} is not UTF-8: segment {line}, byte {byte} is 0x{found:02x}. Save it as UTF-8.")
    return seen.line_feeds + 1


def _damage(text: bytes) -> tuple[int, int, int]:
    """The line and the byte of it, both from 1 on, where it is not UTF-8, and that byte."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        begin = text.rfind(b"\n", 0, error.start) + 1
        return text.count(b"\n", 0, error.start) + 1, error.start - begin + 1, text[error.start]
    raise ValueError("The text is UTF-8.")


def _telling(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The first text and the first of each other number of lines."""
    first = {count: name for name, count in reversed(list(counts.items()))}
    return [(name, count) for name, count in counts.items() if first[count] == name]
