"""Uploads of tutorials for annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.tasks.own_tutorials import LARGEST_FILE, read_tutorial
from steelyard.text.names import printable

if TYPE_CHECKING:
    from fastapi import UploadFile

    from steelyard.meta_evaluation.human.tasks.tutorial import Tutorial


def read_own_tutorial(sent: UploadFile) -> Tutorial:
    """Read the file of a request. Raises BadTasks with all that is wrong."""
    # No more than is refused for its size.
    return read_tutorial(sent.file.read(LARGEST_FILE + 1), printable(sent.filename or "the tutorial")[:100])
