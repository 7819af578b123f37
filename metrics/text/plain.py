"""Reads UTF-8 text with one segment per line, and says what it found odd about it.

A line ends at U+000A and nowhere else: U+2028, U+0085, form feeds and lone carriage returns are
part of the text, because machine translation output contains them and a cut there would shift
all that follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from metrics.errors import BadText
from metrics.text.contents import WrongFormat, opened, refuse_other_formats
from metrics.text.limits import DEFAULT_LIMITS, OverLimit, TextLimits
from metrics.text.names import printable
from metrics.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metrics.text.contents import Source

Utf8: TypeAlias = bytes

CHECKED_AT_ONCE = 1 << 20

_BYTE_ORDER_MARKS = re.compile(rb"(?:\xef\xbb\xbf)+")
_MARKUP = re.compile(rb"\s*<(?:\?xml|!doctype|(?:ref|src|tst)set\b|mteval\b|dataset\b)", re.IGNORECASE)
_NOT_LINE_ENDS = (
    ("U+2028", "\u2028".encode()),
    ("U+2029", "\u2029".encode()),
    ("U+0085", "\u0085".encode()),
    ("U+000B", b"\x0b"),
    ("form feed", b"\x0c"),
    ("lone carriage return", b"\r"),
)


class NotUtf8(BadText):
    """The file contains bytes that are not UTF-8. Save it as UTF-8."""


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
    """Its linguistic layers (`metrics.text.layers`), each with as many lines."""

    unit: str = "line"
    """What a segment is in its file: a line, a sentence, a bundle."""

    ids: tuple[str, ...] = ()
    """The ids of its segments, where the file has them."""

    language: str = ""
    """Code of its language, where the file names it."""

    notices: tuple[str, ...] = ()
    """What was odd and what was done about it, each a sentence that names the text."""

    def lines(self) -> list[Utf8]:
        """The segments, each as UTF-8 without its line end."""
        return self.bytes.split(b"\n") if self.segments else []


def read_lines(source: Source, *, name: str | None = None, limits: TextLimits = DEFAULT_LIMITS) -> Text:
    """Read a file, standard input (`-`) or bytes, packed with gzip or not, as text with one segment per line.

    `name` is what messages call the text; without it, the path.
    Raises BadText (Unreadable, BadGzip, WrongFormat, NotUtf8, OverLimit) naming file, line and what to do.
    """
    contents = opened(source, name=name, limits=limits)
    refuse_other_formats(contents)
    name, data = contents.name, contents.read(limits)
    _refuse_nul(name, data)
    _check_lines(name, data, limits.segment_characters)

    notices = []
    if marks := _BYTE_ORDER_MARKS.match(data):
        data = data[marks.end() :]
        notices.append(f"{name}: starts with a byte-order mark, which was left out.")
    if _MARKUP.match(data):
        notices.append(f"{name}: looks like SGML or XML, but is read as plain text: every line counts as a segment.")
    if data and not data.endswith((b"\n", b"\r")):
        notices.append(f"{name}: the last line has no line end; it counts as a segment all the same.")
        data += b"\n"
    data, changed = _with_unix_line_ends(data)
    if changed:
        notices.append(f"{name}: {number_of(changed, 'line')} ended in CR LF (Windows); read as LF.")
    if lone := data.count(b"\r"):
        notices.append(
            f"{name}: {number_of(lone, 'carriage return')} inside lines kept as text, not taken as line ends."
        )
    segments = data.count(b"\n")
    if segments > limits.segments:
        raise OverLimit(
            f"{name}: {number_of(segments, 'line')}, the limit is {limits.segments:,}. "
            "Split the file, or raise the limit on segments."
        )
    return Text(name=name, bytes=data[:-1], segments=segments, notices=tuple(notices))


def check_same_length(first: Text, others: Iterable[Text]) -> None:
    """Raise DifferentLengths unless all texts have as many segments as the first.

    The message lists every text with its count and what in it may explain the difference.
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


def _refuse_nul(name: str, data: Utf8) -> None:
    nul = data.find(b"\0")
    if nul >= 0:
        line, byte = _place(data, nul)
        raise WrongFormat(
            f"{name}, line {line}, byte {byte}: a NUL byte, which text does not contain. "
            "Remove it; if every second byte is one, this is UTF-16: convert it with "
            "`iconv -f UTF-16LE -t UTF-8 OLD > NEW`."
        )


def _check_lines(name: str, data: Utf8, limit: int) -> None:
    """Check that all is UTF-8 and no line too long, in windows: memory stays small, no loop over lines."""
    window = max(1, min(limit, CHECKED_AT_ONCE))
    start = 0
    while start < len(data):
        end = len(data)
        if end - start > window:
            end = data.rfind(b"\n", start, start + window) + 1
        if end:
            _characters(name, data, start, end)
        else:
            # One line fills the window, so it has to be measured; no character has more than 4 bytes.
            end = data.find(b"\n", start) + 1 or len(data)
            if end - start > 4 * limit + len(b"\r\n") or _characters(name, data, start, end) > limit:
                raise OverLimit(
                    f"{name}, line {_place(data, start)[0]}: more than {limit:,} characters. Cut the segment "
                    "(or does the file lack line feeds?), or raise the limit on characters per segment."
                )
        start = end


def _characters(name: str, data: Utf8, start: int, end: int) -> int:
    """Number of characters without the line end; raises NotUtf8."""
    try:
        return len(data[start:end].decode().removesuffix("\n").removesuffix("\r"))
    except UnicodeDecodeError as error:
        line, byte = _place(data, start + error.start)
        broken = data[start + error.start : start + error.end].hex(" ")
        raise NotUtf8(
            f"{name}, line {line}, byte {byte}: not UTF-8 ({error.reason}, bytes {broken}). Save the file "
            "as UTF-8. If it is in an older encoding, convert it: `iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW`."
        ) from error


def _place(data: Utf8, position: int) -> tuple[int, int]:
    """Line and byte within the line, both counted from 1."""
    line_start = data.rfind(b"\n", 0, position) + 1
    return data.count(b"\n", 0, position) + 1, position - line_start + 1


def _with_unix_line_ends(data: Utf8) -> tuple[Utf8, int]:
    """The text with LF line ends, and how many lines ended otherwise.

    Several carriage returns before a line feed, or some at the very end, are one line end: else the
    canonical text would not be canonical when it is written and read again.
    """
    if b"\r" not in data:
        return data, 0
    changed = data.count(b"\r\n")
    if data.endswith(b"\r"):
        data = data.rstrip(b"\r") + b"\n"
        changed += 1
    data = data.replace(b"\r\n", b"\n")
    if b"\r\n" in data:
        data = b"\n".join([line.rstrip(b"\r") for line in data.split(b"\n")])
    return data, changed


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
