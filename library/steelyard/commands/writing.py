"""Atomic writes of output files."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError

if TYPE_CHECKING:
    from pathlib import Path


def write_file(path: Path, content: str) -> None:
    """Write text to a file, replacing an older one only once all of it is on the disk. Raises CommandError.

    Parameters
    ----------
    path : Path
    content : str
    """
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if target.exists() and not target.is_file():
            # A pipe or a device cannot be replaced.
            target.write_text(content, encoding="utf-8")
            return
        with part.open("w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        raise CommandError(
            f"{path} cannot be written: {error.strerror}. Check the free space and the permissions, then run the same "
            "command again."
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()


def make_folder(path: Path) -> None:
    """Create a folder with its parents unless it exists. Raises CommandError.

    Parameters
    ----------
    path : Path
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"The folder {path} cannot be created: {error.strerror}. Choose another one.") from error
