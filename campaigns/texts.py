"""Texts of test sets and submissions, read for those who may have them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, Engine, select

from campaigns.errors import NotThere
from campaigns.permissions import Sight
from models.database.session import reading
from models.schema.corpus import Reference, TestSet, TextBlock

BLOCKS_AT_ONCE = 64


def source_text(connection: Connection, sight: Sight, test_set_id: int) -> int:
    """The text of the source of a test set. Raises NotThere, also where it may not be seen yet."""
    text_id = None
    if sight.sees_source(test_set_id):
        text_id = connection.scalar(select(TestSet.source_text_id).where(TestSet.id == test_set_id))
    if text_id is None:
        raise NotThere("The source of this test set is not to be had (yet).")
    return text_id


def reference_text(connection: Connection, sight: Sight, test_set_id: int, label: str) -> int:
    """The text of a reference. Raises NotThere, in the same words whether there is none or it is not released."""
    text_id = None
    if sight.sees_references(test_set_id):
        text_id = connection.scalar(
            select(Reference.text_id).where(Reference.test_set_id == test_set_id, Reference.label == label)
        )
    if text_id is None:
        raise NotThere("This reference is not to be had (yet).")
    return text_id


def lines_of(engine: Engine, text_id: int) -> Iterator[bytes]:
    """A text as a file of lines, part by part: no transaction is open while a slow reader takes a part."""
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
