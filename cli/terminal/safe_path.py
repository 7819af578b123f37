"""The import path of processes that a command starts."""

from __future__ import annotations

import os


def import_nothing_from_the_current_folder() -> None:
    """Keep the current folder off the import path of every Python that this process starts.

    A command's own path begins with the folder of the program. The processes that `multiprocessing` spawns run
    `python -c`, whose path begins with the current folder: a `threading.py` there would run with the rights of the
    user, perhaps root.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
