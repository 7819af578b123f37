"""Inserts that tolerate existing rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import ARRAY, Connection, bindparam, column, func, select

from models.schema.base import Base

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


def insert_ignore(connection: Connection, table: type[Base], rows: Sequence[dict[str, Any]]) -> None:
    """Insert the rows, ignoring those that would violate a unique key."""
    if rows:
        connection.execute(_insert(connection, table).on_conflict_do_nothing(), rows)


def insert_new(connection: Connection, table: type[Base], row: dict[str, Any]) -> int | None:
    """Insert a row; its id, or None if it would violate a unique key."""
    key: Any = table.__table__.c.id
    made = connection.execute(_insert(connection, table).values(**row).on_conflict_do_nothing().returning(key))
    found = made.scalar_one_or_none()
    return None if found is None else int(found)


def lock_table(connection: Connection, table: type[Base]) -> None:
    """Lock a table against other writers until the transaction ends, for constraints that no unique key can express.

    SQLite needs no lock: it serialises writers.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"LOCK TABLE {table.__tablename__} IN SHARE ROW EXCLUSIVE MODE")


def upsert(connection: Connection, table: type[Base], rows: Sequence[dict[str, Any]], values: Sequence[str]) -> None:
    """Insert the rows; for existing primary keys, replace the columns in `values`."""
    if rows:
        statement = _insert(connection, table)
        keys = [column.name for column in table.__table__.primary_key]
        statement = statement.on_conflict_do_update(
            index_elements=keys, set_={name: statement.excluded[name] for name in values}
        )
        connection.execute(statement, rows)


AT_ONCE_BYTES = 1 << 20
"""Above this, rows are sent one after the other: PostgreSQL holds an array whole, several times."""


def upsert_blobs(
    connection: Connection, table: type[Base], rows: Sequence[dict[str, Any]], values: Sequence[str]
) -> None:
    """As `upsert`, for rows with `blob`: small ones go to PostgreSQL in one statement, which takes half of its time."""
    few = len(rows) < 2 or sum(len(row["blob"]) for row in rows) > AT_ONCE_BYTES
    if few or connection.dialect.name != "postgresql":
        upsert(connection, table, rows, values)
        return
    names = tuple(rows[0])
    arrays = {name: [row[name] for row in rows] for name in names}
    connection.execute(_upsert_arrays(cast(Any, table), names, tuple(values)), arrays)


@cache
def _upsert_arrays(table: Any, names: tuple[str, ...], values: tuple[str, ...]) -> postgresql.Insert:
    from sqlalchemy.dialects import postgresql

    columns = [table.__table__.c[name] for name in names]
    arrays = [bindparam(each.name, type_=ARRAY(each.type)) for each in columns]
    given = func.unnest(*arrays).table_valued(*(column(each.name, each.type) for each in columns)).render_derived()
    statement = postgresql.insert(table).from_select(names, select(given))
    keys = [each.name for each in table.__table__.primary_key]
    return statement.on_conflict_do_update(
        index_elements=keys, set_={name: statement.excluded[name] for name in values}
    )


def _insert(connection: Connection, table: type[Base]) -> sqlite.Insert | postgresql.Insert:
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)
