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
"""The suffixes of a database's files; SQLite creates the others with the mode of the first."""

OTHERS, GROUP = stat.S_IRWXO, stat.S_IRWXG


def keep_database_private(file: str) -> None:
    """Create a database's file as private, or make the existing files private.

    Files that a group may read stay as they are, since that may be intended, and a warning is logged. If the file
    cannot be created, SQLite reports the reason.
    """
    with suppress(OSError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, FILE_MODE))
        return
    for suffix in SQLITE_SUFFIXES:
        with suppress(OSError):
            _tighten(file + suffix)


def write_privately(path: str, flags: int = 0) -> int:
    """Open a new private file for writing: `open(..., opener=write_privately)`."""
    return os.open(path, flags | os.O_CLOEXEC, FILE_MODE)


def make_private_folders(folder: str) -> None:
    """Create a private folder and its missing parents."""
    missing = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(each, FOLDER_MODE)


@cache
def warn_of_open_folder(folder: str) -> None:
    """Log a warning, once, if others can read a folder. It is not changed, since it may be shared on purpose."""
    with suppress(OSError):
        if os.stat(folder).st_mode & (OTHERS | GROUP):
            log.warning("%s can be read by others. It holds statistics of outputs: run `chmod go= %s`.", folder, folder)


def _tighten(file: str) -> None:
    mode = stat.S_IMODE(os.stat(file).st_mode)
    if mode & OTHERS:
        try:
            os.chmod(file, mode & stat.S_IRWXU)
        except OSError:
            _warn(file, "others, and this user cannot change that")
        else:
            log.warning("%s could be read by others (mode %o); it is private now.", file, mode)
    elif mode & GROUP and not file.endswith(SQLITE_SUFFIXES[1:]):
        _warn(file, "its group")


@cache
def _warn(file: str, whom: str) -> None:
    log.warning("%s can be read by %s: all references, hashes of passwords and secrets are in it.", file, whom)
