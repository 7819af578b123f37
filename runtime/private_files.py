"""Files that only the user who runs us may read, whatever the umask: references of blind test sets are in them."""

from __future__ import annotations

import logging
import os
import stat
from contextlib import suppress
from functools import cache

log = logging.getLogger(__name__)

FILE_MODE, FOLDER_MODE = 0o600, 0o700
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Of a database's own file and those beside it. SQLite makes them with the mode of the first."""

OTHERS, GROUP = stat.S_IRWXO, stat.S_IRWXG


def keep_database_private(file: str) -> None:
    """Make a database's file private before SQLite makes it, and the files that are there.

    What a group may read is left, with a word in the log: somebody may have wanted it. What cannot be made is left to
    SQLite, which says why.
    """
    with suppress(OSError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, FILE_MODE))
        return
    for suffix in SQLITE_SUFFIXES:
        with suppress(OSError):
            _tighten(file + suffix)


def write_privately(path: str, flags: int = 0) -> int:
    """A new file that is written, for `open(..., opener=write_privately)`."""
    return os.open(path, flags | os.O_CLOEXEC, FILE_MODE)


def make_private_folders(folder: str) -> None:
    """Make a folder and those above it that are missing."""
    missing = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(each, FOLDER_MODE)


@cache
def tell_of_open_folder(folder: str) -> None:
    """Say in the log, once, that others can read what a folder holds. It may be theirs, too, so it stays as it is."""
    with suppress(OSError):
        if os.stat(folder).st_mode & (OTHERS | GROUP):
            log.warning("%s can be read by others. It holds statistics of outputs: run `chmod go= %s`.", folder, folder)


def _tighten(file: str) -> None:
    mode = stat.S_IMODE(os.stat(file).st_mode)
    if mode & OTHERS:
        try:
            os.chmod(file, mode & stat.S_IRWXU)
        except OSError:
            _tell(file, "others, and this user cannot change that")
        else:
            log.warning("%s could be read by others (mode %o), and cannot any more.", file, mode)
    elif mode & GROUP and not file.endswith(SQLITE_SUFFIXES[1:]):
        _tell(file, "its group")


@cache
def _tell(file: str, whom: str) -> None:
    log.warning("%s can be read by %s: all references, hashes of passwords and secrets are in it.", file, whom)
