"""Reads UTF-8 text with one segment per line, and says what it found odd about it.

A line ends at U+000A and nowhere else: U+2028, U+0085, form feeds and lone carriage returns are
part of the text, because machine translation output contains them and a cut there would shift
all that follows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from steelyard.errors import BadText
from steelyard.formats.input.contents import opened, refuse_other_formats
from steelyard.formats.input.windows import Windows
from steelyard.text.blocks import split_blocks
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits
from steelyard.text.names import printable
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from steelyard.formats.input.contents import Source

Utf8: TypeAlias = bytes

_NOT_LINE_ENDS = (
    ("U+2028", "\u2028".encode()),
    ("U+2029", "\u2029".encode()),
    ("U+0085", "\u0085".encode()),
    ("U+000B", b"\x0b"),
    ("form feed", b"\x0c"),
    ("lone carriage return", b"\r"),
)


class DifferentLengths(BadText):
    """The files do not have the same number of lines. Line i of each must belong to segment i."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text in canonical form: what is hashed, stored and scored."""

    name: str
    """Where it came from, as messages call it."""

    bytes: Utf8 = field(repr=False)
    r"""Valid UTF-8, lines joined by `\n`, none at the end; no `\r` before a `\n` or at the end."""

    segments: int
    """Number of lines. Empty bytes are no segment or one empty segment: only this tells which."""

    layers: Mapping[str, Utf8] = field(default_factory=dict, repr=False)
    """Its linguistic layers (`steelyard.formats.layers`), each with as many lines."""

    unit: str = "line"
    """What a segment is in its file: a line, a sentence, a bundle."""

    ids: tuple[str, ...] = ()
    """The ids of its segments, where the file has them."""

    language: str = ""
    """Code of its language, where the file names it."""

    notices: tuple[str, ...] = ()
    """What was odd and what was done about it, each a sentence that names the text."""

    @property
    def size(self) -> int:
        """Number of bytes."""
        return len(self.bytes)

    @property
    def sha256(self) -> str:
        """SHA-256 of the lines, each ended by a line feed: that of the usual text file."""
        digest = hashlib.sha256(self.bytes)
        digest.update(b"\n" if self.segments else b"")
        return digest.hexdigest()

    def lines(self) -> list[Utf8]:
        """The segments.

        Returns
        -------
        list of bytes
            Each as UTF-8 without its line end.
        """
        return self.bytes.split(b"\n") if self.segments else []

    def runs(self, blocks: int) -> Iterator[Utf8]:
        """The text in runs of several blocks of 256 segments.

        Parameters
        ----------
        blocks : int

        Yields
        ------
        bytes
            Lines joined by line feeds, none at the end of a run.
        """
        for (run,) in split_blocks([self.bytes], blocks):
            yield run


def read_lines(source: Source, *, name: str | None = None, limits: TextLimits = DEFAULT_LIMITS) -> Text:
    """Read text with one segment per line, packed with gzip or not.

    Parameters
    ----------
    source : path, bytes or Contents
        Of paths, `-` is the standard input.
    name : str, optional
        What messages call the text; without it, the path.
    limits : TextLimits

    Returns
    -------
    Text

    Raises
    ------
    BadText
        Unreadable, BadGzip, WrongFormat, NotUtf8 or OverLimit, naming file, line and what to do.
    """
    contents = opened(source, name=name, limits=limits)
    refuse_other_formats(contents)
    windows = Windows(contents, limits)
    lines = list(windows)
    if lines:
        lines[-1] = lines[-1][:-1]
    return Text(contents.name, b"".join(lines), windows.segments, notices=tuple(windows.notices))


def check_same_length(first: Text, others: Iterable[Text]) -> None:
    """Check that all texts have as many segments as the first.

    Parameters
    ----------
    first : Text
    others : iterable of Text

    Raises
    ------
    DifferentLengths
        Listing every text with its count and what in it may explain the difference.
    """
    texts = [first, *others]
    if all(text.segments == first.segments for text in texts):
        return
    rows = "\n".join(f"  {_length_row(text, first)}" for text in texts)
    if all(text.unit == "line" for text in texts):
        what = "one line per segment, so as many"
        advice = (
            "Make line i of every file belong to segment i. A line ends at a line feed only; a segment "
            "without translation is an empty line."
        )
    else:
        what = "as many segments"
        advice = "Make line, sentence or bundle i of every file belong to segment i."
    raise DifferentLengths(
        f"These files must have {what} as {first.name}, "
        f"which has {number_of(first.segments, first.unit)}:\n{rows}\n{advice}"
    )


def _length_row(text: Text, first: Text) -> str:
    row = f"{text.name}: {number_of(text.segments, text.unit)}"
    if text.segments == first.segments:
        return row
    difference = abs(text.segments - first.segments)
    row += f", {difference:,} {'more' if text.segments > first.segments else 'fewer'}"
    if text.unit != "line":
        return row + _id_hint(text, first)
    lines = text.lines()
    hints = []
    if lines and not lines[-1].strip():
        hints.append("its last line is blank")
    if blank := sum(not line.strip() for line in lines):
        hints.append(f"{number_of(blank, 'blank line')} in all")
    hints += [
        f"{count:,} times {called} inside lines, which is no line end"
        for called, character in _NOT_LINE_ENDS
        if (count := text.bytes.count(character))
    ]
    return f"{row} ({'; '.join(hints)})" if hints else row


def _id_hint(text: Text, first: Text) -> str:
    """Which ids one has and the other lacks, where they have ids in common."""
    ours, theirs = dict.fromkeys(text.ids), dict.fromkeys(first.ids)
    if ours.keys().isdisjoint(theirs):
        return ""
    missing = [printable(one) for one in theirs if one not in ours]
    extra = [printable(one) for one in ours if one not in theirs]
    hints = [f"{what}: {listed(ids)}" for what, ids in (("missing", missing), ("extra", extra)) if ids]
    return f" ({'; '.join(hints)})"
