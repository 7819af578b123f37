"""Files that somebody names: opened in one place, which never waits for anybody.

A named pipe waits for ever for whoever writes to it, a device may have no end, and a socket cannot be opened at all.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import BadText

if TYPE_CHECKING:
    from typing import TextIO

_HANDED_OVER = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Where a shell puts a pipe that it has made for us, `<(zcat FILE.zst)`: it is written to, or has ended."""

_KINDS = (
    (stat.S_ISFIFO, "is a named pipe, not a file"),
    (stat.S_ISSOCK, "is a socket, not a file"),
    (stat.S_ISCHR, "is a device, not a file"),
    (stat.S_ISBLK, "is a device, not a file"),
)

MOST_ENTRIES = 20_000
"""Of one folder so many are looked at."""


class TooManyFiles(BadText):
    """A folder holds more files than are looked at. Give a folder of its own to what belongs together."""


def open_given(path: str | os.PathLike[str]) -> io.FileIO:
    """Open a file for reading, which never waits.

    Parameters
    ----------
    path : path

    Returns
    -------
    io.FileIO

    Raises
    ------
    OSError
        With the reason and the name, for all that is no file.
    """
    name = os.fspath(path)
    if name.startswith(_HANDED_OVER):
        return io.FileIO(name)
    # Looked at before it is opened, since opening a device may do something; and after, for it may be another by then.
    _refuse_others(os.stat(name).st_mode, name)
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        _refuse_others(os.fstat(descriptor).st_mode, name)
        return io.FileIO(descriptor)
    except BaseException:
        os.close(descriptor)
        raise


def open_given_text(path: str | os.PathLike[str], encoding: str = "utf-8") -> TextIO:
    """As `open_given`, for a text whose lines end with a newline and nothing else.

    Parameters
    ----------
    path : path
    encoding : str

    Returns
    -------
    TextIO

    Raises
    ------
    OSError
        As `open_given`.
    """
    return io.TextIOWrapper(io.BufferedReader(open_given(path)), encoding=encoding, newline="\n")


def read_given(path: str | os.PathLike[str]) -> bytes:
    """All that a file holds.

    Parameters
    ----------
    path : path

    Returns
    -------
    bytes

    Raises
    ------
    OSError
        As `open_given`.
    """
    with open_given(path) as file:
        return file.readall()


def list_given(folder: Path) -> list[Path]:
    """What is in a folder, sorted.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of Path

    Raises
    ------
    OSError
        Where it cannot be read.
    TooManyFiles
        Where it has more than `MOST_ENTRIES`.
    """
    with os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, MOST_ENTRIES + 1)]
    if len(names) > MOST_ENTRIES:
        raise _too_many(folder)
    return [folder / name for name in sorted(names)]


def files_under(folder: Path) -> list[Path]:
    """All files of a folder and of the folders in it, sorted.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of Path

    Raises
    ------
    OSError
        Where a folder cannot be read.
    TooManyFiles
        Where there are more than `MOST_ENTRIES`.
    """
    found: list[Path] = []
    for path in list_given(folder):
        found += files_under(path) if path.is_dir() and not path.is_symlink() else [path] if path.is_file() else []
        if len(found) > MOST_ENTRIES:
            raise _too_many(folder)
    return found


def _too_many(folder: Path) -> TooManyFiles:
    return TooManyFiles(
        f"{folder}: holds more than {MOST_ENTRIES:,} files. Give a folder of its own to what belongs together."
    )


def _refuse_others(mode: int, name: str) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    for is_kind, what in _KINDS:
        if is_kind(mode):
            raise OSError(errno.EINVAL, what, name)
