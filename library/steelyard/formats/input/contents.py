"""What a file, standard input or some bytes contain, part by part, unpacked where it is packed with gzip.

Everything is read once and in order, so pipes can be read, too; how a file begins can be seen before.
"""

from __future__ import annotations

import codecs
import os
import sys
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from steelyard.errors import BadText
from steelyard.formats.input.given_files import open_given
from steelyard.formats.input.gzip_members import GZIP, unpacked
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits, too_large

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from contextlib import AbstractContextManager

STDIN = "-"
READ_AT_ONCE = 1 << 20
LOOKED_AT = 1 << 16
"""Bytes by which a format is recognised."""

_CONVERT = "Convert it: `iconv -f {} -t UTF-8 OLD > NEW`."
_STREEX = "a document in Perl's storage format (.streex)"
# The 4-byte marks come first: the mark of UTF-16 is a prefix of that of UTF-32.
_OTHER_FORMATS = (
    (b"\xff\xfe\0\0", "UTF-32 text", _CONVERT.format("UTF-32")),
    (b"\0\0\xfe\xff", "UTF-32 text", _CONVERT.format("UTF-32")),
    (b"\xff\xfe", "UTF-16 text", _CONVERT.format("UTF-16")),
    (b"\xfe\xff", "UTF-16 text", _CONVERT.format("UTF-16")),
    (GZIP, "packed with gzip twice", "Unpack it once: `gunzip FILE.gz`."),
    (b"\xfd7zXZ\0", "an xz archive", "Unpack it first: `unxz FILE.xz`."),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", "Unpack it first: `unzstd FILE.zst`."),
    (b"BZh91AY&SY", "a bzip2 archive", "Unpack it first: `bunzip2 FILE.bz2`."),
    (b"PK\x03\x04", "a zip archive", "Unpack it first; office documents must be saved as plain text."),
    (b"%PDF-", "a PDF document", "Save its text as plain UTF-8 text."),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office document", "Save it as plain UTF-8 text."),
    (b"{\\rtf", "a document in Rich Text Format", "Save it as plain UTF-8 text."),
    (b"pst0\x04", _STREEX, "Write it as .treex or .treex.gz with Treex."),
    (b"pst0\x05", _STREEX, "Write it as .treex or .treex.gz with Treex."),
)
_MAGIC = tuple(magic for magic, _, _ in _OTHER_FORMATS)


class Unreadable(BadText):
    """The file cannot be opened or read. Check its path and permissions."""


class WrongFormat(BadText):
    """The file is not what it was taken for. Convert it, or name its format."""


class Contents:
    """A file, standard input (`-`) or bytes: a name for messages, a look at the beginning, and all of it once.

    Parameters
    ----------
    source : path or bytes
    name : str, optional
        What messages call it; without it, the path.
    limits : TextLimits

    Raises
    ------
    Unreadable
        Where it cannot be opened.
    OverLimit
        Where it has more than `limits.file_bytes`, packed or unpacked, or unpacks to more than `limits.expansion` times
        its size.
    """

    def __init__(self, source: Source, *, name: str | None = None, limits: TextLimits = DEFAULT_LIMITS) -> None:
        if isinstance(source, Contents):
            raise TypeError("these contents are open already")
        self.name = name if name is not None else _name(source)
        self.path = _path(source)
        """Where it lies; None for bytes and standard input."""
        self._raw = _within(_parts(source, self.name), self.name, limits)
        self._parts = unpacked(self._raw, self.name, limits)
        self._first = b""
        while len(self._first) < LOOKED_AT and (part := next(self._parts, b"")):
            self._first += part
        self.head: bytes = self._first[:LOOKED_AT]
        """The first 64 KiB."""

    @property
    def text_head(self) -> bytes:
        """The head without the byte-order mark that Windows' programs write: formats of text are recognized by it."""
        return self.head.removeprefix(codecs.BOM_UTF8)

    def parts(self, limits: TextLimits) -> Iterator[bytes]:
        """All of it, in parts of about 1 MiB; only once.

        Parameters
        ----------
        limits : TextLimits

        Returns
        -------
        iterator of bytes

        Raises
        ------
        OverLimit
            Where it has more than `limits` allow.
        """
        first, self._first = self._first, b""
        return _within(chain([first] if first else [], self._parts), self.name, limits)

    def read(self, limits: TextLimits) -> bytes:
        """All of it in one piece.

        Parameters
        ----------
        limits : TextLimits

        Returns
        -------
        bytes

        Raises
        ------
        OverLimit
            Where it has more than `limits` allow.
        """
        return b"".join(self.parts(limits))

    def close(self) -> None:
        """Close the file, should it not have been read to the end."""
        self._parts.close()
        self._raw.close()


Source: TypeAlias = str | os.PathLike[str] | bytes | Contents


def opened(source: Source, *, name: str | None = None, limits: TextLimits = DEFAULT_LIMITS) -> Contents:
    """The contents of a source, which may be contents already.

    Parameters
    ----------
    source : path, bytes or Contents
    name : str, optional
        What messages call it; without it, the path.
    limits : TextLimits

    Returns
    -------
    Contents

    Raises
    ------
    BadText
        Where it cannot be opened.
    """
    return source if isinstance(source, Contents) else Contents(source, name=name, limits=limits)


def refuse_other_formats(contents: Contents) -> None:
    """Refuse archives and texts in UTF-16 or UTF-32.

    Parameters
    ----------
    contents : Contents

    Raises
    ------
    WrongFormat
        With what to do.
    """
    if not contents.head.startswith(_MAGIC):
        return
    for magic, what, advice in _OTHER_FORMATS:
        if contents.head.startswith(magic):
            raise WrongFormat(f"{contents.name}: is {what}, not UTF-8 text. {advice}")


def _name(source: str | os.PathLike[str] | bytes) -> str:
    if isinstance(source, bytes):
        return "text"
    return "standard input" if os.fspath(source) == STDIN else os.fspath(source)


def _path(source: str | os.PathLike[str] | bytes) -> Path | None:
    if isinstance(source, bytes) or os.fspath(source) == STDIN:
        return None
    return source if isinstance(source, Path) else Path(source)


def _parts(source: str | os.PathLike[str] | bytes, name: str) -> Generator[bytes]:
    if isinstance(source, bytes):
        yield from (source[start : start + READ_AT_ONCE] for start in range(0, len(source), READ_AT_ONCE))
        return
    try:
        with _file(source) as stream:
            while part := stream.read(READ_AT_ONCE):
                yield part
    except FileNotFoundError as error:
        raise Unreadable(f"{name}: there is no such file. Check the path.") from error
    except IsADirectoryError as error:
        raise Unreadable(f"{name}: is a folder. Give a text file with one segment per line.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Unreadable(f"{name}: cannot be read ({reason}). Check the path and its permissions.") from error


def _file(source: str | os.PathLike[str]) -> AbstractContextManager[BinaryIO]:
    if os.fspath(source) == STDIN:
        return nullcontext(sys.stdin.buffer)
    return open_given(source)


def _within(parts: Iterable[bytes], name: str, limits: TextLimits) -> Generator[bytes]:
    size = 0
    for part in parts:
        size += len(part)
        if size > limits.file_bytes:
            raise too_large(name, limits)
        yield part
