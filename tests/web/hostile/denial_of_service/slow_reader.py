"""A reader that takes hours for one kind of file.

A module of its own, for the processes that read import it within the limits of the first file they are given.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from campaigns.submissions.reading import read_uploaded_output

HOSTILE = "hostile.txt"


def reads_slowly(path: Path, folder: Path, name: str, *more: Any) -> Any:
    """As `read_uploaded_output`, but hours in one uninterruptible call for the hostile file."""
    if name == HOSTILE:
        re.search(r"\s+\Z", " " * 10_000_000 + "b")
    return read_uploaded_output(path, folder, name, *more)
