"""Renames of tables and columns, with all that is named after them: for migrations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import sqlalchemy as sa
from alembic import op


def reversed_names(names: Mapping[str, str]) -> dict[str, str]:
    """New names with the old ones, for the way down."""
    return {new: old for old, new in names.items()}


def rename(tables: Mapping[str, str], columns: Mapping[str, str], names: Mapping[str, str]) -> None:
    """Rename tables, their columns, and all constraints, indexes and sequences that are named after them."""
    words = {**names, **columns, **tables}
    # The longest first: some are the beginning of others.
    one_of = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    known = re.compile(rf"(?<![A-Za-z0-9])({one_of})(?![A-Za-z0-9])")

    def renamed(text: str) -> str:
        return known.sub(lambda found: words[found[1]], text)

    rename_all = _rename_on_sqlite if op.get_bind().dialect.name == "sqlite" else _rename_on_postgresql
    rename_all(tables, columns, renamed)


def _rename_on_sqlite(tables: Mapping[str, str], _columns: Mapping[str, str], renamed: Callable[[str], str]) -> None:
    """SQLite cannot rename constraints: each table is created anew by its own definition, and filled."""
    connection = op.get_bind()
    definitions = sa.text(
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = :table AND sql IS NOT NULL ORDER BY type DESC"
    )
    for old, new in tables.items():
        (_, _, definition), *indexes = connection.execute(definitions, {"table": old}).all()
        for _, name, _ in indexes:
            op.execute(f'DROP INDEX "{name}"')
        if renamed(definition) != definition:
            columns = renamed(definition).partition("(")[2]
            connection.exec_driver_sql(f"CREATE TABLE renamed ({columns}")
            op.execute(f"INSERT INTO renamed SELECT * FROM {old}")  # noqa: S608
            op.drop_table(old)
            op.rename_table("renamed", new)
        for _, _, index in indexes:
            connection.exec_driver_sql(renamed(index))


def _rename_on_postgresql(tables: Mapping[str, str], columns: Mapping[str, str], renamed: Callable[[str], str]) -> None:
    connection = op.get_bind()
    inspector = sa.inspect(connection)
    constraints = sa.text(
        "SELECT conname FROM pg_constraint WHERE conrelid = CAST(:table AS regclass) AND contype <> 'n'"
    )
    indexes = sa.text("SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = :table")
    for old, new in tables.items():
        for column in inspector.get_columns(old):
            if column["name"] in columns:
                op.alter_column(old, column["name"], new_column_name=columns[column["name"]])
        for name in connection.execute(constraints, {"table": old}).scalars().all():
            if renamed(name) != name:
                op.execute(f'ALTER TABLE {old} RENAME CONSTRAINT "{name}" TO "{renamed(name)}"')
        # Those of constraints have been renamed with them.
        for name in connection.execute(indexes, {"table": old}).scalars().all():
            if renamed(name) != name:
                op.execute(f'ALTER INDEX "{name}" RENAME TO "{renamed(name)}"')
        if old != new:
            op.execute(f"ALTER SEQUENCE IF EXISTS {old}_id_seq RENAME TO {new}_id_seq")
            op.rename_table(old, new)
