"""Previews: what would be stored is found out by storing it in a transaction that is rolled back."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from models.database.session import writing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine


class _PreviewEnds(Exception):
    """What would have been stored is known, so the transaction is rolled back."""


@contextmanager
def writing_unless_preview(engine: Engine, *, preview: bool) -> Iterator[Connection]:
    """Open a durable transaction that ends without a trace if it is a preview: so that preview and import are the same.

    What is not in the database is not taken back: nothing may write objects, or send anything, before the transaction
    has ended.
    """
    try:
        with writing(engine, durable=True) as connection:
            yield connection
            if preview:
                raise _PreviewEnds
    except _PreviewEnds:
        pass
