"""Extracts the only text of a zip archive, within limits. Names in the archive are ignored."""

from __future__ import annotations

import zipfile
import zlib
from typing import IO, TYPE_CHECKING

from steelyard.formats.input.contents import WrongFormat
from steelyard.formats.input.gzip_members import ALWAYS_ALLOWED
from steelyard.text.limits import OverLimit

if TYPE_CHECKING:
    from pathlib import Path

    from steelyard.text.limits import TextLimits

ZIP = b"PK\x03\x04"
END, END_SIZE, LONGEST_COMMENT = b"PK\x05\x06", 22, 65535
MAX_INDEX_BYTES = 1 << 16
"""Size of the list of members: enough for hundreds, where one is expected."""
READ_AT_ONCE = 1 << 20
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 1
MEMBERS_OF_MACS = "__MACOSX/"
"""What macOS adds to each archive."""
_ADVICE = "Submit the text itself, optionally compressed with gzip."


def is_zip(path: Path) -> bool:
    """Return whether a file begins like a zip archive."""
    with path.open("rb") as file:
        return file.read(len(ZIP)) == ZIP


def unzip_single_text(path: Path, target: IO[bytes], name: str, limits: TextLimits) -> None:
    """Write the content of an archive's only file to `target`.

    Raises
    ------
    WrongFormat
        For an archive that is damaged, encrypted or holds several files.
    OverLimit
        For more than `limits.file_bytes`, or than `limits.expansion` times the packed size.
    """
    _check_index(path, name)
    try:
        with zipfile.ZipFile(path) as archive:
            members = [
                each
                for each in archive.infolist()
                if not each.is_dir() and not each.filename.startswith(MEMBERS_OF_MACS)
            ]
            if len(members) != 1:
                raise WrongFormat(f"{name}: is a zip archive with {len(members)} files instead of one. {_ADVICE}")
            (member,) = members
            if member.flag_bits & ENCRYPTED:
                raise WrongFormat(f"{name}: is a zip archive with a password. {_ADVICE}")
            if member.compress_type not in PACKED:
                raise WrongFormat(f"{name}: is a zip archive with an unsupported compression method. {_ADVICE}")
            with archive.open(member) as content:
                _copy(content, target, path.stat().st_size, name, limits)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError, OverflowError) as error:
        raise WrongFormat(f"{name}: is a damaged zip archive. {_ADVICE}") from error


def _copy(content: IO[bytes], target: IO[bytes], packed: int, name: str, limits: TextLimits) -> None:
    # The sizes in the archive are not trusted.
    size = 0
    while part := content.read(READ_AT_ONCE):
        size += len(part)
        if size > limits.file_bytes:
            raise OverLimit(f"{name}: is larger than {limits.file_bytes:,} bytes when uncompressed. Split the file.")
        if size > max(ALWAYS_ALLOWED, limits.expansion * packed):
            raise OverLimit(
                f"{name}: expands to more than {limits.expansion} times its size, as no text does. Uncompress it first."
            )
        target.write(part)


def _check_index(path: Path, name: str) -> None:
    """Raise WrongFormat if the list of members is longer than one text needs: all of it would be held in memory."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - END_SIZE - LONGEST_COMMENT))
        tail = file.read()
    # As the library searches: at the very end, else the last match.
    begin = len(tail) - END_SIZE
    if not (begin >= 0 and tail.startswith(END, begin) and tail.endswith(b"\0\0")):
        begin = tail.rfind(END)
    if begin < 0 or len(tail) - begin < END_SIZE:
        raise WrongFormat(f"{name}: is a truncated zip archive. Copy or create it again.")
    index_bytes = int.from_bytes(tail[begin + 12 : begin + 16], "little")
    if index_bytes > MAX_INDEX_BYTES:
        raise WrongFormat(f"{name}: is a zip archive with too many files. {_ADVICE}")
    # A zip64 archive, for more than 4 GiB, has larger numbers before it.
    if tail[max(0, begin - 20) : begin].startswith(b"PK\x06\x07"):
        raise WrongFormat(f"{name}: is a zip archive in the zip64 format. {_ADVICE}")
