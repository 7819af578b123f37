"""Lines of UTF-8 in canonical form, window by window: what the reader for plain text checks and mends.

No window is larger than about a mebibyte, or one line, so a text of any size is read in little memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.formats.input.contents import WrongFormat
from steelyard.formats.input.encodings import advice
from steelyard.kernels.characters.utf8 import validate_utf8
from steelyard.text.limits import OverLimit, TextLimits
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.formats.input.contents import Contents

CHECKED_AT_ONCE = 1 << 20

_BYTE_ORDER_MARKS = re.compile(rb"(?:\xef\xbb\xbf)+")
_MARKUP = re.compile(rb"\s*<(?:\?xml|!doctype|(?:ref|src|tst)set\b|mteval\b|dataset\b)", re.IGNORECASE)


GUESSED_BY = 1 << 16
"""Bytes by which an encoding is guessed."""


class NotUtf8(BadText):
    """The file contains bytes that are not UTF-8. Save it as UTF-8."""

    def __init__(self, message: str = "", data: bytes = b"", language: str = "") -> None:
        """`data` is the part of the file in which they were found, by which its encoding is guessed."""
        super().__init__(f"{message} {advice(data, language)}" if message else None)
        self.message, self.data, self.language = message, data, language

    def __reduce__(self) -> tuple[type[NotUtf8], tuple[str, bytes, str]]:
        """To be sent to another process as what it was made of."""
        return NotUtf8, (self.message, self.data, self.language)

    def in_language(self, language: str) -> NotUtf8:
        """The same error, where the language of the text is known.

        Parameters
        ----------
        language : str
            A code.

        Returns
        -------
        NotUtf8
        """
        return NotUtf8(self.message, self.data, language)


class Windows:
    """The lines of some contents, each ended by a line feed: iterate once, then ask what was found.

    Parameters
    ----------
    contents : Contents
    limits : TextLimits

    Raises
    ------
    BadText
        Unreadable, BadGzip, WrongFormat, NotUtf8 or OverLimit, naming file, line and what to do.
    """

    def __init__(self, contents: Contents, limits: TextLimits) -> None:
        self.segments = 0
        """Lines so far."""
        self._contents = contents
        self._limits = limits
        self._marked = self._markup = self._unended = False
        self._turned = self._lone = 0

    @property
    def notices(self) -> list[str]:
        """What was odd and what was done about it, each a sentence that names the text."""
        name, notices = self._contents.name, []
        if self._marked:
            notices.append(f"{name}: starts with a byte-order mark, which was left out.")
        if self._markup:
            notices.append(
                f"{name}: looks like SGML or XML, but is read as plain text: every line counts as a segment."
            )
        if self._unended:
            notices.append(f"{name}: the last line has no line end; it counts as a segment all the same.")
        if self._turned:
            notices.append(f"{name}: {number_of(self._turned, 'line')} ended in CR LF (Windows); read as LF.")
        if self._lone:
            notices.append(
                f"{name}: {number_of(self._lone, 'carriage return')} inside lines kept as text, not taken as line ends."
            )
        return notices

    def __iter__(self) -> Iterator[bytes]:
        first = True
        for window, line_feeds in self._whole_lines():
            self.segments += line_feeds
            lines = self._canonical(self._without_marks(window) if first else window)
            first = False
            if lines:
                yield lines
        if self.segments > self._limits.segments:
            raise OverLimit(
                f"{self._contents.name}: {number_of(self.segments, 'line')}, the limit is {self._limits.segments:,}. "
                "Split the file, or raise the limit on segments."
            )

    def _whole_lines(self) -> Iterator[tuple[bytes, int]]:
        """What was checked, as it lies in the file, and its line feeds: all but the last window end in a line feed."""
        lines, rest = 0, b""
        for part in self._contents.parts(self._limits):
            self._refuse_nul(rest, part, lines)
            end = part.rfind(b"\n") + 1
            if not end and len(rest) + len(part) <= 4 * self._limits.segment_characters + len(b"\r\n"):
                rest += part
                continue
            # Without an end, the line is too long, and the check says so.
            window = rest + (part[:end] or part)
            rest = part[end:]
            line_feeds = self._check(window, lines)
            yield window, line_feeds
            lines += line_feeds
        if rest:
            yield rest, self._check(rest, lines)

    def _without_marks(self, window: bytes) -> bytes:
        if marks := _BYTE_ORDER_MARKS.match(window):
            window, self._marked = window[marks.end() :], True
        self._markup = _MARKUP.match(window) is not None
        return window

    def _canonical(self, window: bytes) -> bytes:
        """With LF line ends.

        Several carriage returns before a line feed, or some at the very end, are one line end: else the
        canonical text would not be canonical when it is written and read again.
        """
        if window and not window.endswith(b"\n"):
            self.segments += 1
            if not window.endswith(b"\r"):
                self._unended = True
                window += b"\n"
        if b"\r" not in window:
            return window
        self._turned += window.count(b"\r\n")
        if window.endswith(b"\r"):
            window = window.rstrip(b"\r") + b"\n"
            self._turned += 1
        window = window.replace(b"\r\n", b"\n")
        if b"\r\n" in window:
            window = b"\n".join([line.rstrip(b"\r") for line in window.split(b"\n")])
        self._lone += window.count(b"\r")
        return window

    def _refuse_nul(self, rest: bytes, part: bytes, lines: int) -> None:
        nul = part.find(b"\0")
        if nul >= 0:
            line, byte = _place(rest + part[: nul + 1], len(rest) + nul)
            raise WrongFormat(
                f"{self._contents.name}, line {lines + line}, byte {byte}: a NUL byte, which text does not contain. "
                "Remove it; if every second byte is one, this is UTF-16: convert it with "
                "`iconv -f UTF-16LE -t UTF-8 OLD > NEW`."
            )

    def _check(self, data: bytes, lines: int) -> int:
        """How many line feeds; refuses what is not UTF-8, and lines that are too long. `lines` are before it."""
        found = validate_utf8(data)
        if not found.is_utf8 or found.longest > self._limits.segment_characters:
            self._check_characters(data, lines)
        return found.line_feeds

    def _check_characters(self, data: bytes, lines: int) -> None:
        """The same for what may have to be refused: counts characters, in windows and not line by line."""
        limit = self._limits.segment_characters
        window = max(1, min(limit, CHECKED_AT_ONCE))
        start = 0
        while start < len(data):
            end = len(data)
            if end - start > window:
                end = data.rfind(b"\n", start, start + window) + 1
            if end:
                self._characters(data, start, end, lines)
            else:
                # One line fills the window, so it has to be measured; no character has more than 4 bytes.
                end = data.find(b"\n", start) + 1 or len(data)
                if end - start > 4 * limit + len(b"\r\n") or self._characters(data, start, end, lines) > limit:
                    raise OverLimit(
                        f"{self._contents.name}, line {lines + _place(data, start)[0]}: more than {limit:,} "
                        "characters. Cut the segment (or does the file lack line feeds?), or raise the limit on "
                        "characters per segment."
                    )
            start = end

    def _characters(self, data: bytes, start: int, end: int, lines: int) -> int:
        """Number of characters without the line end; raises NotUtf8."""
        try:
            return len(data[start:end].decode().removesuffix("\n").removesuffix("\r"))
        except UnicodeDecodeError as error:
            line, byte = _place(data, start + error.start)
            broken = data[start + error.start : start + error.end].hex(" ")
            raise NotUtf8(
                f"{self._contents.name}, line {lines + line}, byte {byte}: not UTF-8 ({error.reason}, bytes {broken}). "
                "Save the file as UTF-8.",
                data[max(0, start + error.start - GUESSED_BY // 2) :][:GUESSED_BY],
            ) from error


def _place(data: bytes, position: int) -> tuple[int, int]:
    """Line and byte within the line, both counted from 1."""
    line_start = data.rfind(b"\n", 0, position) + 1
    return data.count(b"\n", 0, position) + 1, position - line_start + 1
