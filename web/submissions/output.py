"""The text of a submission as it is stored."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlalchemy import select

from models.text import TextBlock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST = 60


def output_blocks(connection: Connection, text_id: int) -> Iterator[bytes]:
    """The lines, each ended by a line feed, a block at a time."""
    for content in connection.scalars(
        select(TextBlock.content).where(TextBlock.text_id == text_id).order_by(TextBlock.block)
    ):
        yield content + b"\n"


def file_name_of(system: str, submission: int) -> str:
    """A file name that no browser and no shell takes for anything else."""
    safe = _UNSAFE.sub("-", system).strip(".-")[:LONGEST] or "submission"
    return f"{safe}-{submission}.txt"
