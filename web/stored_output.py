"""Download of a submission's stored text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fastapi import Response
from sqlalchemy import select

from campaigns.errors import NotFound
from campaigns.submissions.views import NOT_VISIBLE, find_submission_row
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


def read_output_blocks(connection: Connection, text_id: int) -> Iterator[bytes]:
    """The text, block by block; every line ends with a line feed."""
    for content in connection.scalars(
        select(TextBlock.content).where(TextBlock.text_id == text_id).order_by(TextBlock.block)
    ):
        yield content + b"\n"


def output_file_name(system: str, submission: int) -> str:
    """A file name that is safe in browsers and shells."""
    safe = _UNSAFE.sub("-", system).strip(".-")[:LONGEST] or "submission"
    return f"{safe}-{submission}.txt"


def output_response(state: State, principal: Principal, submission: int) -> Response:
    """The text of a submission as a file.

    Raises
    ------
    NotFound
        If the submission does not exist, or the principal may not read its text.
    """
    with reading(state.engine) as connection:
        access, row = find_submission_row(connection, principal, submission)
        if not sees_output(connection, access, submission, row.test_set_id):
            raise NotFound(NOT_VISIBLE.format(submission))
        content = b"".join(read_output_blocks(connection, row.text_id))
    if not content:
        raise NotFound(f"There is no text of submission {submission}, only scores that were made elsewhere.")
    name = output_file_name(access.system_name_of(row.team, row.system) or "submission", submission)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, media_type="text/plain; charset=utf-8")
