"""Read access to texts of test sets and submissions."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, Engine, select

from campaigns.errors import NotFound
from campaigns.permissions import CampaignAccess
from models.database.session import reading
from models.schema.corpus import Reference, TestSet, TextBlock

BLOCKS_AT_ONCE = 64


def source_text(connection: Connection, access: CampaignAccess, test_set_id: int) -> int:
    """Return the text id of a test set's source.

    Raises
    ------
    NotFound
        If it does not exist or may not be seen yet.
    """
    text_id = None
    if access.sees_source(test_set_id):
        text_id = connection.scalar(select(TestSet.source_text_id).where(TestSet.id == test_set_id))
    if text_id is None:
        raise NotFound("The source of this test set is not available yet.")
    return text_id


def reference_text(connection: Connection, access: CampaignAccess, test_set_id: int, label: str) -> int:
    """Return the text id of a reference.

    Raises
    ------
    NotFound
        If it does not exist or is not released, with the same message.
    """
    text_id = None
    if access.sees_references(test_set_id):
        text_id = connection.scalar(
            select(Reference.text_id).where(Reference.test_set_id == test_set_id, Reference.label == label)
        )
    if text_id is None:
        raise NotFound("This reference is not available yet.")
    return text_id


def lines_of(engine: Engine, text_id: int) -> Iterator[bytes]:
    """Yield a text as lines, part by part: no transaction is open while a slow client reads a part."""
    first = 0
    while True:
        with reading(engine) as connection:
            blocks = connection.scalars(
                select(TextBlock.content)
                .where(TextBlock.text_id == text_id, TextBlock.block >= first)
                .order_by(TextBlock.block)
                .limit(BLOCKS_AT_ONCE)
            ).all()
        if not blocks:
            return
        yield b"".join(block + b"\n" for block in blocks)
        first += BLOCKS_AT_ONCE
