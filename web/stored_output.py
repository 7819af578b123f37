"""The text of a submission as it is stored."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fastapi import Response
from sqlalchemy import select

from campaigns.errors import NotThere
from campaigns.submissions.views import UNKNOWN, find_row
from campaigns.visibility import sees_output
from models.database.session import reading
from models.schema.corpus import TextBlock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal
    from web.state import State

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


def output_of(state: State, principal: Principal, submission: int) -> Response:
    """The text of a submission as a file. Raises NotThere."""
    with reading(state.engine) as connection:
        sight, row = find_row(connection, principal, submission)
        if not sees_output(connection, sight, submission, row.test_set_id):
            raise NotThere(UNKNOWN.format(submission))
        content = b"".join(output_blocks(connection, row.text_id))
    name = file_name_of(sight.system_name_of(row.team, row.system) or "submission", submission)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, media_type="text/plain; charset=utf-8")
