"""Reads UTF-8 text with one segment per line, and says what it found odd about it.

A line ends at U+000A and nowhere else: U+2028, U+0085, form feeds and lone carriage returns are
part of the text, because machine translation output contains them and a cut there would shift
all that follows.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from metrics.errors import BadText
from metrics.text.limits import DEFAULT_LIMITS, TextLimits
from metrics.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager

Utf8: TypeAlias = bytes

STDIN = "-"
READ_AT_ONCE = 1 << 20
CHECKED_AT_ONCE = 1 << 20

_BYTE_ORDER_MARKS = re.compile(rb"(?:\xef\xbb\xbf)+")
_MARKUP = re.compile(rb"\s*<(?:\?xml|!doctype|(?:ref|src|tst)set\b|mteval\b|dataset\b)", re.IGNORECASE)
# The 4-byte marks come first: the mark of UTF-16 is a prefix of that of UTF-32.
_OTHER_FORMATS = (
    (b"\xff\xfe\0\0", "UTF-32 text", "Convert it: `iconv -f UTF-32 -t UTF-8 OLD > NEW`."),
    (b"\0\0\xfe\xff", "UTF-32 text", "Convert it: `iconv -f UTF-32 -t UTF-8 OLD > NEW`."),
    (b"\xff\xfe", "UTF-16 text", "Convert it: `iconv -f UTF-16 -t UTF-8 OLD > NEW`."),
    (b"\xfe\xff", "UTF-16 text", "Convert it: `iconv -f UTF-16 -t UTF-8 OLD > NEW`."),
    (b"\x1f\x8b", "a gzip archive", "Unpack it first: `gunzip FILE.gz`."),
    (b"\xfd7zXZ\0", "an xz archive", "Unpack it first: `unxz FILE.xz`."),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", "Unpack it first: `unzstd FILE.zst`."),
    (b"PK\x03\x04", "a zip archive", "Unpack it first; office documents must be saved as plain text."),
)
_NOT_LINE_ENDS = (
    ("U+2028", "\u2028".encode()),
    ("U+2029", "\u2029".encode()),
    ("U+0085", "\u0085".encode()),
    ("U+000B", b"\x0b"),
    ("form feed", b"\x0c"),
    ("lone carriage return", b"\r"),
)


class Unreadable(BadText):
    """The file cannot be opened or read. Check its path and permissions."""


class WrongFormat(BadText):
    """The file is not plain UTF-8 text. Convert it first."""


class NotUtf8(BadText):
    """The file contains bytes that are not UTF-8. Save it as UTF-8."""


class OverLimit(BadText):
    """The text is larger than a limit allows. Split it, or raise the limit."""


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

    notices: tuple[str, ...] = ()
    """What was odd and what was done about it, each a sentence that names the text."""

    def lines(self) -> list[Utf8]:
        """The segments, each as UTF-8 without its line end."""
        return self.bytes.split(b"\n") if self.segments else []


def read_lines(
    source: str | os.PathLike[str] | Utf8, *, name: str | None = None, limits: TextLimits = DEFAULT_LIMITS
) -> Text:
    """Read a file, standard input (`-`) or bytes as text with one segment per line.

    `name` is what messages call the text; without it, the path.
    Raises BadText (Unreadable, WrongFormat, NotUtf8, OverLimit) naming file, line and what to do.
    """
    if name is None:
        name = _default_name(source)
    data = _bytes_of(source, name, limits.file_bytes)
    _refuse_other_formats(name, data)
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
    rows = "\n".join(f"  {_length_row(text, first.segments)}" for text in texts)
    raise DifferentLengths(
        f"These files must have one line per segment, so as many as {first.name}, "
        f"which has {number_of(first.segments, 'line')}:\n{rows}\n"
        "Make line i of every file belong to segment i. A line ends at a line feed only; a segment "
        "without translation is an empty line."
    )


def _default_name(source: str | os.PathLike[str] | Utf8) -> str:
    if isinstance(source, bytes):
        return "text"
    path = os.fspath(source)
    return "standard input" if path == STDIN else path


def _bytes_of(source: str | os.PathLike[str] | Utf8, name: str, limit: int) -> Utf8:
    if isinstance(source, bytes):
        if len(source) > limit:
            raise _too_large(name, limit)
        return source
    file: AbstractContextManager[BinaryIO]
    parts = []
    size = 0
    try:
        if os.fspath(source) == STDIN:
            file = nullcontext(sys.stdin.buffer)
        else:
            file = open(source, "rb", buffering=0)  # noqa: SIM115 (closed by the `with` below)
        # In parts, so that an endless pipe is noticed before it fills the memory.
        with file as stream:
            while part := stream.read(READ_AT_ONCE):
                size += len(part)
                if size > limit:
                    raise _too_large(name, limit)
                parts.append(part)
    except FileNotFoundError as error:
        raise Unreadable(f"{name}: there is no such file. Check the path.") from error
    except IsADirectoryError as error:
        raise Unreadable(f"{name}: is a folder. Give a text file with one segment per line.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Unreadable(f"{name}: cannot be read ({reason}). Check the path and its permissions.") from error
    return b"".join(parts)


def _too_large(name: str, limit: int) -> OverLimit:
    return OverLimit(f"{name}: larger than {limit:,} bytes. Split the file, or raise the limit on the size of a file.")


def _refuse_other_formats(name: str, data: Utf8) -> None:
    for magic, what, advice in _OTHER_FORMATS:
        if data.startswith(magic):
            raise WrongFormat(f"{name}: is {what}, not UTF-8 text. {advice}")
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


def _length_row(text: Text, expected: int) -> str:
    row = f"{text.name}: {number_of(text.segments, 'line')}"
    if text.segments == expected:
        return row
    difference = abs(text.segments - expected)
    row += f", {difference:,} {'more' if text.segments > expected else 'fewer'}"
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
